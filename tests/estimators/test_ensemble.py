"""The ensemble against kernel machines solved one by one."""

import pickle
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics import balanced_accuracy_score
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from threadpoolctl import threadpool_limits

from ecselm import (
    CSELMClassifier,
    CSELMRegressor,
    ECSELMClassifier,
    ELMClassifier,
    ELMRegressor,
    KELMClassifier,
    KELMRegressor,
    WELMClassifier,
)
from ecselm.estimators._ensemble import (
    CLOSE,
    CLOSE_ENOUGH,
    MANY_LAYERS,
    N_MEMBERS,
    PENALTIES,
    VALIDATION_ROWS,
    WIDTHS,
    EnsembleRows,
    EnsembleSize,
    EnsembleSpec,
    LayerSpec,
    automatic_units,
    fit_ensemble,
)
from ecselm.fitness.folds import Groups
from tests.conftest import targets
from tests.layers.test_ranks import literal_scores as scores_of_ranks

K = pytest.mark.parametrize("k", [2, 3])
BUDGET = {"population_size": 4, "max_epochs": 1}
CLASSIFIERS = [
    ELMClassifier(ensemble="auto", random_state=0),
    KELMClassifier(ensemble="auto"),
    WELMClassifier(ensemble="auto", random_state=0),
    CSELMClassifier(ensemble="auto", random_state=0),
    ECSELMClassifier(random_state=0, **BUDGET),
]
REGRESSORS = [
    ELMRegressor(ensemble="auto", random_state=0),
    KELMRegressor(ensemble="auto"),
    CSELMRegressor(ensemble="auto", random_state=0),
]
EVERY_CLASSIFIER = pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda one: type(one).__name__)
EVERY_REGRESSOR = pytest.mark.parametrize("model", REGRESSORS, ids=lambda one: type(one).__name__)
FEW = [("rbf", "standard", 1.0), ("laplacian", "ranks", 0.3), ("rbf", "root", 3.0)]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small fits take no longer beside another process."""
    with threadpool_limits(1):
        yield


def made(k=2, n=60, seed=0):
    """Return rows of k unequal classes that overlap, with inputs of different sizes."""
    X, y = make_classification(
        n,
        4,
        n_informative=4,
        n_redundant=0,
        n_classes=k,
        n_clusters_per_class=1,
        weights=[0.7] if k == 2 else [0.5, 0.3],
        flip_y=0.1,
        random_state=seed + k,
    )
    return X * [1.0, 0.1, 10.0, 1.0], y


def scaled(X, inputs):
    """Return the inputs of a layer."""
    if inputs == "ranks":
        return scores_of_ranks(X)
    std = X.std(axis=0)
    divisors = {"standard": std, "root": np.sqrt(std), "minmax": np.ptp(X, axis=0) / 2}
    centre = X.min(axis=0) + np.ptp(X, axis=0) / 2 if inputs == "minmax" else X.mean(axis=0)
    return X if inputs is None else (X - centre) / divisors[inputs]


def literal_kernel(spec, X):
    """Return the kernel values between the training rows."""
    name, inputs, width = spec
    Z = scaled(X, inputs)
    if name == "laplacian":
        return laplacian_kernel(Z, gamma=np.sqrt(width) / np.abs(Z).sum(axis=1).mean())
    return rbf_kernel(Z, gamma=width / (Z.shape[1] * Z.var()))


def literal_loo(G, T, B, C):
    """Return the scores of rows in machines that are solved without them."""
    scores = np.empty_like(T)
    for i in range(len(T)):
        kept = np.arange(len(T)) != i
        A = np.eye(len(T) - 1) / C + np.diag(B[kept]) @ G[np.ix_(kept, kept)]
        scores[i] = G[i, kept] @ np.linalg.solve(A, B[kept, np.newaxis] * T[kept])
    return scores


def squared_error(scores, T, B):
    return float(B @ np.square(scores - T).mean(axis=1) / B.sum())


def printed_targets(y):
    return targets(y)[:, 1:] if len(np.unique(y)) == 2 else targets(y)


def literal_members(specs, X, T, B, n_members=N_MEMBERS):
    """Return the best candidates ``(error, spec, C)`` of the specs, the best first."""
    found = []
    for spec in specs:
        G = literal_kernel(spec, X)
        found += [(squared_error(literal_loo(G, T, B, C), T, B), spec, C) for C in PENALTIES]
    found = sorted(found, key=lambda one: one[0])[:n_members]
    w = B / B.sum()
    limit = CLOSE * found[0][0] + CLOSE_ENOUGH * (w @ (T - w @ T) ** 2).mean()
    return [one for one in found if one[0] <= limit]


def named(frame):
    return [(one.kernel, one.inputs, one.width, one.C) for one in frame.itertuples()]


def assert_same_members(frame, expected):
    assert set(named(frame)) == {(*spec, C) for _, spec, C in expected}
    assert_allclose(frame["squared_error"], [one[0] for one in expected], rtol=1e-5)


@K
def test_members_are_the_best_of_the_whole_pool(k):
    """Few rows are all centres, so that the first choice of layers is exact as well."""
    X, y = made(k, n=36)
    T, B = printed_targets(y), np.ones(36)
    pool = product(("rbf", "laplacian"), ("standard", "ranks", "root"), WIDTHS)
    layers = []
    for spec in pool:
        G = literal_kernel(spec, X)
        layers.append((min(squared_error(literal_loo(G, T, B, C), T, B) for C in PENALTIES), spec))
    chosen = [spec for _, spec in sorted(layers)[:MANY_LAYERS]]
    model = ELMClassifier(ensemble="auto", random_state=0).fit(X, y)
    assert_same_members(model.members_, literal_members(chosen, X, T, B))
    assert model.solver_ == f"ensemble of {len(model.members_)}"


@K
def test_weights_by_class_are_in_the_errors_and_the_solutions(k):
    X, y = made(k, n=40)
    w1 = 1.0 / np.bincount(y)[y]
    model = WELMClassifier(ensemble=FEW, random_state=0).fit(X, y)
    expected = literal_members(FEW, X, printed_targets(y), w1 / w1.mean())
    assert_same_members(model.members_, expected)


@K
@pytest.mark.parametrize("model", [ELMClassifier(), KELMClassifier()], ids=["ELM", "KELM"])
def test_scores_are_the_plain_mean_over_machines_solved_afresh(model, k):
    X, y = made(k)
    model = clone(model).set_params(ensemble=FEW).fit(X, y)
    T, expected = printed_targets(y), 0.0
    for kernel, inputs, width, C in named(model.members_):
        G = literal_kernel((kernel, inputs, width), X)
        expected = expected + G @ np.linalg.solve(np.eye(len(y)) / C + G, T) / len(model.members_)
    found = model.layer_(X) @ model.beta_
    assert_allclose(found[:, 1:] if k == 2 else found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_target_errors_are_those_of_centred_targets(weighted, rng):
    X = made(n=40)[0]
    Y = np.column_stack([X[:, 0] ** 2 + 5, X[:, 1]]) + 0.1 * rng.standard_normal((40, 2))
    B = rng.uniform(0.5, 2.0, 40) if weighted else np.ones(40)
    B /= B.mean()
    model = CSELMRegressor(ensemble=FEW, random_state=0).fit(X, Y, sample_cost=B)
    mean = B @ Y / B.sum()
    assert_same_members(model.members_, literal_members(FEW, X, Y - mean, B))
    expected = mean
    for kernel, inputs, width, C in named(model.members_):
        G = literal_kernel((kernel, inputs, width), X)
        A = np.eye(40) / C + np.diag(B) @ G
        alpha = np.linalg.solve(A, B[:, np.newaxis] * (Y - mean))
        expected = expected + G @ alpha / len(model.members_)
    assert_allclose(model.predict(X), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("n_hidden", "exact"), [("auto", True), (60, True), (48, True), (20, False)]
)
def test_all_rows_are_centres_while_units_are_about_as_many(n_hidden, exact):
    X, y = made()
    model = ELMClassifier(n_hidden, ensemble=FEW, random_state=0).fit(X, y)
    units = {part.n_hidden for part in model.layer_.parts}
    assert units == {60 if exact else 20}
    if exact:
        kernel_machine = KELMClassifier(ensemble=FEW).fit(X, y)
        assert_allclose(model.predict_proba(X), kernel_machine.predict_proba(X), atol=1e-9)
        errors = kernel_machine.members_["squared_error"]
        assert_allclose(model.members_["squared_error"], errors, rtol=1e-9)


def test_errors_behind_few_centres_are_those_of_machines_without_the_row():
    X, y = made()
    spec = ("rbf", "standard", 1.0)
    model = ELMClassifier(15, ensemble=[spec], C=2.0, scale=None, random_state=0).fit(X, y)
    (part,), T = model.layer_.parts, printed_targets(y)
    Z = scaled(X, "standard")
    gamma = 1.0 / (Z.shape[1] * Z.var())
    assert_allclose(part(X), rbf_kernel(Z, part.rows, gamma=gamma), rtol=1e-9)
    H, G = part(X), rbf_kernel(part.rows, gamma=gamma)
    scores = np.empty_like(T)
    for i in range(60):
        kept = np.arange(60) != i
        A = H[kept].T @ H[kept] + G / 2.0
        scores[i] = H[i] @ np.linalg.solve(A, H[kept].T @ T[kept])
    found = model.members_["squared_error"].item()
    assert_allclose(found, squared_error(scores, T, np.ones(60)), rtol=1e-6)


def test_a_list_of_layers_is_all_there_is_to_choose_from():
    X, y = made()
    model = ELMClassifier(ensemble=[{"kernel": "laplacian", "width": 3}, FEW[1]], random_state=0)
    members = model.fit(X, y).members_
    assert set(named(members)) <= {
        (*spec, C) for spec in [("laplacian", "standard", 3.0), FEW[1]] for C in PENALTIES
    }


def test_an_int_is_the_number_of_members():
    X, y = made()
    three = ELMClassifier(ensemble=3, random_state=0).fit(X, y).members_
    many = ELMClassifier(ensemble="auto", random_state=0).fit(X, y).members_
    assert len(three) == 3
    assert three.equals(many.iloc[:3])
    assert len(many) <= N_MEMBERS


def test_a_stated_C_is_that_of_every_member():
    members = ELMClassifier(ensemble="auto", C=5.0, random_state=0).fit(*made()).members_
    assert set(members["C"]) == {5.0}
    assert len(members) == MANY_LAYERS


def faces(rng, n_people=12, n_views=5, n_pixels=80):
    """Return pictures of people: pixels of one scale, in which each person is a direction."""
    persons = rng.standard_normal((n_people, n_pixels))
    y = np.repeat(np.arange(n_people), n_views)
    return 0.2 * (persons[y] + 0.5 * rng.standard_normal((len(y), n_pixels))), y


def test_a_width_that_is_clearly_worse_has_no_part(rng):
    """Behind a kernel so narrow that every row is alone no row left out is recognised."""
    X, y = faces(rng)
    good, bad = ("rbf", None, 0.1), ("rbf", None, 100.0)
    model = ELMClassifier(ensemble=[good, bad], C=32.0, scale=None, random_state=0).fit(X, y)
    assert named(model.members_) == [(*good, 32.0)]
    alone = ELMClassifier(ensemble=[bad], C=32.0, scale=None, random_state=0).fit(X, y)
    best, worst = (one.members_["squared_error"].item() for one in (model, alone))
    assert worst > CLOSE * best + CLOSE_ENOUGH


def test_the_scale_of_the_estimator_is_that_of_the_layers():
    X, y = made()
    own = ELMClassifier(ensemble="auto", scale=None, random_state=0).fit(X, y).members_
    assert set(own["inputs"].dropna()) <= {"ranks"}


@pytest.mark.parametrize("inputs", ["standard", "root", "ranks", "minmax", None])
def test_inputs_are_scaled_as_they_are_named(inputs):
    X, y = made()
    spec = ("laplacian", inputs, 0.5)
    model = ELMClassifier(ensemble=[spec], C=1.0, random_state=0).fit(X, y)
    assert_allclose(model.layer_(X), literal_kernel(spec, X), rtol=1e-7, atol=1e-9)


# Sizes


@pytest.mark.parametrize("n_rows", [30, 500, 501, 5_000, 100_000])
@pytest.mark.parametrize("memory", [2**16, 2**24, 2**28, 2**40])
def test_sizes_keep_to_the_memory(n_rows, memory):
    m = 3
    size = EnsembleSize.of("auto", n_rows, m, N_MEMBERS, memory)
    free = EnsembleSize.of("auto", n_rows, m, N_MEMBERS, 2**60)
    assert size.n_units <= free.n_units
    assert size.n_validation <= free.n_validation <= min(n_rows, VALIDATION_ROWS)
    path = 8 * (size.n_units**2 + size.n_validation * size.n_units)
    assert size.n_units <= 10 or path <= memory
    assert size.n_layers == free.n_layers


def test_sizes_grow_with_rows_and_classes():
    units = [automatic_units(n, m) for n, m in [(100, 1), (30_000, 1), (30_000, 10), (10**7, 1)]]
    assert units == sorted(units)
    assert units[-1] == 2000


def test_little_memory_makes_a_smaller_ensemble_that_works():
    X, y = made(n=200)
    model = ECSELMClassifier(memory_limit="200 KiB", random_state=0, **BUDGET).fit(X, y)
    units = {part.n_hidden for part in model.layer_.parts}
    assert max(units) < 200
    assert balanced_accuracy_score(y, model.predict(X)) > 0.7


def test_few_validation_rows_are_a_sample_of_every_class(rng):
    rows = ensemble_rows(*made(3, n=400))
    found = rows.sample(40, np.arange(400), rng)
    assert_array_equal(found, np.unique(found))
    counts, all_counts = np.bincount(rows.strata[found]), np.bincount(rows.strata)
    assert_array_equal(counts, np.ceil(all_counts / 10))


def test_a_sample_of_validation_rows_has_whole_groups(rng):
    X, y = made(n=400)
    who = rng.integers(0, 100, 400)
    rows = ensemble_rows(X, y, groups=Groups.of_labels(who))
    found = rows.sample(60, np.arange(400), rng)
    assert 40 < len(found) <= 60
    assert not set(who[found]) & set(np.delete(who, found))


def test_a_sample_of_groups_is_not_known_from_their_other_rows(monkeypatch, rng):
    """Labels are random, but the same within a group of rows that are nearly equal."""
    monkeypatch.setattr("ecselm.estimators._ensemble.VALIDATION_ROWS", 200)
    who = np.repeat(np.arange(100), 8)
    X = rng.standard_normal((100, 3))[who] + 0.01 * rng.standard_normal((800, 3))
    y = rng.integers(0, 2, 100)[who]
    found = members_of(ensemble_rows(X, y, groups=Groups.of_labels(who)))
    assert len(found.positions) == 200
    assert found.members[0].squared_error > 0.9


# Invariances


def ensemble_rows(X, y, **given):
    return EnsembleRows(X, printed_targets(y), np.ones(len(y)), y, **given)


def members_of(rows, n_hidden="auto", spec=FEW, memory=2**30):
    rng = np.random.default_rng(0)
    return fit_ensemble(rows, EnsembleSpec.of(spec), n_hidden, PENALTIES, rng, memory)


@pytest.mark.parametrize("n_hidden", ["auto", 12])
def test_groups_are_left_out_together(n_hidden):
    """A row that is there twice is known, unless both are left out."""
    X, y = made()
    X, y = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    groups = Groups.of_labels(np.repeat(np.arange(60), 2).tolist())
    spec = [("rbf", "standard", 1.0)]
    one_by_one = members_of(ensemble_rows(X, y), n_hidden, spec)
    together = members_of(ensemble_rows(X, y, groups=groups), n_hidden, spec)
    assert one_by_one.members[0].squared_error < 0.9 * together.members[0].squared_error


def test_left_out_groups_are_those_of_machines_without_them():
    X, y = made()
    T, C = printed_targets(y), 4.0
    codes = KMeans(12, n_init=1, random_state=0).fit_predict(scaled(X, "standard"))
    rows = ensemble_rows(X, y, groups=Groups.of_labels(codes.tolist()))
    spec = EnsembleSpec.of([FEW[0]])
    found = fit_ensemble(rows, spec, "auto", [C], np.random.default_rng(0), 2**30)
    G, expected = literal_kernel(FEW[0], X), np.empty_like(T)
    for code in range(12):
        out, kept = np.flatnonzero(codes == code), np.flatnonzero(codes != code)
        A = np.eye(len(kept)) / C + G[np.ix_(kept, kept)]
        expected[out] = G[np.ix_(out, kept)] @ np.linalg.solve(A, T[kept])
    assert_allclose(found.loo_scores, expected, rtol=1e-4, atol=1e-5)  # kept in float32


@EVERY_CLASSIFIER
@pytest.mark.parametrize("n_hidden", ["auto", 20])
def test_order_of_rows_does_not_matter(model, n_hidden, rng):
    X, y = made(3, n=120)
    if "n_hidden" in model.get_params():
        model = clone(model).set_params(n_hidden=n_hidden)
    order = rng.permutation(len(y))
    one, other = clone(model).fit(X, y), clone(model).fit(X[order], y[order])
    assert named(one.members_) == named(other.members_)
    assert_allclose(other.predict_proba(X), one.predict_proba(X), atol=1e-5)


@EVERY_CLASSIFIER
def test_the_scale_of_weights_does_not_choose_the_members(model):
    """A row is left out with all of its weight: were a part left in, it would predict itself."""
    X, y = made(3, n=100)
    plain = clone(model).fit(X, y)
    weighed = clone(model).fit(X, y, sample_weight=np.full(len(y), 4.0))
    errors = plain.members_["squared_error"], weighed.members_["squared_error"]
    assert_allclose(errors[1].min(), errors[0].min(), rtol=0.1)
    assert (weighed.predict(X) == plain.predict(X)).mean() > 0.9


@EVERY_CLASSIFIER
def test_rows_of_weight_zero_are_as_if_they_were_not_there(model, rng):
    X, y = made(3, n=100)
    used = rng.random(len(y)) < 0.8
    weighed = clone(model).fit(X, y, sample_weight=used.astype(float))
    without = clone(model).fit(X[used], y[used])
    assert named(weighed.members_) == named(without.members_)
    assert_allclose(weighed.predict_proba(X), without.predict_proba(X), atol=1e-4)


@K
def test_number_of_jobs_does_not_matter(k):
    X, y = made(k)
    one, two = (ECSELMClassifier(n_jobs=n, random_state=0, **BUDGET).fit(X, y) for n in (1, 2))
    assert_array_equal(one.beta_, two.beta_)
    assert one.members_.equals(two.members_)
    assert_array_equal(one.cost_matrix_, two.cost_matrix_)
    assert (one.gain_, one.gain_std_error_) == (two.gain_, two.gain_std_error_)


@EVERY_CLASSIFIER
def test_same_seed_same_ensemble(model):
    X, y = made()
    first, again = (clone(model).fit(X, y) for _ in range(2))
    assert_array_equal(first.beta_, again.beta_)
    assert_array_equal(first.predict_proba(X), again.predict_proba(X))


def test_another_seed_draws_other_centres():
    X, y = made(n=120)
    one, other = (ELMClassifier(20, ensemble=FEW, random_state=s).fit(X, y) for s in range(2))
    assert np.abs(one.predict_proba(X) - other.predict_proba(X)).max() > 1e-3


# Input


@pytest.mark.parametrize("fitted_as", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_rows_mean_the_same_dense_and_sparse(fitted_as):
    X, y = made()
    X = np.where(np.abs(X) > 0.3, X, 0.0)
    model = ELMClassifier(ensemble="auto", random_state=0).fit(fitted_as(X), y)
    sparse_rows = model.predict_proba(sparse.csr_array(X))
    assert_allclose(sparse_rows, model.predict_proba(X), atol=1e-7)


@EVERY_CLASSIFIER
def test_sparse_rows_are_not_ranked(model):
    X, y = made(n=100)
    X = np.where(np.abs(X) > 0.3, X, 0.0)
    model = clone(model).fit(sparse.csr_array(X), y)
    assert "ranks" not in set(model.members_["inputs"])
    assert balanced_accuracy_score(y, model.predict(sparse.csr_array(X))) > 0.7


def test_sparse_and_dense_rows_have_the_same_members_without_ranks():
    X, y = made()
    X = np.where(np.abs(X) > 0.3, X, 0.0)
    layers = [FEW[0], FEW[2], ("laplacian", "standard", 1.0)]
    one, other = (
        ELMClassifier(ensemble=layers, random_state=0).fit(as_rows(X), y)
        for as_rows in (np.asarray, sparse.csr_array)
    )
    rbf = one.members_["kernel"] == "rbf"  # mean distances of Laplacians are to other centres
    same = [each for each in named(one.members_[rbf]) if each in named(other.members_)]
    assert same


@EVERY_CLASSIFIER
def test_float32_rows_are_taken(model):
    X, y = made(3, n=100)
    small = clone(model).fit(X.astype(np.float32), y)
    large = clone(model).fit(X.astype(np.float32).astype(np.float64), y)
    assert small.beta_.dtype == np.float32
    P = small.predict_proba(X.astype(np.float32))
    assert_allclose(P, large.predict_proba(X.astype(np.float32).astype(float)), atol=0.02)


@EVERY_CLASSIFIER
def test_what_tells_nothing_apart_gives_the_class_shares(model):
    X, y = np.ones((60, 2)), np.repeat([0, 1], [40, 20])
    P = clone(model).fit(X, y).predict_proba(X)
    assert_allclose(P, np.tile([2 / 3, 1 / 3], (60, 1)), atol=0.02)


@EVERY_CLASSIFIER
def test_a_class_of_one_row_is_borne(model):
    X, y = made()[0], np.append(1, np.zeros(59, dtype=int))
    assert np.isfinite(clone(model).fit(X, y).predict_proba(X)).all()


# Decisions and attributes


@K
def test_largest_probability_is_predicted_where_nothing_costs(k):
    X, y = made(k)
    for model in (CLASSIFIERS[0], CLASSIFIERS[1], CLASSIFIERS[3]):
        fitted = clone(model).fit(X, np.array(["a", "b", "c"])[y])
        P = fitted.predict_proba(X)
        assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)
        assert_array_equal(fitted.classes_[P.argmax(axis=1)], fitted.predict(X))


@K
def test_class_weights_decide_with_the_probabilities(k):
    X, y = made(k)
    model = WELMClassifier(ensemble="auto", random_state=0).fit(X, y)
    weighed = model.predict_proba(X) / np.bincount(y)
    assert_array_equal(weighed.argmax(axis=1), model.predict(X))


@EVERY_CLASSIFIER
def test_decision_function_is_largest_for_the_prediction(model):
    for k in (2, 3):
        X, y = made(k)
        fitted = clone(model).fit(X, y)
        scores = fitted.decision_function(X)
        assert_array_equal(scores > 0 if k == 2 else scores.argmax(axis=1), fitted.predict(X))


@EVERY_CLASSIFIER
def test_a_pickled_ensemble_is_the_same(model):
    X, y = made()
    fitted = clone(model).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
    assert again.members_.equals(fitted.members_)


@EVERY_REGRESSOR
def test_targets_are_predicted(model, rng):
    X = rng.standard_normal((200, 3))
    y = np.sin(X[:, 0]) + X[:, 1] + 100.0
    fitted = clone(model).fit(X[:150], y[:150])
    assert fitted.score(X[150:], y[150:]) > 0.9
    assert fitted.beta_[-1] == pytest.approx(y[:150].mean())


@EVERY_REGRESSOR
def test_the_mean_is_predicted_far_from_all_rows(model, rng):
    X, y = rng.standard_normal((50, 3)), rng.standard_normal(50) + 7.0
    fitted = clone(model).set_params(ensemble=[FEW[0]]).fit(X, y)
    assert_allclose(fitted.predict(1e6 * X[:5]), y.mean(), rtol=1e-12)


@EVERY_REGRESSOR
def test_two_targets_are_predicted(model, rng):
    X = rng.standard_normal((100, 2))
    Y = np.column_stack([X[:, 0], -(X[:, 1] ** 2)])
    assert clone(model).fit(X, Y).predict(X).shape == (100, 2)


def test_one_layer_has_no_members():
    model = ELMClassifier(10, random_state=0)
    with pytest.raises(NotFittedError):
        model.members_  # noqa: B018
    model.fit(*made())
    assert not hasattr(model, "members_")
    with pytest.raises(AttributeError, match="members_ is there only for an ensemble"):
        model.members_  # noqa: B018


@pytest.mark.parametrize("parameters", [{"activation": "radbas"}, {"kernel": "rbf"}], ids=str)
def test_a_layer_of_the_users_is_the_only_one(parameters):
    model = ECSELMClassifier(10, random_state=0, **BUDGET, **parameters).fit(*made())
    assert not hasattr(model, "members_")


# Refusals


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (ELMClassifier(ensemble="auto", hidden_layer=Nystroem()), "hidden_layer must be None"),
        (CSELMClassifier(ensemble="auto", kernel="rbf"), "kernel must not be given"),
        (KELMClassifier(ensemble="auto", kernel="precomputed"), "kernel must not be given"),
        (KELMClassifier(ensemble="auto", kernel=rbf_kernel), "kernel must not be given"),
        (ECSELMClassifier(ensemble=5, kernel="rbf"), "kernel must not be given"),
        (ECSELMClassifier(ensemble=5, cost_level="sample"), "ensemble must be None where costs"),
        (ECSELMClassifier(fitness="cv"), "fitness must be 'auto' or 'loo' with an ensemble"),
        (ECSELMClassifier(fitness=3), "fitness must be 'auto' or 'loo' with an ensemble"),
        (ELMClassifier(ensemble=[]), "at least one layer, got an empty list"),
        (ELMClassifier(ensemble=0), "'ensemble' parameter"),
        (ELMClassifier(ensemble="most"), "'ensemble' parameter"),
        (ELMClassifier(ensemble=[("poly", None, 1.0)]), "kernel of a layer must be one of"),
        (ELMClassifier(ensemble=[("rbf", "log", 1.0)]), "inputs of a layer must be one of"),
        (ELMClassifier(ensemble=[("rbf", None, 0.0)]), "width of a layer must be a positive"),
        (ELMClassifier(ensemble=[("rbf", None, "1")]), "width of a layer must be a positive"),
        (ELMClassifier(ensemble=[{"gamma": 1.0}]), "must state kernel, inputs and width"),
        (ELMClassifier(ensemble=[3]), "must state kernel, inputs and width"),
    ],
)
def test_what_contradicts_an_ensemble_is_refused(model, message):
    X, y = made()
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


def test_ranks_alone_cannot_take_sparse_rows():
    X, y = made()
    with pytest.raises(ValueError, match="for sparse X, got none"):
        ELMClassifier(ensemble=[FEW[1]]).fit(sparse.csr_array(X), y)


@EVERY_CLASSIFIER
def test_an_ensemble_learns_all_rows_at_once(model):
    with pytest.raises(AttributeError):
        clone(model).partial_fit(*made(), classes=[0, 1])


def test_layers_are_read_from_mappings_and_sequences():
    assert LayerSpec.of(("rbf",)) == LayerSpec("rbf", "standard", 1.0)
    assert LayerSpec.of({"inputs": None, "width": 2}) == LayerSpec("rbf", None, 2.0)
