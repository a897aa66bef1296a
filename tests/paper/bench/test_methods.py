import sys

import pytest

from ecselm import ECSELMClassifier
from ecselm.paper.bench.methods import (
    BENCH_METHODS,
    QUICK_METHODS,
    VARIANTS,
    check_extras,
    find_bench_methods,
)
from ecselm.paper.methods import Shape, get_method

SHAPE = Shape(n_samples=500, n_features=8, n_classes=2)


@pytest.mark.parametrize("one", BENCH_METHODS, ids=lambda one: one.name)
def test_every_method_can_be_made_with_each_of_at_most_36_candidates(one):
    candidates = one.grid(SHAPE)
    assert 1 <= len(candidates) <= 36
    for candidate in (candidates[0], candidates[-1]):
        get_method(one.name, "classification", **candidate)
        get_method(one.tuned_as or one.name, "classification", **one.params, **candidate)


def test_variants_differ_by_the_layer_the_costs_and_nothing_else():
    made = {
        one.name: get_method(one.tuned_as or one.name, "classification", **one.params)
        for one in VARIANTS
    }
    printed, threshold = made.pop("ECSELM as printed"), made.pop("one layer, threshold")
    assert printed.get_params() == ECSELMClassifier.paper().get_params()
    default = ECSELMClassifier().get_params()
    for name, model in made.items():
        changed = {key for key, value in model.get_params().items() if value != default[key]}
        assert changed <= {"ensemble", "keep_prior", "scoring"}
        assert (model.ensemble is None) == name.startswith("one layer")
        assert (model.scoring == "accuracy") == name.endswith("equal costs")
    layer = made["one layer, equal costs"]
    assert threshold.estimator.get_params() == layer.get_params()


def test_a_threshold_is_left_out_where_probabilities_count():
    made = get_method("one layer with tuned threshold", scoring="neg_log_loss")
    assert isinstance(made, ECSELMClassifier)


def test_candidates_are_all_different():
    for one in BENCH_METHODS:
        shown = [str(candidate) for candidate in one.grid(SHAPE)]
        assert len(set(shown)) == len(shown)


def test_small_data_have_no_more_hidden_units_than_rows():
    (elm,) = find_bench_methods(("ELM",))
    assert max(one["n_hidden"] for one in elm.grid(Shape(60, 8, 2))) == 60


def test_unknown_methods_are_refused_with_the_closest():
    with pytest.raises(ValueError, match=r"such as .*W1KELM.*; got 'W3KELM'"):
        find_bench_methods(("W3KELM",))


def test_methods_are_run_in_the_order_of_the_bench():
    assert [one.name for one in find_bench_methods(QUICK_METHODS)] == list(QUICK_METHODS)


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "imblearn.ensemble", None)
    with pytest.raises(ImportError, match='the extra "compare"'):
        check_extras(find_bench_methods(("RUSBoost",)))
