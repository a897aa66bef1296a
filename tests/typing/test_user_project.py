"""Types of the package in a user's project, by mypy and pyright."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLE = Path(__file__).parent / "user_project.txt"  # no module: tests would import it
WRONG = "from ecselm import ELMClassifier\n\nELMClassifier().fit([[0.0]], [0]).no_such_method()\n"


@pytest.fixture
def project(tmp_path):
    """Return a folder with the modules, without any configuration of ours."""
    shutil.copy(SAMPLE, tmp_path / "user_project.py")
    (tmp_path / "wrong.py").write_text(WRONG)
    return tmp_path


def run(command, folder):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603


@pytest.mark.slow
def test_mypy_sees_the_type_of_a_fitted_estimator(project):
    pytest.importorskip("mypy")
    mypy = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(project / "cache")]
    right = run([*mypy, "--disable-error-code=import-untyped", "user_project.py"], project)
    assert right.returncode == 0, right.stdout
    wrong = run([*mypy, "wrong.py"], project)
    assert '"ELMClassifier" has no attribute "no_such_method"' in wrong.stdout


@pytest.mark.slow
def test_pyright_sees_the_type_of_a_fitted_estimator(project):
    pytest.importorskip("pyright", reason='needs the extra "release"')
    pyright = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--outputjson"]
    right = json.loads(run([*pyright, "user_project.py"], project).stdout)
    errors = [one["message"] for one in right["generalDiagnostics"] if one["severity"] == "error"]
    assert errors == []
    wrong = json.loads(run([*pyright, "wrong.py"], project).stdout)
    assert wrong["summary"]["errorCount"] == 1
