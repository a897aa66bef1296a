"""A small table, a model of it, and what a whole file is."""

import csv
import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest

from ecselm.cli import main
from ecselm.saving import load_model
from tests.faults.injector import contents, leftovers

SMALL = ["--hidden", "5", "--epochs", "1", "--population", "4"]
KNOWN = "ill->well = 1..20 * well->ill"


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """Return a folder with tables of 80 and 30 rows, and a model with half-known costs."""
    folder = tmp_path_factory.mktemp("made")
    rng = np.random.default_rng(0)
    for name, n in (("known.csv", 80), ("new.csv", 30)):
        X = rng.normal(size=(n, 3)).round(3)
        state = np.where(X.sum(axis=1) + rng.normal(size=n) > 0.5, "ill", "well")
        frame = pd.DataFrame(X, columns=["size", "age", "pulse"]).assign(state=state)
        frame.to_csv(folder / name, index=False)
    arguments = [folder / "known.csv", "--target", "state", "--cost", KNOWN, "--model", "logistic"]
    assert main(["fit", *map(str, arguments), "-o", str(folder / "model.skops")]) == 0
    return folder


def check_whole(name, content):
    """Raise an error unless a file can be read to its end."""
    ending = name.rpartition(".")[2]
    if ending == "skops":
        load_whole(content)
    elif ending == "html":
        assert content.rstrip().endswith(b"</html>")
    elif ending == "onnx":
        import onnx

        onnx.checker.check_model(onnx.load_from_string(content))
    elif ending == "npz":
        assert zipfile.ZipFile(io.BytesIO(content)).testzip() is None
    elif ending == "json":
        json.loads(content)
    elif ending == "jsonl":
        assert content.endswith(b"\n")
        assert [json.loads(line) for line in content.splitlines()]
    elif ending == "csv":
        assert content.endswith(b"\n")
        assert len({len(row) for row in csv.reader(io.StringIO(content.decode()))}) == 1
    elif ending == "parquet":
        pd.read_parquet(io.BytesIO(content))
    else:
        assert ending in {"md", "tex", "txt", "png", "svg", "log"}, name
        assert content or ending in {"txt", "log"}


def load_whole(content, _checked={}):  # noqa: B006  models that were read before
    if content not in _checked:
        import tempfile

        with tempfile.NamedTemporaryFile(suffix=".skops") as file:
            file.write(content)
            file.flush()
            load_model(file.name)
        _checked[content] = True


def check_after(folder, before, fault):
    """Assert that every file is the old one or a whole new one, and that nothing else is left."""
    assert not leftovers(folder), fault
    after = contents(folder)
    assert set(before) <= set(after), fault
    for name, content in after.items():
        if content != before.get(name):
            try:
                check_whole(name, content)
            except Exception as error:
                raise AssertionError(f"{name} is not whole after {fault}") from error


def check_sentence(complaints, fault, *, mixed=False):
    """Assert that an error was reported in one sentence, after warnings if there were any."""
    lines = complaints.splitlines()
    assert "Traceback" not in complaints, fault
    others = [one for one in lines if not one.startswith("ecselm: warning: ")]
    if mixed:  # with questions or a progress bar
        others = [one for one in others if one.startswith("ecselm: ")]
    assert len(others) == 1, (fault, complaints)
    assert others[0].startswith("ecselm: "), (fault, complaints)
    assert "[Errno" not in others[0], (fault, complaints)
    assert "path must" not in others[0], (fault, complaints)
