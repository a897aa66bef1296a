"""Objects built here are those that skops builds, and only of types that are known."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.tree import DecisionTreeClassifier

from ecselm import ELMClassifier
from ecselm.saving import checks, files, load_model, save_model
from ecselm.saving.build import Builder
from ecselm.saving.checks import PROTOCOL, known_object


def same_as_skops(model, X, path, monkeypatch):
    save_model(model, path)
    own = load_model(path).model
    monkeypatch.setattr(files, "known_object", lambda *_: None)
    other = load_model(path).model
    assert_array_equal(own.predict_proba(X), other.predict_proba(X))
    save_model(own, path.with_suffix(".own"))
    save_model(other, path.with_suffix(".other"))
    return own, other


def test_a_model_is_built_as_by_skops(rng, tmp_path, monkeypatch):
    X = pd.DataFrame(rng.standard_normal((60, 3)), columns=["a", "b", "c"])
    y = np.where(X["a"] > 0, "yes", "no")
    model = ELMClassifier(10, random_state=0).fit(X, y)
    own, other = same_as_skops(model, X, tmp_path / "model.skops", monkeypatch)
    assert vars(own).keys() == vars(other).keys()
    for name in ("beta_", "classes_", "feature_names_in_"):
        first, second = getattr(own, name), getattr(other, name)
        assert first.dtype == second.dtype
        assert_array_equal(first, second)


def test_a_model_of_the_package_does_not_need_skops(rng, tmp_path, monkeypatch):
    X = rng.standard_normal((40, 3))
    save_model(ELMClassifier(5, random_state=0).fit(X, X[:, 0] > 0), tmp_path / "model.skops")
    monkeypatch.setattr(files, "build", lambda _: pytest.fail("skops was asked"))
    assert load_model(tmp_path / "model.skops").model.predict(X).shape == (40,)


def test_other_estimators_are_left_to_skops(rng, tmp_path, monkeypatch):
    X = rng.standard_normal((40, 3))
    save_model(DecisionTreeClassifier().fit(X, X[:, 0] > 0), tmp_path / "tree.skops")
    asked = []
    monkeypatch.setattr(files, "build", lambda archive: asked.append(1) or checks.build(archive))
    load_model(tmp_path / "tree.skops")
    assert asked


def node(loader, name="builtins.str", **more):
    module, _, kind = name.rpartition(".")
    return {"__loader__": loader, "__module__": module, "__class__": kind, **more}


@pytest.mark.parametrize(
    "schema",
    [
        node("FunctionNode", "os.system"),
        node("MethodNode", "builtins.list"),
        node("ObjectNode", "sklearn.tree._classes.DecisionTreeClassifier"),
        node("TypeNode", "builtins.eval"),
        node("ListNode", "builtins.list", content=[node("TypeNode", "subprocess.Popen")]),
    ],
)
def test_types_that_are_not_known_are_not_built(schema):
    assert known_object(schema | {"protocol": PROTOCOL}, {}) is None


def test_other_protocols_are_left_to_skops():
    empty = node("ListNode", "builtins.list", content=[])
    assert known_object(empty | {"protocol": PROTOCOL}, {}) == []
    assert known_object(empty | {"protocol": PROTOCOL + 1}, {}) is None


def test_an_object_is_no_part_of_itself():
    inner = node("ListNode", "builtins.list", content=[], __id__=1)
    with pytest.raises(ValueError, match="part of itself"):
        Builder({}).build(node("ListNode", "builtins.list", content=[inner], __id__=1))


def test_what_is_named_twice_is_built_once():
    one = node("ListNode", "builtins.list", content=[], __id__=7)
    first, second = Builder({}).build(node("TupleNode", "builtins.tuple", content=[one, one]))
    assert first is second


def test_keys_have_types():
    types = node("JsonNode", content=json.dumps([1]))
    with pytest.raises(TypeError, match="types of keys"):
        Builder({}).build(node("DictNode", "builtins.dict", key_types=types, content={"a": types}))
