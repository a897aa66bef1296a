"""The committee of the default classifier against machines solved one by one."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.linalg import pinvh
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.metrics import balanced_accuracy_score
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from ecselm import ECSELMClassifier
from ecselm.estimators import FewCasesWarning
from ecselm.estimators._ensemble import N_MEMBERS, CandidatePool, Ensemble, Evaluated, score_std
from ecselm.fitness import CostedRows
from ecselm.layers import LayerUnion
from tests.conftest import targets
from tests.estimators.literal import Splitter, out_of_fold, printed_alpha, printed_beta
from tests.estimators.test_thresholds import literal_cut, literal_cuts
from tests.layers.test_ranks import literal_scores as scores_of_ranks

K = pytest.mark.parametrize("k", [2, 3])


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Small fits take no longer beside another process."""
    with threadpool_limits(1):
        yield


def made(k=2, n=90, weights=None, seed=0):
    """Return rows of k unequal classes that overlap."""
    shares = [0.5] + [0.5 / (k - 1)] * (k - 1) if k > 2 else [0.7, 0.3]
    return make_classification(
        n,
        4,
        n_informative=4,
        n_redundant=0,
        n_classes=k,
        n_clusters_per_class=1,
        weights=weights or shares,
        flip_y=0.1,
        random_state=seed + k,
    )


def committee(**given):
    defaults = {"n_hidden": 8, "population_size": 6, "max_epochs": 1, "random_state": 0}
    return ECSELMClassifier(**{**defaults, "scoring": "gmean", **given})


def member_costs(model):
    return model.members_.iloc[:, 3:].to_numpy()


def parts_of(model):
    """Return kind, width and layer of every part, with C and costs of the members behind it."""
    frame = model.members_
    names = list(dict.fromkeys(zip(frame["layer"], frame["width"], strict=True)))
    for (kind, width), part in zip(names, model.layer_.parts, strict=True):
        mine = frame[(frame["layer"] == kind) & (frame["width"] == width)]
        yield kind, width, part, mine.iloc[:, 2:].to_numpy()


def printed_targets(y):
    return targets(y)[:, 1:] if len(np.unique(y)) == 2 else targets(y)


def cut_and_size(held_out, y, *, cuts):
    """Return what a committee subtracts from its mean scores, and what it multiplies them by."""
    cut = np.zeros(held_out.shape[1])
    if cuts:
        two = held_out.shape[1] == 1
        cut = np.array([literal_cut(held_out[:, 0], y)]) if two else literal_cuts(held_out, y)
    Z, T = held_out - cut, printed_targets(y)
    return cut, np.sum(Z * T) / np.sum(Z * Z)


def splits_of(X, y):
    return list(StratifiedKFold(3).split(X, y))


def assert_as_printed(found, expected, rtol=1e-6):
    assert_allclose(found, expected, atol=rtol * np.abs(expected).max(), rtol=rtol)


@K
@pytest.mark.parametrize("keeps", [False, True], ids=["learned", "prior"])
def test_output_weights_are_the_mean_over_members_solved_afresh(k, keeps):
    X, y = made(k)
    kept = "always" if keeps else False
    model = committee(fitness=Splitter(splits_of), smoothing=0.0, keep_prior=kept).fit(X, y)
    assert model.keeps_prior_ is keeps
    T, betas, held_out = printed_targets(y), [], 0.0
    for *_, part, members in parts_of(model):
        H, beta = part(X), 0.0
        for C, *costs in members:
            B = np.array(costs)[y]
            Z, judged = out_of_fold(H, T, B, C, splits_of(X, y))
            beta = beta + printed_beta(H, T, B, C) / Z.std() / len(model.members_)
            held_out = held_out + Z / Z.std() / len(model.members_)
        betas.append(beta)
    cut, size = cut_and_size(held_out, y[judged], cuts=not keeps)
    expected = size * np.vstack([*betas, -cut[np.newaxis]])
    assert_as_printed(model.beta_, np.hstack([-expected, expected]) if k == 2 else expected)


def literal_kernel(kind, width, part, X, rows):
    """Return the kernel between rows behind a layer, from its landmarks alone; X has all rows."""
    if kind == "tanh":
        return part(rows) @ part(X).T
    Z = scores_of_ranks(X) if kind == "ranks" else StandardScaler().fit_transform(X)
    kernel = laplacian_kernel if kind == "laplacian" else rbf_kernel
    gamma = width / (X.shape[1] * Z.var())
    landmarks = part.kernel.rows
    inverse = pinvh(kernel(landmarks, gamma=gamma), rtol=1e-10)
    near = kernel(Z, landmarks, gamma=gamma)
    return near @ inverse @ near.T


@K
def test_scores_are_the_mean_over_kernel_machines_solved_afresh(k):
    """Nystroem's kernel knows nothing of how the units behind it are turned."""
    X, y = made(k, n=80)
    model = committee(fitness=Splitter(splits_of), smoothing=0.0, keep_prior=False).fit(X, y)
    T, scores, held_out = printed_targets(y), 0.0, 0.0
    for kind, width, part, members in parts_of(model):
        G = literal_kernel(kind, width, part, X, X)
        for C, *costs in members:
            B = np.array(costs)[y]
            Z, judged = out_of_fold(G, T, B, C, splits_of(X, y), solve=printed_alpha)
            scores = scores + G @ printed_alpha(G, T, B, C) / Z.std() / len(model.members_)
            held_out = held_out + Z / Z.std() / len(model.members_)
    cut, size = cut_and_size(held_out, y[judged], cuts=True)
    expected = size * (scores - cut)
    found = model.decision_function(X)
    assert_as_printed(found.reshape(expected.shape), expected, rtol=1e-4)


@K
def test_members_are_the_best_of_every_kind(k):
    model = committee().fit(*made(k))
    assert (model.members_["layer"].value_counts() <= N_MEMBERS).all()
    assert set(model.members_["layer"]) == {"rbf", "laplacian", "ranks", "tanh"}
    assert model.solver_ == f"ensemble of {len(model.members_)}"
    assert model.layer_.n_hidden == len(model.beta_)


@pytest.mark.parametrize(
    "given",
    [{"weights": [0.5, 0.5]}, {"weights": [0.5, 0.5], "cost_order": [(0, 1)]}, {}],
    ids=["equal classes", "equal classes in order", "unequal classes"],
)
def test_no_machine_is_a_member_twice(given):
    X, y = make_classification(80, 4, n_informative=4, n_redundant=0, flip_y=0, random_state=0)
    if not given.pop("weights", None):
        X, y = X[20:], y[20:]
    frame = committee(max_epochs=0, keep_prior=False, **given).fit(X, y).members_
    strengths = np.log(frame.iloc[:, 3:].to_numpy() * frame[["C"]].to_numpy()).round(6)
    names = zip(frame["layer"], frame["width"], strengths.tolist(), strict=True)
    found = [(kind, width, *strength) for kind, width, strength in names]
    # What the search has found last may be the best of what it began with.
    assert len(found) - len(set(found)) <= 1


def test_equal_classes_have_a_verdict_too():
    """All powers of W1 are the same costs, and these are the prior."""
    X, _ = made()
    model = committee().fit(X, np.arange(90) % 2)
    assert np.isfinite([model.gain_, model.gain_std_error_]).all()


def test_order_is_obeyed_by_every_member():
    X, y = made(3)
    model = committee(cost_order=[(0, 1), (1, 2)], max_epochs=2).fit(X, y)
    costs = np.vstack([member_costs(model), model.class_costs_])
    assert (costs[:, :-1] >= 1.01 * costs[:, 1:] * (1 - 1e-9)).all()


def test_fixed_costs_are_those_of_every_member_up_to_scale():
    X, y = made(3)
    model = committee(fixed_costs={0: 2.0, 2: 5.0}).fit(X, y)
    assert_array_equal(model.class_costs_[[0, 2]], [2.0, 5.0])
    costs = member_costs(model)
    assert_allclose(costs[:, 2] / costs[:, 0], 2.5, rtol=1e-9)


def test_intervals_hold_every_member_up_to_scale():
    X, y = made()
    model = committee(fixed_costs={0: 1.0}, cost_intervals={1: (3.0, 4.0)}).fit(X, y)
    assert model.class_costs_[0] == 1.0
    assert 3.0 <= model.class_costs_[1] <= 4.0
    ratios = np.divide(*member_costs(model).T[::-1])
    assert ratios.min() >= 3.0 - 1e-9
    assert ratios.max() <= 4.0 + 1e-9


@K
def test_a_prior_that_is_kept_is_w1_for_the_gmean(k):
    X, y = made(k, n=120)
    model = committee(keep_prior="always").fit(X, y)
    assert model.keeps_prior_
    w1 = len(y) / (k * np.bincount(y))
    assert_allclose(model.class_costs_, w1, rtol=1e-9)
    assert_allclose(member_costs(model), np.tile(w1, (len(model.members_), 1)), rtol=1e-9)
    assert_array_equal(model.beta_[-1], 0.0)  # its scores are not cut


def test_random_labels_seldom_change_costs_for_the_accuracy(rng):
    kept = []
    for seed in range(4):
        X, y = rng.standard_normal((100, 3)), rng.permutation(np.repeat([0, 1], [70, 30]))
        kept.append(committee(scoring=None, random_state=seed).fit(X, y).keeps_prior_)
    assert sum(kept) >= 3


def test_random_labels_are_predicted_at_chance(rng):
    found = []
    for seed in range(3):
        X, y = rng.standard_normal((100, 3)), rng.permutation(np.repeat([0, 1], [70, 30]))
        model = committee(random_state=seed).fit(X, y)
        truth = rng.permutation(np.repeat([0, 1], [700, 300]))
        found.append(balanced_accuracy_score(truth, model.predict(rng.standard_normal((1000, 3)))))
    assert_allclose(found, 0.5, atol=0.06)


def test_without_keep_prior_the_prior_is_never_kept(rng):
    X, y = made()
    for labels in (y, rng.permutation(y)):
        model = committee(keep_prior=False).fit(X, labels)
        assert model.keeps_prior_ is False
        assert np.isnan([model.gain_, model.gain_std_error_]).all()
        assert len(np.unique(member_costs(model).round(9), axis=0)) > 1


def test_few_rows_are_warned_of_where_the_prior_is_kept(rng):
    X, y = rng.standard_normal((60, 3)), rng.permutation(np.repeat([0, 1], [50, 10]))
    with pytest.warns(FewCasesWarning, match="smallest class has 10 rows, fewer than 17"):
        model = committee().fit(X, y)
    assert model.keeps_prior_
    committee(keep_prior=False).fit(X, y)  # without a word


def test_what_is_no_function_of_counts_keeps_no_prior():
    model = committee(C=1.0, scoring=lambda model, X, y: model.score(X, y)).fit(*made(n=60))
    assert model.keeps_prior_ is False
    assert np.isnan(model.gain_)


@K
def test_number_of_jobs_does_not_matter(k):
    X, y = made(k)
    one, two = (committee(n_jobs=n).fit(X, y) for n in (1, 2))
    assert_array_equal(one.beta_, two.beta_)
    assert one.members_.equals(two.members_)
    assert (one.gain_, one.gain_std_error_) == (two.gain_, two.gain_std_error_)


def test_same_seed_same_committee_and_another_one_another():
    X, y = made()
    first, again = (committee().fit(X, y) for _ in range(2))
    assert_array_equal(first.decision_function(X), again.decision_function(X))
    other = committee(random_state=1).fit(X, y)
    assert np.abs(first.decision_function(X) - other.decision_function(X)).max() > 1e-3


@K
def test_order_of_rows_does_not_matter(k, rng):
    X, y = made(k)
    order = rng.permutation(len(y))
    one, other = committee().fit(X, y), committee().fit(X[order], y[order])
    assert_as_printed(other.decision_function(X), one.decision_function(X))
    assert_allclose(other.gain_std_error_, one.gain_std_error_, rtol=1e-6)


@K
def test_a_row_of_weight_two_is_a_row_twice_and_of_weight_zero_none(k, rng):
    X, y = made(k)
    times = rng.integers(0, 4, len(y))
    weighed = committee(keep_prior=False).fit(X, y, sample_weight=times.astype(float))
    X_times, y_times = np.repeat(X, times, axis=0), np.repeat(y, times)
    repeated = committee(keep_prior=False).fit(X_times, y_times)
    assert_as_printed(weighed.decision_function(X), repeated.decision_function(X))
    assert_allclose(weighed.predict_proba(X), repeated.predict_proba(X), atol=1e-6)


def test_gain_counts_weights_as_repeated_rows(rng):
    X, y = made(seed=1)
    times = rng.integers(1, 4, len(y))
    weighed = committee().fit(X, y, sample_weight=times.astype(float))
    repeated = committee().fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert_allclose(weighed.gain_, repeated.gain_, rtol=1e-6)


def test_a_resumed_search_ends_with_the_same_committee(tmp_path):
    X, y = made()
    path = tmp_path / "search.npz"
    whole = committee(max_epochs=3).fit(X, y)
    committee(max_epochs=1, checkpoint=path).fit(X, y)
    resumed = committee(max_epochs=3, checkpoint=path).fit(X, y)
    assert_array_equal(resumed.beta_, whole.beta_)
    assert_array_equal(resumed.class_costs_, whole.class_costs_)
    assert resumed.members_.equals(whole.members_)
    assert resumed.history_.equals(whole.history_)


def test_memory_for_nothing_makes_the_same_committee():
    X, y = made(n=60)
    rich, poor = committee(C=1.0).fit(X, y), committee(C=1.0, memory_limit=1000).fit(X, y)
    assert_as_printed(poor.decision_function(X), rich.decision_function(X))


def test_a_pickled_committee_is_the_same():
    X, y = made(3)
    model = committee().fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert again.members_.equals(model.members_)


@K
def test_probabilities_agree_with_predictions(k):
    X, y = made(k)
    model = committee().fit(X, np.array(["a", "b", "c"])[y])
    P = model.predict_proba(X)
    assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)
    assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))
    assert list(model.members_)[3:] == [f"cost of {label}" for label in "abc"[:k]]


def test_rows_to_predict_do_not_matter_to_each_other(rng):
    X, y = made()
    model, beta = committee().fit(X, y), committee().fit(X, y).beta_
    alone = np.concatenate([model.decision_function(row[np.newaxis]) for row in X[:5]])
    crowd = np.vstack([X[:5], 1e3 * rng.standard_normal((50, 4))])
    assert_allclose(model.decision_function(crowd)[:5], alone, rtol=1e-9)
    assert_array_equal(model.beta_, beta)


@K
def test_sparse_rows_are_taken(k):
    X, y = made(k)
    X = np.where(np.abs(X) > 0.7, X, 0.0)
    model = committee().fit(sparse.csr_array(X), y)
    assert set(model.members_["layer"]) == {"rbf", "laplacian", "tanh"}
    assert balanced_accuracy_score(y, model.predict(sparse.csr_array(X))) > 1 / k + 0.2


@pytest.mark.parametrize("fitted_as", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_rows_mean_the_same_dense_and_sparse(fitted_as):
    X, y = made()
    X = np.where(np.abs(X) > 0.7, X + 3.0, 0.0)
    model = committee().fit(fitted_as(X), y)
    assert_as_printed(model.decision_function(sparse.csr_array(X)), model.decision_function(X))


@K
def test_float32_rows_are_taken(k):
    X, y = made(k)
    small = committee().fit(X.astype(np.float32), y)
    large = committee().fit(X.astype(np.float32).astype(np.float64), y)
    assert small.beta_.dtype == np.float32
    agree = small.predict(X.astype(np.float32)) == large.predict(X)
    assert agree.mean() > 0.95


def test_a_committee_of_what_tells_nothing_apart_is_finite():
    X, y = np.ones((60, 2)), np.repeat([0, 1], [40, 20])
    model = committee(fitness="train").fit(X, y)
    P = model.predict_proba(X)
    assert np.isfinite(P).all()
    assert_allclose(P, np.tile(P[0], (60, 1)), rtol=1e-9)


def test_a_class_that_nobody_judges_is_borne():
    """The only row of a class is trained on."""
    X, y = made()[0], np.append(1, np.zeros(89, dtype=int))
    model = committee(fitness="holdout", scoring=None).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize(
    "given",
    [{"activation": "radbas"}, {"kernel": "rbf"}, {"cost_level": "matrix"}],
    ids=str,
)
def test_a_single_machine_has_no_members(given):
    model = committee(**given)
    with pytest.raises(NotFittedError):
        model.members_  # noqa: B018
    model.fit(*made())
    assert not hasattr(model, "members_")
    with pytest.raises(AttributeError, match="only for an ensemble, activation='auto'"):
        model.members_  # noqa: B018


def judged(layer, kind, losses, from_prior=None):
    points = 10.0 * layer + np.arange(len(losses))[:, np.newaxis]
    priors = np.zeros(len(losses), bool) if from_prior is None else np.array(from_prior)
    return Evaluated(
        layer, kind, points, np.array(losses, float), priors, np.empty((0, len(losses)))
    )


def chosen(members):
    return {one.layer: one.points[:, 0].tolist() for one in members}


def test_pool_takes_the_best_of_every_kind_layer_by_layer():
    many = np.arange(N_MEMBERS, 0.0, -1.0)
    pool = CandidatePool(
        [judged(0, "a", [99, 0.5]), judged(1, "a", many), judged(2, "b", [100, 50])]
    )
    # The losses of a are 0.5, 1 to 20, and 99: the last two are beyond the best of it.
    best = [10.0 + i for i in range(N_MEMBERS - 1, 0, -1)]
    assert chosen(pool.members()) == {0: [1.0], 1: best, 2: [21.0, 20.0]}
    assert pool.best.layer == 0


def test_pool_never_takes_what_could_not_be_judged():
    pool = CandidatePool([judged(0, "a", [np.inf, 1]), judged(1, "b", [np.inf, np.inf])])
    assert chosen(pool.members()) == {0: [1.0]}


def test_pool_of_priors_holds_nothing_else():
    pool = CandidatePool(
        [judged(0, "a", [0, 1], [False, True]), judged(1, "b", [3, 2], [True, False])]
    )
    assert pool.has_prior
    assert chosen(pool.members(of_prior=True)) == {0: [1.0], 1: [10.0]}
    assert_array_equal(pool.best_prior, [1.0])
    assert not CandidatePool([judged(0, "a", [0])]).has_prior


def test_what_a_search_finds_stands_beside_its_layer():
    pool = CandidatePool([judged(0, "a", [4]), judged(3, "b", [5])])
    pool.add_found(np.array([77.0]), 1.0)
    assert chosen(pool.members()) == {0: [77.0, 0.0], 3: [30.0]}
    assert not pool.has_prior


def test_loudness_is_the_spread_of_all_scores(rng):
    scores, times = rng.standard_normal((3, 20, 2)), rng.integers(1, 4, 20)
    assert_allclose(score_std(scores, None), scores.std(axis=(1, 2)), rtol=1e-12)
    repeated = np.repeat(scores, times, axis=1).std(axis=(1, 2))
    assert_allclose(score_std(scores, times.astype(float)), repeated, rtol=1e-12)


def test_loudness_of_equal_scores_is_their_size():
    scores = np.array([-0.3, 0.0, 1e-200])[:, np.newaxis, np.newaxis] * np.ones((3, 5, 1))
    assert_allclose(score_std(scores[:2], None), [0.3, 1.0], rtol=1e-9)
    assert (score_std(scores, None) > 0).all()


def of_scores(Z, T):
    rows = CostedRows(T, np.zeros(len(T), dtype=int), 1)
    return Ensemble(LayerUnion(()), np.ones((1, 1)), Z, rows)


def test_sized_scores_come_nearest_to_their_targets(rng):
    T = np.sign(rng.standard_normal((40, 1)))
    Z = 30 * (T + rng.standard_normal((40, 1)))
    sized = of_scores(Z, T).scaled()
    factors = np.linspace(0.5, 1.5, 101)
    errors = [np.sum((factor * sized.validation_scores - T) ** 2) for factor in factors]
    assert factors[np.argmin(errors)] == 1.0
    assert_allclose(sized.validation_scores / Z, sized.beta[0, 0])


@pytest.mark.parametrize("sign", [-1.0, 0.0])
def test_scores_that_say_nothing_or_the_contrary_stay_as_they_are(sign):
    T = np.array([[1.0], [-1.0]])
    assert_array_equal(of_scores(sign * T, T).scaled().validation_scores, sign * T)


def test_cut_moves_all_scores_by_the_last_unit():
    T = np.array([[1.0], [-1.0]])
    one = of_scores(T, T)
    cut = one.with_thresholds(np.array([0.25]))
    assert_array_equal(cut.validation_scores, T - 0.25)
    assert_array_equal(cut.beta, [[0.75]])
    assert_array_equal(one.beta, [[1.0]])
