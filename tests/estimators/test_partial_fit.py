"""Sequential learning: any cut of the rows gives the solution of all rows."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.kernel_approximation import RBFSampler

from ecselm import CSELMClassifier, CSELMRegressor, ELMClassifier, ELMRegressor, WELMClassifier
from ecselm.estimators._training import WARM_UP

CUTS = pytest.mark.parametrize("sizes", [[400], [1] * 5 + [395], [37, 3, 160, 200]], ids=str)
CLASSIFIERS = pytest.mark.parametrize(
    "model",
    [
        ELMClassifier(30, random_state=0),
        ELMClassifier(500, random_state=0),
        ELMClassifier(30, scale="minmax", random_state=0),
        ELMClassifier(30, scale=None, activation="tanh", random_state=0),
        ELMClassifier(hidden_layer=RBFSampler(n_components=30, random_state=0)),
        WELMClassifier(30, weighting="w2", random_state=0),
        WELMClassifier(30, normalize=True, random_state=0),
        CSELMClassifier(30, cost={0: 4}, random_state=0),
        CSELMClassifier(30, cost={0: 4}, aggregate="classes", random_state=0),
        CSELMClassifier(30, cost={0: 4}, decision="min_cost", random_state=0),
    ],
    ids=str,
)


def chunks(sizes):
    ends = np.cumsum(sizes)
    return [slice(end - size, end) for size, end in zip(sizes, ends, strict=True)]


def assert_same(streamed, batch, X):
    assert_allclose(streamed.beta_, batch.beta_, rtol=1e-6, atol=1e-8)
    assert_allclose(streamed.predict(X), batch.predict(X), rtol=1e-8)


@CUTS
@CLASSIFIERS
def test_any_cut_equals_the_batch(labelled, rng, model, sizes):
    X, y = labelled
    w = rng.uniform(0.2, 3, len(y))
    batch = clone(model).fit(X, y, sample_weight=w)
    streamed = clone(model)
    for rows in chunks(sizes):
        streamed.partial_fit(X[rows], y[rows], classes=np.unique(y), sample_weight=w[rows])
    assert_same(streamed, batch, X)
    assert_allclose(streamed.predict_proba(X), batch.predict_proba(X), rtol=1e-6, atol=1e-8)


@CUTS
@pytest.mark.parametrize("aggregate", ["samples", "classes"])
@pytest.mark.parametrize("form", ["by row", "by class"])
def test_costs_by_row_stream_exactly(labelled, rng, sizes, aggregate, form):
    X, y = labelled
    k = len(np.unique(y))
    cost = rng.uniform(0, 5, len(y) if form == "by row" else (len(y), k))
    if form == "by class":
        cost[np.arange(len(y)), y] = 0.0
    model = CSELMClassifier(30, aggregate=aggregate, random_state=0)
    batch = clone(model).fit(X, y, sample_cost=cost)
    streamed = clone(model)
    for rows in chunks(sizes):
        streamed.partial_fit(X[rows], y[rows], classes=range(k), sample_cost=cost[rows])
    assert_same(streamed, batch, X)


@CUTS
def test_regressors_stream_exactly(rng, sizes):
    X, Y, B = rng.standard_normal((400, 5)), rng.standard_normal((400, 2)), rng.uniform(0, 2, 400)
    for model in (ELMRegressor(30, random_state=0), CSELMRegressor(30, random_state=0)):
        given = {"sample_cost": B} if isinstance(model, CSELMRegressor) else {"sample_weight": B}
        batch, streamed = clone(model).fit(X, Y, **given), clone(model)
        for rows in chunks(sizes):
            part = {name: values[rows] for name, values in given.items()}
            streamed.partial_fit(X[rows], Y[rows], **part)
        assert_same(streamed, batch, X)


@pytest.mark.parametrize("n_hidden", [30, 350])
def test_partial_fit_goes_on_from_fit(labelled, n_hidden):
    X, y = labelled
    model = WELMClassifier(n_hidden, scale=None, random_state=0)
    batch = clone(model).fit(X, y)
    streamed = clone(model).fit(X[:300], y[:300])
    assert_same(streamed.partial_fit(X[300:], y[300:]), batch, X)


def test_streams_longer_than_the_warm_up_keep_their_first_scale(rng):
    X = rng.standard_normal((5000, 3)) * [1, 10, 100]
    y = (X[:, 0] + X[:, 1] / 10 > 0).astype(int)
    first = ELMClassifier(30, random_state=0).fit(X[:WARM_UP], y[:WARM_UP])
    same_layer = ELMClassifier(30, hidden_layer=Layer(first.layer_)).fit(X, y)
    for sizes in ([5000], [1000, 2000, 1500, 500], [WARM_UP, 5000 - WARM_UP]):
        streamed = ELMClassifier(30, random_state=0)
        for rows in chunks(sizes):
            streamed.partial_fit(X[rows], y[rows], classes=[0, 1])
        assert_allclose(streamed.layer_.weights, first.layer_.weights, rtol=1e-10)
        assert_allclose(streamed.beta_, same_layer.beta_, rtol=1e-6, atol=1e-8)


class Layer:
    """A transformer that is a given hidden layer."""

    def __init__(self, layer):
        self.layer = layer

    def get_params(self, deep=True):
        return {"layer": self.layer}

    def fit(self, X):
        return self

    def transform(self, X):
        return self.layer(X)

    def __sklearn_clone__(self):
        return self


def test_float32_streams_stay_float32(labelled):
    X, y = labelled
    model = ELMClassifier(30, random_state=0)
    model.partial_fit(X[:200].astype(np.float32), y[:200], classes=np.unique(y))
    model.partial_fit(X[200:], y[200:])
    assert model.beta_.dtype == np.float32


def test_class_unseen_in_the_first_chunk_comes_later(labelled):
    X, y = labelled
    order = np.argsort(y, kind="stable")
    streamed = WELMClassifier(30, random_state=0)
    for rows in np.array_split(order, 5):
        streamed.partial_fit(X[rows], y[rows], classes=np.unique(y))
    batch = WELMClassifier(30, random_state=0).fit(X, y)
    assert_same(streamed, batch, X)


def test_a_refused_chunk_changes_nothing(labelled):
    X, y = labelled
    model = ELMClassifier(30, random_state=0).partial_fit(X, y, classes=np.unique(y))
    before = model.beta_.copy()
    for X_bad, y_bad, message in (
        (X, y + 9, "y must hold only the classes given to the first call"),
        (np.full_like(X, np.nan), y, "NaN"),
        (X[:, :3], y, "features"),
    ):
        with pytest.raises(ValueError, match=message):
            model.partial_fit(X_bad, y_bad)
    with pytest.raises(ValueError, match="classes must be the same in every call"):
        model.partial_fit(X, y, classes=[0, 77])
    np.testing.assert_array_equal(model.beta_, before)


def test_first_chunk_must_state_the_classes(labelled):
    X, y = labelled
    with pytest.raises(ValueError, match="classes must be given to the first call"):
        ELMClassifier().partial_fit(X, y)
    with pytest.raises(ValueError, match=r"y must hold only the classes.*got \["):
        ELMClassifier().partial_fit(X, y, classes=[0, 77])


@pytest.mark.parametrize("decision", ["argmax", "min_cost"])
def test_costs_must_keep_their_kind(labelled, decision):
    X, y = labelled
    model = CSELMClassifier(30, decision=decision, random_state=0)
    model.partial_fit(X, y, classes=np.unique(y))
    with pytest.raises(ValueError, match="costs of the same kind with every chunk"):
        model.partial_fit(X, y, sample_cost=np.ones(len(y)))


def test_kernel_machines_offer_no_partial_fit():
    assert not hasattr(WELMClassifier(kernel="rbf"), "partial_fit")
    assert not hasattr(CSELMClassifier(kernel="rbf"), "partial_fit")
    assert hasattr(CSELMClassifier(), "partial_fit")


def test_fit_that_kept_no_sums_says_how_to_go_on(labelled, monkeypatch):
    monkeypatch.setattr("ecselm.estimators._training.KEPT_ENTRIES", 10)
    X, y = labelled
    model = WELMClassifier(30, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="partial_fit must begin the stream here"):
        model.partial_fit(X, y)


@pytest.mark.parametrize("decision", ["argmax", "min_cost"])
@pytest.mark.parametrize("scale", ["standard", None])
def test_a_buffer_may_be_used_again(labelled, decision, scale):
    X, y = labelled
    model = CSELMClassifier(30, decision=decision, scale=scale, random_state=0)
    batch = clone(model).fit(X, y)
    streamed, buffer = clone(model), np.empty((100, X.shape[1]))
    for rows in chunks([100] * 4):
        buffer[:] = X[rows]
        streamed.partial_fit(buffer, y[rows], classes=np.unique(y))
    buffer[:] = 0.0
    assert_same(streamed, batch, X)


def test_dense_and_sparse_chunks_may_follow_each_other(labelled):
    X, y = labelled
    batch = ELMClassifier(30, random_state=0).fit(X, y)
    for first, second in ((np.asarray, sparse.csr_array), (sparse.csr_array, np.asarray)):
        streamed = ELMClassifier(30, random_state=0)
        streamed.partial_fit(first(X[:150]), y[:150], classes=np.unique(y))
        assert_same(streamed.partial_fit(second(X[150:]), y[150:]), batch, X)


def test_a_chunk_may_weigh_nothing(labelled):
    X, y = labelled
    w = np.repeat([0.0, 1.0], [100, 300])
    batch = WELMClassifier(30, random_state=0).fit(X, y, sample_weight=w)
    streamed = WELMClassifier(30, random_state=0)
    for rows in (slice(100, 400), slice(0, 100)):
        streamed.partial_fit(X[rows], y[rows], classes=np.unique(y), sample_weight=w[rows])
    assert_same(streamed, batch, X)


def test_costs_between_rows_cannot_be_cut_into_chunks(labelled):
    X, y = labelled
    with pytest.raises(ValueError, match="got one per pair of rows"):
        CSELMClassifier().partial_fit(X, y, classes=np.unique(y), sample_cost=1 - np.eye(len(y)))


def test_many_classes_take_the_memory_of_their_sums_and_little_more(rng):
    X, y = rng.standard_normal((3000, 4)), np.arange(3000) % 300
    model = WELMClassifier(20, scale=None, draw="normal", random_state=0)
    batch, streamed = clone(model).fit(X, y), clone(model)
    tracemalloc.start()
    for rows in chunks([1500, 1500]):
        streamed.partial_fit(X[rows], y[rows], classes=np.unique(y))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert_same(streamed, batch, X)
    sums = 300 * 20 * (20 + 300) * 8
    assert peak < 10 * sums


def test_a_fit_that_is_overtaken_leaves_no_cost_vector(labelled):
    X, y = labelled
    model = ELMClassifier(30, random_state=0).fit(X, y)
    assert not hasattr(model.partial_fit(X, y), "cost_vector_")
