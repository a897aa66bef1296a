"""Functions of the library on a failing disk: an error with a name, and the old file."""

import warnings

import numpy as np
import pytest

from ecselm import ECSELMClassifier, ELMClassifier
from ecselm.elicitation import CostElicitor
from ecselm.onnx import to_onnx
from ecselm.report import write_report, write_sheet
from ecselm.saving import load_model, save_model
from ecselm.study import Card
from tests.faults.conftest import check_after
from tests.faults.injector import contents, faults

FAULTS = [("open", "EROFS"), ("write", "ENOSPC"), ("fsync", "EIO"), ("replace", "EACCES")]
X = np.random.default_rng(0).normal(size=(40, 2))
Y = np.where(X.sum(axis=1) > 0, "ill", "well")


@pytest.fixture(scope="module")
def writers(made):
    """Return functions that write a file, by the name of the file."""
    card = Card.from_json(load_model(made / "model.skops").card)
    model = ELMClassifier(5, random_state=0).fit(X, Y)
    elicitor = CostElicitor(["ill->well > well->ill"], np.full((4, 2), 0.5), random_state=0)
    return {
        "model.skops": lambda path: save_model(model, path, card="{}"),
        "report.html": lambda path: write_report(card, path),
        "sheet.md": lambda path: write_sheet(card, path),
        "graph.onnx": lambda path: to_onnx(model, path),
        "answers.json": elicitor.save,
    }


@pytest.mark.parametrize(("operation", "error"), FAULTS)
@pytest.mark.parametrize(
    "name", ["model.skops", "report.html", "sheet.md", "graph.onnx", "answers.json"]
)
def test_files_are_whole(writers, name, operation, error, tmp_path):
    path = tmp_path / name
    path.write_bytes(b"old")
    n_failed = 0
    for fault in faults(tmp_path, operation, error):
        before = path.read_bytes()
        message = None
        try:
            with fault:
                writers[name](path)
        except ValueError as failed:
            message, n_failed = str(failed), n_failed + 1
        if message is None:
            check_after(tmp_path, {name: b""}, fault)
        else:
            start = f"path must be a file that can be written to, got {str(path)!r}: "
            assert message.startswith(start), fault
            assert contents(tmp_path) == {name: before}, fault
    assert n_failed


def fitted(path):
    model = ECSELMClassifier(
        5, max_epochs=3, population_size=4, checkpoint=path, random_state=0, ensemble=None
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, Y)


def proved(tmp_path, operation, error, *, every, lasting=False):
    path = tmp_path / "search.npz"
    expected = fitted(tmp_path / "other.npz").decision_function(X)
    (tmp_path / "other.npz").unlink()
    for fault in faults(tmp_path, operation, error, every=every, lasting=lasting):
        before, found, message = contents(tmp_path), None, ""
        try:
            with fault:
                found = fitted(path)
        except (ValueError, MemoryError) as failed:
            message = str(failed)
        check_after(tmp_path, before, fault)
        if found is None and operation != "memory":
            assert message.startswith("checkpoint must be"), (fault, message)
            assert str(path) in message, (fault, message)
    # Whatever was kept, the search goes on to the same result.
    np.testing.assert_array_equal(fitted(path).decision_function(X), expected)


@pytest.mark.parametrize(("operation", "error"), FAULTS)
def test_checkpoints_are_whole_and_resumed(operation, error, tmp_path):
    proved(tmp_path, operation, error, every=False)


@pytest.mark.slow
@pytest.mark.parametrize("lasting", [False, True])
@pytest.mark.parametrize(("operation", "error"), [*FAULTS, ("memory", "MemoryError")])
def test_every_fault_of_a_checkpoint(operation, error, lasting, tmp_path):
    proved(tmp_path, operation, error, every=operation != "memory", lasting=lasting)
