"""The public face of the package."""

import subprocess
import sys
from importlib import import_module
from inspect import getdoc, isclass, ismodule, isroutine

import pytest

import ecselm
from tests.docs.test_reference import PUBLIC


def test_packages_are_imported_on_first_access():
    code = "import ecselm, sys; assert 'sklearn' not in sys.modules; ecselm.search.minimize_bsa"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603


def test_every_public_package_is_an_attribute():
    packages = {name.split(".")[1] for name in PUBLIC if "." in name}
    assert packages == set(ecselm._PUBLIC_PACKAGES)
    assert packages <= set(dir(ecselm))


def test_every_estimator_is_an_attribute():
    for name in ecselm.__all__:
        assert getattr(ecselm, name).__name__ == name
        assert name in dir(ecselm)


EXPORTED = [(package, name) for package in PUBLIC for name in import_module(package).__all__]


def test_public_names_are_few():
    assert len(EXPORTED) <= 208


@pytest.mark.parametrize("package", PUBLIC)
def test_summaries_are_whole_sentences(package):
    """The reference ends a summary at the first period that a space follows."""
    documented = [import_module(package)]
    documented += [getattr(documented[0], name) for name in documented[0].__all__]
    for value in documented:
        if ismodule(value) or isclass(value) or isroutine(value):
            summary = " ".join(getdoc(value).partition("\n\n")[0].split())
            assert summary.endswith("."), value
            assert ". " not in summary, value


def test_an_unknown_attribute_raises():
    with pytest.raises(AttributeError, match="has no attribute 'serch'"):
        _ = ecselm.serch
