"""What ``import ecselm`` gives."""

import subprocess
import sys
from pathlib import Path

import pytest

import ecselm

FOLDER = Path(ecselm.__file__).parent
INNER = {"cli", "_native"}  # the command, and the library in C


def test_packages_are_loaded_when_they_are_asked_for():
    code = "import ecselm, sys; assert 'sklearn' not in sys.modules; ecselm.search.minimize_bsa"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603


def test_every_package_can_be_asked_for():
    packages = {path.parent.name for path in FOLDER.glob("*/__init__.py")} - INNER
    assert packages == set(ecselm._PACKAGES)  # those imported elsewhere would be there, too


def test_what_is_not_there_is_said():
    with pytest.raises(AttributeError, match="has no attribute 'serch'"):
        _ = ecselm.serch
