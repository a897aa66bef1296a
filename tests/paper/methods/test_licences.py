"""A package under a copyleft licence says so once when it is used."""

import warnings

import pytest

from ecselm.paper.methods import classification, get_method

pytest.importorskip("empulse")


def test_empulse_warns_of_its_licence_once():
    classification._warn_of_licence.cache_clear()
    with pytest.warns(UserWarning, match="empulse is licensed under the AGPL-3.0"):
        get_method("CSLogit", "classification")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        get_method("CSTree", "classification")
