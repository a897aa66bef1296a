"""Fits in blocks are fits on all rows."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.model_selection import StratifiedKFold

from ecselm import (
    CostSearchCV,
    CSELMClassifier,
    CSELMRegressor,
    ECSELMClassifier,
    ECSELMRegressor,
    EELMClassifier,
    ELMClassifier,
    ELMRegressor,
    KELMClassifier,
    WELMClassifier,
)
from ecselm.outofcore import fit_search
from ecselm.saving import load_model, save_model
from ecselm.streaming import fit_stream, open_blocks, refit_stream
from ecselm.streaming.blocks import Passes
from ecselm.streaming.fit import StreamBlocks

SIZES = pytest.mark.parametrize("size", [100, 37, 400])
CLASSIFIERS = pytest.mark.parametrize(
    "model",
    [
        ELMClassifier(30, random_state=0),
        ELMClassifier(30, scale="minmax", random_state=0),
        ELMClassifier(30, scale=None, activation="tanh", random_state=0),
        ELMClassifier(20, hidden_layer=RBFSampler(n_components=30, random_state=0)),
        WELMClassifier(30, weighting="w2", random_state=0),
        CSELMClassifier(30, cost={0: 4}, random_state=0),
        CSELMClassifier.paper(n_hidden=30, cost={0: 4}, random_state=0),
        ELMClassifier(random_state=0),
    ],
    ids=str,
)
SEARCHES = pytest.mark.parametrize(
    "given",
    [
        {"keep_prior": False, "scoring": "gmean"},
        {"activation": "radbas"},
        {"cost_level": "matrix", "decision": "min_cost", "ensemble": None},
        {"cost_level": "matrix", "cost": {(0, 1): 4}},
    ],
    ids=str,
)


@pytest.fixture
def few():
    """Return rows of three unequal classes."""
    return make_classification(
        300, 5, n_informative=4, n_redundant=0, n_classes=3, weights=[0.6, 0.3], random_state=0
    )


def search(**given):
    return ECSELMClassifier(10, population_size=4, max_epochs=1, random_state=0, **given)


def cut(size, *arrays):
    """Return what yields blocks of rows, with an empty one in front."""
    starts = [0, *range(0, arrays[0].shape[0], size)]
    ends = [0, *(start + size for start in starts[1:])]
    return lambda: (tuple(a[i:j] for a in arrays) for i, j in zip(starts, ends, strict=True))


def assert_close(values, expected):
    """Compare to 1e-8 of the largest."""
    assert_allclose(values, expected, rtol=0, atol=1e-8 * np.abs(expected).max())


@SIZES
@CLASSIFIERS
def test_classifiers_are_those_of_fit(labelled, rng, model, size):
    X, y = labelled
    w = rng.uniform(0.2, 3, len(y))
    whole = clone(model).fit(X, y, sample_weight=w)
    streamed = fit_stream(model, cut(size, X, y, w))
    assert_close(streamed.beta_, whole.beta_)
    assert_close(streamed.predict_proba(X), whole.predict_proba(X))
    assert (streamed.stream_["rows"], streamed.stream_["passes"]) == (400, 2)
    assert not hasattr(model, "beta_")


@SIZES
@pytest.mark.parametrize("model", [ELMRegressor(30, random_state=0), CSELMRegressor(30)], ids=str)
def test_regressors_are_those_of_fit(rng, model, size):
    model = clone(model).set_params(random_state=0)
    X, Y = rng.standard_normal((400, 5)), rng.standard_normal((400, 2))
    for y in (Y, Y[:, 0]):
        whole, streamed = clone(model).fit(X, y), fit_stream(model, cut(size, X, y))
        assert_close(streamed.predict(X), whole.predict(X))


def test_sparse_rows_and_single_precision(labelled):
    X, y = labelled
    thin = sparse.csr_array(np.where(X > 0, X, 0.0))
    model = ELMClassifier(30, random_state=0)
    assert_close(fit_stream(model, cut(90, thin, y)).beta_, clone(model).fit(thin, y).beta_)
    single = X.astype(np.float32)
    streamed, whole = fit_stream(model, cut(90, single, y)), clone(model).fit(single, y)
    assert streamed.beta_.dtype == np.float32
    assert (streamed.predict(single) == whole.predict(single)).mean() > 0.99


def test_a_class_may_come_in_the_last_block_only(labelled):
    X, y = labelled
    order = np.argsort(y, kind="stable")
    X, y = X[order], np.array(["well", "ill", "dead", "gone"])[y[order]]
    whole = WELMClassifier(30, random_state=0).fit(X, y)
    streamed = fit_stream(whole, cut(50, X, y))
    assert_array_equal(streamed.classes_, whole.classes_)
    assert_close(streamed.beta_, whole.beta_)


def test_files_and_lists_of_frames_are_sources(labelled, tmp_path):
    X, y = labelled
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(8)]).assign(y=y)
    frame.to_parquet(tmp_path / "a.parquet")
    layer = RBFSampler(n_components=30, random_state=0)
    outside = ELMClassifier(hidden_layer=layer, random_state=0)
    model = ELMClassifier(30, random_state=0)
    assert_close(
        fit_stream(outside, [frame], target="y").beta_,
        clone(outside).fit(frame.drop(columns="y"), y).beta_,
    )
    whole = clone(model).fit(frame.drop(columns="y"), y)
    for source in (
        tmp_path / "a.parquet",
        open_blocks(tmp_path / "a.parquet", block_rows=60),
        [frame.iloc[:200], frame.iloc[200:]],
    ):
        streamed = fit_stream(model, source, target="y")
        assert_array_equal(streamed.feature_names_in_, whole.feature_names_in_)
        assert_close(streamed.beta_, whole.beta_)


def test_partial_fit_goes_on_where_blocks_ended(labelled):
    X, y = labelled
    model = ELMClassifier(30, scale=None, activation="tanh", random_state=0)
    streamed = fit_stream(model, cut(50, X[:300], y[:300]))
    streamed.partial_fit(X[300:], y[300:])
    assert_close(streamed.beta_, clone(model).fit(X, y).beta_)


@SEARCHES
def test_a_sample_of_all_rows_gives_what_fit_gives(few, given):
    X, y = few
    whole, streamed = search(**given).fit(X, y), fit_stream(search(**given), cut(70, X, y))
    assert_array_equal(streamed.beta_, whole.beta_)
    assert streamed.stream_ == {"rows": 300, "passes": 1, "sampled": 300}


@SEARCHES
def test_refits_on_the_same_rows_change_nothing(labelled, rng, given):
    X, y = labelled
    w = rng.uniform(0.5, 2.0, len(y))
    whole = search(**given).fit(X, y, sample_weight=w)
    again = refit_stream(whole, cut(70, X, y, w))
    assert_close(again.beta_, whole.beta_)
    assert_close(again.predict_proba(X), whole.predict_proba(X))
    assert again.stream_ == {"rows": 400, "passes": 1, "sampled": 0}


@SEARCHES
def test_blocks_do_not_matter_to_a_search_on_a_sample(few, given):
    X, y = few
    small, large = (
        fit_stream(search(**given), cut(n, X, y), max_validation_rows=150) for n in (30, 222)
    )
    assert_allclose(small.class_costs_, large.class_costs_, rtol=1e-12)
    assert_close(small.decision_function(X), large.decision_function(X))
    assert small.stream_ == {"rows": 300, "passes": 2, "sampled": 149}
    assert not hasattr(small, "cost_vector_")


@pytest.mark.parametrize("weighted", [False, True])
@SEARCHES
def test_candidates_are_trained_on_all_rows_as_on_dask(few, rng, given, weighted):
    da = pytest.importorskip("dask.array")
    distributed = pytest.importorskip("distributed")
    from ecselm.dask import DaskECSELMClassifier

    X, y = few
    arrays = (X, y, rng.integers(0, 3, 300).astype(float)) if weighted else (X, y)
    streamed = fit_stream(search(**given), cut(70, *arrays), max_validation_rows=150)
    with distributed.Client(processes=False, dashboard_address=":0") as client:
        model = DaskECSELMClassifier(
            **search(**given).get_params(), max_validation_rows=150, client=client
        ).fit(*(da.from_array(a, chunks=(130, *a.shape[1:])) for a in arrays))
    assert_allclose(streamed.class_costs_, model.class_costs_, rtol=1e-12)
    assert pytest.approx(model.C_, rel=1e-12) == streamed.C_
    assert 149 <= streamed.n_validation_rows_ == model.n_validation_rows_ <= 150
    assert_close(streamed.decision_function(X), model.decision_function(X))
    if given.get("activation") == "radbas":
        assert_close(streamed.beta_, model.beta_)


@SEARCHES
def test_sums_over_all_rows_give_what_fit_gives(few, rng, given):
    """The sample holds all rows, but candidates are trained through sums."""
    X, y = few
    w = rng.integers(0, 3, 300).astype(float)
    whole = search(**given).fit(X, y, w)
    blocks = StreamBlocks(cut(70, X, y, w), None, Passes(2), has_labels=True)
    model = search(**given)
    fit_search(model, blocks, 300)
    assert_allclose(model.class_costs_, whole.class_costs_, rtol=1e-12)
    assert_close(model.decision_function(X), whole.decision_function(X))
    assert_close(model.predict_proba(X), whole.predict_proba(X))


@pytest.mark.parametrize("fitness", ["loo", StratifiedKFold(3)])
def test_searches_that_need_all_rows_see_the_sample_and_are_solved_on_all(few, fitness):
    X, y = few
    model = search(activation="radbas", fitness=fitness)
    streamed = fit_stream(model, cut(70, X, y), max_validation_rows=150)
    assert streamed.stream_ == {"rows": 300, "passes": 2, "sampled": 149}
    again = refit_stream(streamed, cut(110, X, y))
    assert_close(again.beta_, streamed.beta_)


@pytest.mark.parametrize("given", [{}, {"activation": "radbas"}], ids=str)
def test_sparse_rows_can_be_searched_on(few, given):
    X, y = few
    thin = np.where(X > 0, X, 0.0)
    whole = search(**given).fit(sparse.csr_array(thin), y)
    blocks = StreamBlocks(cut(70, sparse.csr_array(thin), y), None, Passes(2), has_labels=True)
    model = search(**given)
    fit_search(model, blocks, 300)
    assert_allclose(model.class_costs_, whole.class_costs_, rtol=1e-12)
    assert_close(model.decision_function(thin), whole.decision_function(thin))
    sampled = fit_stream(
        search(**given), cut(70, sparse.csr_array(thin), y), max_validation_rows=99
    )
    assert sampled.stream_["sampled"] == 99


def test_layers_that_are_fitted_see_the_sample(few):
    X, y = few
    model = search(hidden_layer=Nystroem(n_components=20, random_state=0))
    streamed = fit_stream(model, cut(70, X, y), max_validation_rows=150)
    assert streamed.layer_.n_hidden == 20
    assert streamed.score(X, y) > 0.5


def test_several_targets_can_be_searched_on_a_sample(rng):
    X = rng.standard_normal((300, 3))
    T = np.column_stack([X[:, 0] ** 2, X[:, 1]])
    model = ECSELMRegressor(20, population_size=4, max_epochs=1, random_state=0)
    streamed = fit_stream(model, cut(70, X, T), max_validation_rows=100)
    assert streamed.stream_["passes"] == 4
    assert streamed.score(X, T) > 0.5


def test_scores_that_know_no_weights_are_refused_on_a_sample(few):
    model = search(scoring=lambda model, X, y: model.predict(X).mean())
    with pytest.raises(ValueError, match="scoring must take sample_weight where a sample stands"):
        fit_stream(model, cut(70, *few), max_validation_rows=100)


def test_frames_with_other_columns_are_refused(few):
    X, y = few
    frame = pd.DataFrame(X, columns=list("abcde")).assign(y=y)
    other = frame.rename(columns={"a": "z"})
    with pytest.raises(ValueError, match=r"block 2 must have the columns \['a'"):
        fit_stream(ELMClassifier(), [frame, other], target="y")


def test_refits_refuse_other_columns_and_classes(few):
    X, y = few
    model = search(activation="radbas").fit(X, y)
    with pytest.raises(ValueError, match="X must have 5 columns as in fit, got 3"):
        refit_stream(model, [(X[:, :3], y)])
    with pytest.raises(ValueError, match=r"y must hold only the classes \[0, 1, 2\], got \[9\]"):
        refit_stream(model, [(X, np.where(y == 2, 9, y))])


def test_a_search_on_a_sample_is_solved_on_all_rows(labelled):
    """Of one machine with known costs, the rows of the sample leave no trace but the scale."""
    X, y = labelled
    given = {"activation": "tanh", "scale": None, "C": 8.0, "keep_prior": "always"}
    streamed = fit_stream(search(**given), cut(50, X, y), max_validation_rows=120)
    cost = dict(enumerate(streamed.class_costs_.tolist()))
    machine = WELMClassifier(
        10, weighting=cost, C=8.0, activation="tanh", scale=None, random_state=0
    ).fit(X, y)
    assert_close(streamed.beta_, machine.beta_)


def test_regressors_that_search_are_solved_on_all_rows(rng):
    X = rng.standard_normal((500, 4))
    y = X[:, 0] + X[:, 1] ** 2
    model = ECSELMRegressor(20, population_size=5, max_epochs=1, random_state=0)
    whole = clone(model).fit(X, y)
    assert_close(refit_stream(whole, cut(70, X, y)).beta_, whole.beta_)
    streamed = fit_stream(model, cut(70, X, y), max_validation_rows=200)
    assert streamed.score(X, y) > 0.5
    assert streamed.stream_["passes"] == 3
    assert 200 <= streamed.stream_["sampled"] <= 202  # with both ends of the target


def test_models_can_be_saved_and_refitted(few, tmp_path):
    X, y = few
    streamed = fit_stream(search(keep_prior="always"), cut(50, X, y), max_validation_rows=200)
    save_model(streamed, tmp_path / "m.skops")
    loaded = load_model(tmp_path / "m.skops").model
    assert loaded.stream_ == streamed.stream_
    assert_close(refit_stream(loaded, cut(50, X, y)).beta_, streamed.beta_)


def test_progress_is_reported(labelled):
    X, y = labelled
    reports = []
    fit_stream(ELMClassifier(10), cut(100, X, y), progress=reports.append)
    assert [(one.number, one.n_rows, one.n_total) for one in reports[-2:]] == [
        (2, 300, 400),
        (2, 400, 400),
    ]
    assert {one.n_passes for one in reports} == {2}


def test_memory_is_bounded(rng):
    """Rows of 19 MB are never held: a block, the sums, and a sample to calibrate by are."""
    n_blocks, shape = 240, (500, 20)

    def blocks():
        stream = np.random.default_rng(0)
        for _ in range(n_blocks):
            X = stream.standard_normal(shape)
            yield X, (X[:, 0] > 0).astype(int)

    fit_stream(ELMClassifier(5), blocks)  # what is imported on the way is no part of it
    tracemalloc.start()
    fit_stream(ELMClassifier(10, random_state=0), blocks)
    _, plain = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert plain < 2_000_000 < n_blocks * shape[0] * shape[1] * 8 / 8


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        (np.nan, r"X must hold finite numbers, got nan in block 3, row 18 \(row 218 of all\)"),
        (np.inf, r"X must hold finite numbers, got inf in block 3, row 18 \(row 218 of all\)"),
    ],
)
@pytest.mark.parametrize("model", [ELMClassifier(), search()], ids=["sums", "search"])
def test_bad_values_are_named_by_block_and_row(labelled, model, bad, sentence):
    X, y = labelled
    X = X.copy()
    X[217, 3] = bad
    source = [(X[i : i + 100], y[i : i + 100]) for i in range(0, 400, 100)]
    with pytest.raises(ValueError, match=sentence):
        fit_stream(model, source)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"x1": "many"}, r"column 'x1' must hold finite numbers, got many in block 2, row 3 \(row"),
        ({"x0": None}, r"column 'x0' must hold finite numbers, got None in block 2, row 3"),
        ({"y": None}, r"y must hold a target in every row, got none in block 2, row 3 \(row 53"),
    ],
)
def test_bad_cells_are_named_by_column_block_and_row(labelled, changed, sentence):
    X, y = labelled
    frame = pd.DataFrame(X[:, :2], columns=["x0", "x1"]).assign(y=y)
    for name, value in changed.items():
        frame[name] = frame[name].astype(object)
        frame.loc[52, name] = value
    with pytest.raises(ValueError, match=sentence):
        fit_stream(ELMClassifier(), [frame[:50], frame[50:]], target="y")


def test_a_sample_of_no_rows_is_refused_before_any_is_read():
    with pytest.raises(ValueError, match="max_validation_rows must be at least 1 row, got 0"):
        fit_stream(ECSELMClassifier(), lambda: pytest.fail("was read"), max_validation_rows=0)


def test_what_is_no_source_is_refused(labelled):
    X, y = labelled
    model, pair = ELMClassifier(10), (X[:50], y[:50])
    with pytest.raises(ValueError, match="source must be blocks that can be read again"):
        fit_stream(model, iter([pair]))
    with pytest.raises(ValueError, match="source must hold at least one row, got none"):
        fit_stream(model, [(X[:0], y[:0])])
    with pytest.raises(ValueError, match="block 1 must be a dataframe, or inputs and targets"):
        fit_stream(model, [X])
    with pytest.raises(ValueError, match="block 2 must have 8 columns as those before, got 3"):
        fit_stream(model, [pair, (X[:5, :3], y[:5])])
    with pytest.raises(ValueError, match="block 1 must have as many rows of X as targets"):
        fit_stream(model, [(X, y[:9])])
    with pytest.raises(ValueError, match="block 1 must have 50 weights"):
        fit_stream(model, [(*pair, np.ones(3))])
    with pytest.raises(ValueError, match=r"target must be a column of block 1, got 'Y'"):
        fit_stream(model, [pd.DataFrame(X).assign(y=y)], target="Y")
    with pytest.raises(ValueError, match="y must have at least two classes"):
        fit_stream(model, [(X[y == 0], y[y == 0])])


def test_rows_that_change_between_passes_are_refused(labelled):
    X, y = labelled
    sizes = iter([400, 300])

    def source():
        n = next(sizes)
        return [(X[:n], y[:n])]

    with pytest.raises(ValueError, match="the same in every pass, got 400 of them and then 300"):
        fit_stream(ELMClassifier(10), source)


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (WELMClassifier(kernel="rbf"), "kernel must be None to fit in blocks, got 'rbf'"),
        (KELMClassifier(), "kernel must be None"),
        (search(cost_level="sample"), "cost_level must be 'class' or 'matrix'"),
        (ELMClassifier(ensemble=3), "ensemble must be None to fit in blocks, got 3"),
        (ELMClassifier(C=-1), "'C' parameter"),
        (EELMClassifier(), "estimator must have partial_fit, got EELMClassifier"),
    ],
)
def test_machines_that_need_all_rows_at_once_are_refused(model, sentence):
    with pytest.raises(ValueError, match=sentence):
        fit_stream(model, lambda: pytest.fail("no row may be read"))


def test_other_estimators_are_refused(labelled):
    with pytest.raises(TypeError, match="estimator must be one of ecselm's"):
        fit_stream(CostSearchCV(ELMClassifier()), [labelled])
    with pytest.raises(TypeError, match="fit_stream fits others"):
        refit_stream(ELMClassifier().fit(*labelled), [labelled])
