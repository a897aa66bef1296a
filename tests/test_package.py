"""The public face of the package."""

import subprocess
import sys
from importlib import import_module

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


def test_public_names_are_few_and_documented():
    exported = {
        f"{package}.{name}": getattr(import_module(package), name)
        for package in PUBLIC
        for name in import_module(package).__all__
    }
    assert len(exported) <= 165
    undocumented = [name for name, value in exported.items() if not getattr(value, "__doc__", "")]
    assert undocumented == []


def test_an_unknown_attribute_raises():
    with pytest.raises(AttributeError, match="has no attribute 'serch'"):
        _ = ecselm.serch
