"""The reference has every package that is meant for users."""

import pkgutil
from pathlib import Path

import pytest

import ecselm

REFERENCE = Path(__file__).parents[2] / "docs" / "api.rst"
# What users meet through other packages: estimators by the top, the command line by its help.
INNER = {"_native", "cli", "estimators", "fitness", "linalg", "outofcore", "tables"}


def test_reference_lists_every_public_package():
    if not REFERENCE.is_file():
        pytest.skip("needs the documentation, which lies beside the sources")
    words = REFERENCE.read_text().split()
    listed = {word.removeprefix("ecselm.") for word in words if word.startswith("ecselm.")}
    listed = {name.partition(".")[0] for name in listed}
    packages = {found.name for found in pkgutil.iter_modules(ecselm.__path__) if found.ispkg}
    assert listed == packages - INNER
