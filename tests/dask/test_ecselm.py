"""Costs learned on Dask equal those learned in memory."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ecselm import ECSELMClassifier, ECSELMRegressor
from ecselm.dask import DaskECSELMClassifier, DaskECSELMRegressor, DaskWELMClassifier
from ecselm.dask.cluster import DaskBlocks
from ecselm.onnx import to_onnx
from ecselm.saving import load_model, save_model
from tests.dask.conftest import CUTS, collections

SMALL = {"population_size": 5, "max_epochs": 1, "random_state": 1}
ONE = {"ensemble": None, **SMALL}
REGRESSION = {"activation": "radbas", **SMALL}
KINDS = [
    {},
    {"scoring": "accuracy", "C": 2.0},
    {"scoring": "gmean", "fitness": "holdout", "cost_order": [(2, 0)]},
    {"fitness": "train", "smoothing": 0.0, "C": 8.0},
    {"fitness": 3, "cost_level": "matrix", "cost": {(0, 1): 4}, "scoring": "mean_cost"},
    {"cost_level": "matrix", "decision": "min_cost", "cost": {(0, 1): 4}},
]


def assert_same(model, expected, X):
    """Compare costs, scores, and the output weights of a single layer."""
    assert_allclose(model.class_costs_, expected.class_costs_, rtol=1e-12)
    assert pytest.approx(expected.C_, rel=1e-12) == model.C_
    assert model.best_score_ == pytest.approx(expected.best_score_, rel=1e-9)
    assert_allclose(model.history_, expected.history_, rtol=1e-8, atol=1e-12)
    size = np.abs(expected.beta_).max()
    assert_allclose(model.beta_, expected.beta_, rtol=1e-8, atol=1e-8 * size)
    assert_array_equal(model.predict(X), expected.predict(X))


@pytest.mark.parametrize(
    ("options", "cut"), [(options, CUTS[1 + i % 2]) for i, options in enumerate(KINDS)]
)
def test_any_partitions_learn_the_costs_of_memory(client, rows, options, cut):
    X, y, _, w = rows
    w = None if cut == CUTS[1] else w
    dX, dy, dw = collections(cut, X, y, w)
    expected = ECSELMClassifier(20, **ONE, **options).fit(X, y, w)
    model = DaskECSELMClassifier(20, **ONE, **options, client=client).fit(dX, dy, dw)
    assert_same(model, expected, X)
    assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=1e-8)
    assert model.n_validation_rows_ == (600 if w is None else (w > 0).sum())


@pytest.mark.parametrize("n_targets", [1, 2])
@pytest.mark.parametrize("scoring", [None, "neg_mean_squared_error"])
def test_any_partitions_learn_the_costs_of_levels(client, rows, n_targets, scoring):
    X, _, T, w = rows
    T, w = (T[:, 0], None) if n_targets == 1 else (T, w)
    dX, dT, dw = collections(CUTS[2], X, T, w)
    expected = ECSELMRegressor(20, **REGRESSION, scoring=scoring, C="search").fit(X, T, w)
    model = DaskECSELMRegressor(20, **REGRESSION, scoring=scoring, C="search", client=client)
    model.fit(dX, dT, dw)
    assert_allclose(model.class_costs_, expected.class_costs_, rtol=1e-12)
    size = np.abs(expected.beta_).max()
    assert_allclose(model.beta_, expected.beta_, rtol=1e-8, atol=1e-8 * size)
    if n_targets == 1:
        assert_array_equal(model.level_edges_, expected.level_edges_)


ENSEMBLES = [
    {"scoring": "gmean"},
    {"cost": {(0, 1): 4}, "fitness": "loo", "ensemble": 4},
    {"cost_level": "matrix", "ensemble": [("rbf", "ranks", 0.3), ("laplacian", "root", 1.0)]},
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("options", ENSEMBLES, ids=str)
def test_the_ensemble_is_that_of_memory(client, rows, options, weighted):
    X, y, _, w = rows
    w = w if weighted else None
    dX, dy, dw = collections((350, 250), X, y, w)
    expected = ECSELMClassifier(20, **SMALL, **options).fit(X, y, w)
    model = DaskECSELMClassifier(20, **SMALL, **options, client=client).fit(dX, dy, dw)
    assert_same(model, expected, X)
    assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=1e-8)
    assert_allclose(model.cost_matrix_, expected.cost_matrix_, rtol=1e-12)
    assert model.to_local()._members_ == expected._members_


def test_members_of_a_sampled_ensemble_are_trained_on_all_rows(client, rows):
    """With the centres and the C found, every member solves (15) on all rows."""
    X, y, _, w = rows
    dX, dy, dw = collections((350, 250), X, y, w)
    options = {**SMALL, "scoring": "gmean", "ensemble": [("rbf", "standard", 0.3)], "C": 4.0}
    model = DaskECSELMClassifier(20, **options, max_validation_rows=150, client=client)
    local = model.fit(dX, dy, dw).to_local()
    (layer,) = local.layer_.parts
    assert len(layer.rows) == 20
    K, H = replace(layer, scale=None)(layer.rows), layer(X)
    B = (w * local._training_costs_[y])[:, np.newaxis]
    T = 2.0 * (y[:, np.newaxis] == np.arange(3)) - 1.0
    beta = np.linalg.solve(H.T @ (B * H) + K / 4.0, H.T @ (B * T))
    assert_allclose(H @ local.beta_, H @ beta, atol=1e-6 * np.abs(H @ beta).max())


def test_an_ensemble_on_a_sample_is_near_that_of_memory(client, rows):
    X, y, _, _ = rows
    dX, dy = collections((350, 250), X, y)
    expected = ECSELMClassifier(60, **SMALL, scoring="gmean").fit(X, y)
    model = DaskECSELMClassifier(60, **SMALL, scoring="gmean", max_validation_rows=300)
    model.set_params(client=client).fit(dX, dy)
    P, Q = model.predict_proba(X), expected.predict_proba(X)
    assert np.abs(P - Q).mean() < 0.1
    assert (model.predict(X) == expected.predict(X)).mean() > 0.85
    assert abs(model.score(X, y) - expected.score(X, y)) < 0.05


def test_squared_errors_are_validated_on_all_rows_through_sums(client, rows):
    X, _, T, _ = rows
    dX, dT = collections((400, 200), X, T[:, 0])
    options = {**REGRESSION, "scoring": "neg_mean_squared_error"}
    expected = ECSELMRegressor(20, **options).fit(X, T[:, 0])
    model = DaskECSELMRegressor(20, **options, max_validation_rows=30, client=client).fit(dX, dT)
    assert model.n_validation_rows_ == 600
    assert_allclose(model.class_costs_, expected.class_costs_, rtol=1e-12)
    assert model.best_score_ == pytest.approx(expected.best_score_, rel=1e-9)
    size = np.abs(expected.beta_).max()
    assert_allclose(model.beta_, expected.beta_, rtol=1e-8, atol=1e-8 * size)


@pytest.mark.parametrize("ensemble", [None, "auto"])
def test_a_sample_validates_and_all_rows_train(client, rows, ensemble):
    X, y, _, _ = rows
    dX, dy = collections((250, 350), X, y)
    options = {**SMALL, "ensemble": ensemble, "scoring": "gmean"}
    model = DaskECSELMClassifier(20, **options, max_validation_rows=150, client=client).fit(dX, dy)
    again = DaskECSELMClassifier(20, **options, max_validation_rows=150, client=client)
    again.fit(*collections((100, 499, 1), X, y))
    assert model.n_validation_rows_ == model.to_local().n_validation_rows_ == 150
    assert_allclose(model.class_costs_, again.class_costs_, rtol=1e-12)
    scores = model.decision_function(X)
    assert_allclose(again.decision_function(X), scores, atol=1e-8 * np.abs(scores).max())
    expected = ECSELMClassifier(20, **options).fit(X, y)
    assert abs(model.best_score_ - expected.best_score_) < 0.05
    if ensemble is None:  # with the costs learned, (15) holds for all rows
        B = model.class_costs_[y]
        H, Y = model.layer_(X), 2.0 * (y[:, np.newaxis] == np.arange(3)) - 1.0
        A = np.eye(20) / model.C_ + H.T @ (B[:, np.newaxis] * H)
        beta = np.linalg.solve(A, H.T @ (B[:, np.newaxis] * Y))
        assert_allclose(model.beta_, beta, atol=1e-8 * np.abs(beta).max())


def test_costs_learned_are_weights_of_a_machine_that_searches_nothing(client, rows):
    X, y, _, _ = rows
    dX, dy = collections((250, 350), X, y)
    found = DaskECSELMClassifier(20, **ONE, scoring="gmean", client=client).fit(dX, dy)
    weights = dict(zip(found.classes_.tolist(), found.class_costs_.tolist(), strict=True))
    plain = DaskWELMClassifier(20, weighting=weights, C=found.C_, random_state=1, client=client)
    size = np.abs(found.beta_).max()
    assert_allclose(plain.fit(dX, dy).beta_, found.beta_, atol=1e-8 * size)


@pytest.mark.parametrize(
    ("estimator", "options", "n_targets", "expected"),
    [
        (DaskECSELMClassifier, {"ensemble": None}, 0, ["targets", "rows", "rows"]),
        (DaskECSELMClassifier, {"max_validation_rows": 99}, 0, ["targets", "rows", "rows"]),
        (DaskECSELMClassifier, {}, 0, ["targets", "rows"]),  # all rows are in the sample
        (DaskECSELMRegressor, {}, 1, ["targets", "targets", "rows", "rows"]),
        (DaskECSELMRegressor, {}, 2, ["targets", "targets", "targets", "rows", "rows"]),
    ],
)
def test_inputs_are_read_twice_whatever_the_search_does(
    client, rows, monkeypatch, estimator, options, n_targets, expected
):
    X, y, T, _ = rows
    dX, dy = collections((250, 350), X, T[:, :n_targets] if n_targets else y)
    passes, reduce = [], DaskBlocks.reduce

    def noted(self, *given, targets_alone=False, **options):
        passes.append("targets" if targets_alone else "rows")
        return reduce(self, *given, targets_alone=targets_alone, **options)

    monkeypatch.setattr(DaskBlocks, "reduce", noted)
    estimator(10, **SMALL, **options, client=client).fit(dX, dy)
    assert passes == expected


@pytest.mark.parametrize("options", [{}, {"fitness": "holdout"}])
def test_folds_of_large_classes_are_those_of_memory(client, rows, monkeypatch, options):
    for place in ("fitness.folds", "outofcore.source"):
        # Two classes have more.
        monkeypatch.setattr(import_module(f"ecselm.{place}"), "N_LISTED", 100)
    X, y, _, w = rows
    dX, dy, dw = collections(CUTS[1], X, y, w)
    options = {**ONE, "scoring": "gmean", **options}
    expected = ECSELMClassifier(20, **options).fit(X, y, w)
    model = DaskECSELMClassifier(20, **options, client=client).fit(dX, dy, dw)
    assert_allclose(model.class_costs_, expected.class_costs_, rtol=1e-12)
    assert model.best_score_ == pytest.approx(expected.best_score_, rel=1e-9)
    scores = expected.decision_function(X)
    assert_allclose(model.decision_function(X), scores, atol=1e-8 * np.abs(scores).max())


@pytest.mark.parametrize("n_targets", [1, 2])
def test_a_sample_has_the_ends_of_the_targets(client, rows, n_targets):
    X, _, T, w = rows
    T = T[:, :n_targets] if n_targets > 1 else np.round(T[:, 0])  # ends that many rows have
    dX, dT, dw = collections((250, 350), X, T, w)
    expected = ECSELMRegressor(20, **REGRESSION, scoring="neg_mean_squared_error").fit(X, T, w)
    model = DaskECSELMRegressor(
        20, **REGRESSION, scoring="neg_mean_squared_error", max_validation_rows=40, client=client
    ).fit(dX, dT, dw)
    assert_allclose(model.class_costs_, expected.class_costs_, rtol=1e-12)
    if n_targets == 1:
        assert_array_equal(model.level_edges_, expected.level_edges_)
    by_sample = DaskECSELMRegressor(20, **REGRESSION, max_validation_rows=40, client=client).fit(
        dX, dT, dw
    )
    assert 40 <= by_sample.n_validation_rows_ <= 40 + 2 * (n_targets + 1)


def test_local_model_is_saved_exported_and_warm(client, rows, tmp_path):
    X, y, _, _ = rows
    dX, dy = collections((250, 350), X, y)
    model = DaskECSELMClassifier(10, **ONE, client=client).fit(dX, dy)
    local = model.to_local()
    assert type(local) is ECSELMClassifier
    save_model(local, tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops").model
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.n_validation_rows_ == 600
    assert to_onnx(local).graph.node
    warm = model.set_params(warm_start=True).fit(dX, dy)
    assert warm.best_score_ >= local.best_score_ - 1e-12
    assert "previous" in warm.prior_scores_


def test_a_checkpoint_is_of_all_rows(client, rows, tmp_path):
    X, y, _, _ = rows
    dX, dy = collections((250, 350), X, y)
    path = tmp_path / "search"
    options = {**ONE, "max_validation_rows": 100, "checkpoint": path, "client": client}
    model = DaskECSELMClassifier(10, **options).fit(dX, dy)
    again = DaskECSELMClassifier(10, **options).fit(dX, dy)
    assert_array_equal(again.beta_, model.beta_)
    # The validation rows may be the same: others have changed.
    with pytest.raises(ValueError, match="checkpoint must belong to this search"):
        DaskECSELMClassifier(10, **options).fit(dX * 2.0, dy)


def test_a_class_of_no_weight_is_known(client, rows):
    X, y, _, _ = rows
    w = (y != 2).astype(float)
    dX, dy, dw = collections((250, 350), X, y, w)
    expected = ECSELMClassifier(10, **ONE).fit(X, y, w)
    model = DaskECSELMClassifier(10, **ONE, client=client).fit(dX, dy, dw)
    assert_array_equal(model.classes_, [0, 1, 2])
    assert_same(model, expected, X)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cost_level": "sample"}, "cost_level must be 'class' or 'matrix' on Dask"),
        ({"fitness": "loo"}, "fitness must be 'cv', 'holdout', 'train' or an int on Dask"),
        ({"kernel": "rbf"}, "kernel must be None on Dask"),
        ({"ensemble": "auto", "fitness": "cv"}, "fitness must be 'auto' or 'loo' with an ensemble"),
        ({"max_validation_rows": 1}, "'max_validation_rows' parameter of DaskECSELMClassifier"),
        (
            {"max_validation_rows": 100, "scoring": lambda model, X, y: model.predict(X).mean()},
            "scoring must take sample_weight where a sample stands for all rows",
        ),
    ],
)
def test_what_cannot_be_had_is_refused(client, rows, options, message):
    X, y, _, _ = rows
    with pytest.raises(ValueError, match=message):
        DaskECSELMClassifier(10, **{**ONE, **options}, client=client).fit(
            *collections((300, 300), X, y)
        )
