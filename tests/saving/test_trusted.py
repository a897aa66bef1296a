"""The list of what models may be made of."""

from importlib import import_module

import pytest

from ecselm.saving.trusted import TRUSTED

OURS = sorted(name for names in TRUSTED.values() for name in names if name.startswith("ecselm."))


@pytest.mark.parametrize("name", OURS)
def test_our_names_are_classes(name):
    module, _, own = name.rpartition(".")
    assert isinstance(getattr(import_module(module), own), type)


def test_our_classes_are_only_filled_never_called():
    assert {loader for loader, names in TRUSTED.items() if names & set(OURS)} == {"ObjectNode"}


def test_loaders_that_call_what_a_file_names_are_not_trusted():
    calling = {"FunctionNode", "MethodNode", "PartialNode", "OperatorFuncNode", "SetNode"}
    assert TRUSTED.keys().isdisjoint(calling | {"ConstructorFromReduceNode", "DefaultDictNode"})
