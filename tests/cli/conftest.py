"""Tumours in a table, and a model of them."""

import pytest
from sklearn.datasets import load_breast_cancer

from ecselm.cli import main

SMALL = ["--hidden", "10", "--epochs", "1", "--population", "4"]


@pytest.fixture(scope="session")
def tumours(tmp_path_factory):
    """Return a folder with tumours in words, and a model of them."""
    folder = tmp_path_factory.mktemp("tumours")
    data = load_breast_cancer(as_frame=True)
    frame = data.data.iloc[:, :6].assign(diagnosis=data.target_names[data.target])
    frame.iloc[:400].to_csv(folder / "known.csv", index=False)
    frame.iloc[400:].to_csv(folder / "new.csv", index=False)
    worse = "malignant->benign > benign->malignant"
    arguments = [folder / "known.csv", "--target", "diagnosis", "--metric", "gmean"]
    arguments += ["--worse", worse, "-o", folder / "model.skops", *SMALL]
    assert main(["fit", *map(str, arguments)]) == 0
    return folder


@pytest.fixture
def here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ran(capsys, *arguments):
    """Return the exit code, and what was printed and complained about."""
    code = main([str(argument) for argument in arguments])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def refused(capsys, *arguments):
    """Return the one sentence of a refusal."""
    code, out, err = ran(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("ecselm: ")
    return err
