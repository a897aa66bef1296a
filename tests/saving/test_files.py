"""Files: whole or not at all, of a known format, and pickles only where both sides say so."""

import json
import os
import pickle
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.metrics import f1_score, make_scorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import ecselm
from ecselm import ELMClassifier, KELMClassifier
from ecselm.saving import SavedModel, UntrustedFileWarning, files, load_model, save_model
from ecselm.saving.archive import HEADER, packed, unpacked
from tests.estimators.plain import one_machine

X = np.random.default_rng(0).standard_normal((30, 3))
Y = (X[:, 0] > 0).astype(int)
BUDGET = {"population_size": 5, "max_epochs": 1, "random_state": 0}


def softsign(A):
    return A / (1 + np.abs(A))


class OwnTransformer(BaseEstimator):
    """A transformer of the person's own."""

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return X


def test_file_tells_the_version_that_wrote_it(path, small):
    saved = load_model(str(path))
    assert isinstance(saved, SavedModel)
    assert (saved.card, saved.version) == (None, ecselm.__version__)
    assert_array_equal(saved.model.beta_, small.beta_)


@pytest.mark.parametrize("write", [False, True])
def test_newer_formats_are_refused_with_both_versions(path, small, write):
    if write:
        with pytest.warns(UntrustedFileWarning):
            save_model(small, path, pickle=True)
    header = json.dumps({"format": files.FORMAT + 1, "ecselm": "9.8"}).encode()
    content = path.read_bytes()
    if write:
        path.write_bytes(files.PICKLED + header + b"\n" + content.split(b"\n", 1)[1])
    else:
        path.write_bytes(packed({HEADER: header}))  # whatever else it may hold
    with pytest.raises(
        ValueError, match=rf"format {files.FORMAT + 1} of ecselm 9\.8.*{ecselm.__version__}"
    ):
        load_model(path, pickle=True)


def test_an_older_format_is_refused_with_its_version(path):
    header = json.dumps({"format": 1, "ecselm": "0.1"}).encode()
    path.write_bytes(packed({**unpacked(path.read_bytes()), HEADER: header}))
    with pytest.raises(ValueError, match=r"format 1 of ecselm 0\.1, .*fit the model again"):
        load_model(path)


@pytest.mark.parametrize("header", [b"", b"[]", b"{}", b'{"format": "1", "ecselm": "1"}'])
def test_damaged_headers_are_refused(path, header):
    path.write_bytes(packed({**unpacked(path.read_bytes()), HEADER: header}))
    with pytest.raises(ValueError, match="path must be a model"):
        load_model(path)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (ELMClassifier(5, activation=softsign), "activation"),
        (ELMClassifier(5, activation=np.tanh), "activation"),
        (KELMClassifier(kernel=lambda A, B: A @ B.T), "kernel"),
        (one_machine(5, scoring=make_scorer(f1_score), **BUDGET), "scoring"),
        (one_machine(5, callbacks=[print], **BUDGET), "callbacks"),
        (make_pipeline(FunctionTransformer(np.log1p), ELMClassifier(5)), "func"),
        (
            make_pipeline(ELMClassifier(5, activation=partial(softsign))),
            "elmclassifier__activation",
        ),
    ],
)
def test_functions_of_the_person_are_refused_by_parameter(tmp_path, model, name):
    path = tmp_path / "model.skops"
    model.fit(np.abs(X), Y)
    with pytest.raises(ValueError, match=rf"^\w*{name}.* must be no function .* pickle=True"):
        save_model(model, path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (ELMClassifier(hidden_layer=OwnTransformer()), r"test_files\.OwnTransformer"),
        (GradientBoostingClassifier(n_estimators=2), "GradientBoostingClassifier"),
        (
            make_pipeline(
                make_column_transformer(("passthrough", lambda X: [0])), ELMClassifier(5)
            ),
            r"test_files\.<lambda>",
        ),
    ],
)
def test_what_could_not_be_loaded_is_not_saved(tmp_path, model, name):
    model.fit(X, Y)
    with pytest.raises(ValueError, match=rf"model must hold nothing .*{name}.*pickle=True"):
        save_model(model, tmp_path / "model.skops")
    assert list(tmp_path.iterdir()) == []


def test_models_that_have_learned_nothing_are_refused(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        save_model(ELMClassifier(), tmp_path / "model.skops")
    with pytest.raises(ValueError, match="model must be a fitted estimator, got dict"):
        save_model({}, tmp_path / "model.skops")


def test_cards_are_text(tmp_path, small):
    with pytest.raises(ValueError, match="card must be JSON text or None, got dict"):
        save_model(small, tmp_path / "model.skops", card={})


def test_failure_leaves_the_file_as_it_was(path, small, monkeypatch):
    before = path.read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ValueError, match=r"path must be a file that can be written to.*No space"):
        save_model(small, path, card="{}")
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_interruption_leaves_the_file_as_it_was(path, small, monkeypatch):
    before = path.read_bytes()

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save_model(small, path, card="{}")
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_places_that_cannot_be_written_to_are_refused(tmp_path, path, small, monkeypatch):
    for place in (tmp_path / "no" / "model.skops", path / "model.skops", tmp_path):
        with pytest.raises(ValueError, match="path must be a file that can be written to"):
            save_model(small, place)

    plain_open = Path.open

    def read_only(self, mode="r", *others, **more):
        if mode != "r":
            raise PermissionError(13, "Permission denied")
        return plain_open(self, mode, *others, **more)

    monkeypatch.setattr(Path, "open", read_only)  # those who run tests may write anywhere
    with pytest.raises(ValueError, match=r"can be written to, got .*: Permission denied$"):
        save_model(small, path)


def test_places_that_cannot_be_read_are_refused(tmp_path):
    for place in (tmp_path, tmp_path / "no.skops"):
        with pytest.raises(ValueError, match="path must be a file that can be read"):
            load_model(place)


def test_pickles_hold_functions_and_go_on_learning(tmp_path):
    path = tmp_path / "model.pickle"
    model = ELMClassifier(5, activation=softsign, random_state=0).fit(X, Y)
    with pytest.warns(UntrustedFileWarning, match="executes"):
        save_model(model, path, card="{}", pickle=True)
    with pytest.raises(ValueError, match=r"it is a pickle, and reading a pickle executes"):
        load_model(path)
    with pytest.warns(UntrustedFileWarning, match="executes"):
        saved = load_model(path, pickle=True)
    assert (saved.card, saved.version) == ("{}", ecselm.__version__)
    assert_array_equal(saved.model.partial_fit(X, Y).beta_, model.partial_fit(X, Y).beta_)


def test_warning_comes_before_anything_is_executed(tmp_path):
    path, mark = tmp_path / "model.pickle", tmp_path / "ran"

    class Weapon:
        def __reduce__(self):
            return open, (str(mark), "w")

    header = json.dumps({"format": files.FORMAT, "ecselm": "1.0.0"}).encode()
    path.write_bytes(files.PICKLED + header + b"\n" + pickle.dumps(Weapon()))
    with pytest.raises(UntrustedFileWarning):  # as an error, which stops it
        load_model(path, pickle=True)
    assert not mark.exists()


@pytest.mark.filterwarnings("ignore::ecselm.saving.UntrustedFileWarning")
def test_damaged_pickles_are_refused(tmp_path, small):
    path = tmp_path / "model.pickle"
    save_model(small, path, pickle=True)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match="path must be a model"):
        load_model(path, pickle=True)


@pytest.mark.filterwarnings("ignore::ecselm.saving.UntrustedFileWarning")
def test_what_no_pickle_can_hold_is_refused(tmp_path):
    model = KELMClassifier(kernel=lambda A, B: A @ B.T).fit(X, Y)
    with pytest.raises(ValueError, match="model must be possible to pickle"):
        save_model(model, tmp_path / "model.pickle", pickle=True)
    assert list(tmp_path.iterdir()) == []


def test_files_without_pickles_load_where_pickles_may(path, small):
    assert_array_equal(load_model(path, pickle=True).model.beta_, small.beta_)
