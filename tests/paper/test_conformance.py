"""Every check passes for what follows the equation, and fails for what does not."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline

from ecselm.paper.conformance import (
    CHECKS,
    Fitted,
    Implementation,
    check,
    conformance_table,
    ecselm_implementation,
    from_estimators,
)
from ecselm.search import BacktrackingSearch, Box


class LoopSearch:
    """Backtracking search with loops, some steps of which can be changed."""

    def __init__(self, low, high, size, seed, **changed):
        self.low, self.high, self.rng, self.changed = (
            low,
            high,
            np.random.default_rng(seed),
            changed,
        )
        draw = self.squared if changed.get("draw") == "squared" else self.uniform
        self.P, self.Q = draw(size), self.uniform(size)
        self.V, self.F, self.best = self.P, None, None

    def uniform(self, size):
        return self.low + self.rng.random((size, len(self.low))) * (self.high - self.low)

    def squared(self, size):
        return self.low + self.rng.random((size, len(self.low))) ** 2 * (self.high - self.low)

    def ask(self):
        if self.F is not None:
            self.V = self.trials()
        return self.V.copy()

    def trials(self):
        P, rng, (size, D) = self.P, self.rng, self.P.shape
        if "redraw" in self.changed:
            self.Q = self.uniform(size)
        if rng.random() < self.changed.get("renewal", 0.5):
            self.Q = P.copy()
        Q = self.Q[rng.permutation(size)]
        r = rng.standard_normal((size, 1)) if "own_r" in self.changed else rng.standard_normal()
        r = self.changed.get("sign", np.positive)(r)
        several, V = rng.random() < 0.5, P.copy()
        for i in range(size):
            count = int(np.ceil(rng.random() * D)) if several else 1
            for j in rng.permutation(D)[:count]:
                f = 3 * (r[i, 0] if np.ndim(r) else r)
                V[i, j] = P[i, j] + f * (Q[i, j] - P[i, j])
                if not self.low[j] <= V[i, j] <= self.high[j]:
                    V[i, j] = self.inside(V[i, j], j)
        return V

    def inside(self, value, j):
        bound = min(max(value, self.low[j]), self.high[j])
        if "leave" in self.changed:
            return value
        if "clip" in self.changed or self.rng.random() < 0.5:
            return bound
        return self.low[j] + self.rng.random() * (self.high[j] - self.low[j])

    def tell(self, values):
        i = int(np.argmin(values))
        if self.best is None or values[i] < self.best[1] or "last" in self.changed:
            self.best = self.V[i].copy(), float(values[i])
        if self.F is None:
            self.F = values.copy()
            return
        wins = values <= self.F if "ties" in self.changed else values < self.F
        self.P = np.where(wins[:, np.newaxis], self.V, self.P)
        self.F = np.where(wins, values, self.F)


def searching(**changed):
    return Implementation("loops", search=lambda *given: LoopSearch(*given, **changed))


OURS = ecselm_implementation()
ONLY_SEARCH = [name for name, one in CHECKS.items() if one.needs == ("search",)]


@pytest.fixture(scope="module")
def ours():
    return {result.check.name: result for result in check(OURS)}


@pytest.mark.parametrize("name", CHECKS)
def test_our_library_passes(name, ours, record_property):
    record_property("deviation", float(ours[name].deviation))
    assert ours[name].outcome == "passed", str(ours[name])


def test_every_equation_has_a_check():
    numbers = set()
    for one in CHECKS.values():
        for part in one.equations.split(", "):
            first, *last = (int(n.strip("()")) for n in part.split("-"))
            numbers |= {*range(first, (last or [first])[0] + 1)}
    assert numbers == set(range(1, 36)) - {24, 31}  # the caller of ask and tell evaluates these


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_search_written_with_loops_passes(seed):
    one = replace(
        OURS, search=lambda low, high, size, given: LoopSearch(low, high, size, given + seed)
    )
    for result in check(one, ONLY_SEARCH):
        assert result.outcome == "passed", str(result)


# Changes of our library, or of a search, and the checks that they must fail.


def refit(function, change):
    """Return the function with a changed result."""
    return lambda *given, **named: change(function(*given, **named))


def with_scores(change):
    return lambda fitted: replace(fitted, scores=lambda X: change(fitted.scores(X)))


def at(function, **changed):
    """Return the function with arguments that are changed before the call."""

    def call(*given, **named):
        return function(*given, **{k: changed.get(k, lambda v: v)(v) for k, v in named.items()})

    return call


def intercept(X, T, *, n_hidden, C, seed):
    fitted, mean = OURS.ridge(X, T - T.mean(axis=0), n_hidden=n_hidden, C=C, seed=seed), T.mean(0)
    return replace(fitted, scores=lambda X: fitted.scores(X) + mean)


def weighted_by(change):
    return lambda X, T, B, **named: OURS.weighted_ridge(X, T, change(B), **named)


def sequential(X, T, *, n_hidden, C, seed):
    """Give later rows less weight."""
    B = np.linspace(1.5, 0.5, len(X))
    return OURS.weighted_ridge(X, T, B, n_hidden=n_hidden, C=C, seed=seed)


class Restless:
    """Draw another layer in every call."""

    def __init__(self):
        self.seed = 0

    def __call__(self, X, T, *, n_hidden, C, seed):
        self.seed += 1
        return OURS.ridge(X, T, n_hidden=n_hidden, C=C, seed=self.seed)


def asymmetric(X, T, *, n_hidden, C, seed):
    fitted = OURS.ridge(X, T, n_hidden=n_hidden, C=C, seed=seed)
    return replace(fitted, scores=lambda Z: fitted.scores(Z) * (1 + 0.1 * Z[:, :1]))


def zero_one(X, y, *, n_hidden, C, seed):
    T = (y[:, np.newaxis] == np.unique(y)).astype(float)
    fitted = OURS.ridge(X, T, n_hidden=n_hidden, C=C, seed=seed)
    return replace(fitted, labels=lambda X: np.unique(y)[fitted.scores(X).argmax(axis=1)])


def first_class(X, y, *, n_hidden, C, seed):
    fitted = OURS.classifier(X, y, n_hidden=n_hidden, C=C, seed=seed)
    return replace(fitted, labels=lambda X: np.full(len(X), np.unique(y)[0]))


def redrawn_memory(low, high, size, seed):
    return BacktrackingSearch(Box(low, high), size, np.random.default_rng(seed), redraw_memory=True)


def printed_bounds(low, high, size, seed):
    rng = np.random.default_rng(seed)
    return BacktrackingSearch(Box(low, high), size, rng, literal_bounds=True)


CHANGED = {
    "another layer in every call": (replace(OURS, ridge=Restless()), ["same seed, same scores"]),
    "no biases": (
        replace(OURS, ridge=refit(OURS.ridge, lambda f: replace(f, biases=None))),
        ["random layer"],
    ),
    "another activation": (
        replace(
            OURS, ridge=refit(OURS.ridge, lambda f: replace(f, hidden=lambda X: 1 - f.hidden(X)))
        ),
        ["hidden layer", "radial basis units", "ridge, N >= L", "ridge, N < L"],
    ),
    "a ridge for the pseudo-inverse": (
        replace(OURS, pseudo_inverse=lambda X, T, **named: OURS.ridge(X, T, C=1.0, **named)),
        [
            "Moore-Penrose, N >= L",
            "Moore-Penrose, N < L",
            "Moore-Penrose is a projection",
            "Moore-Penrose is the limit",
        ],
    ),
    "an intercept": (
        replace(OURS, ridge=intercept),
        ["ridge, N >= L", "ridge at another C", "kernel of the layer", "small C"],
    ),
    "asymmetric": (replace(OURS, ridge=asymmetric), ["kernel of the layer"]),
    "C twice": (
        replace(OURS, ridge=at(OURS.ridge, C=lambda C: 2.0 * C)),
        ["ridge, N >= L", "ridge, N < L", "weight 1", "weights from plain scores"],
    ),
    "C ignored": (
        replace(OURS, ridge=at(OURS.ridge, C=lambda _: 1.0)),
        ["every row twice", "small C", "interpolation", "ridge at another C"],
    ),
    "C inverse": (replace(OURS, ridge=at(OURS.ridge, C=lambda C: 1.0 / C)), ["training error"]),
    "clipped scores": (
        replace(OURS, ridge=refit(OURS.ridge, with_scores(lambda Z: np.clip(Z, -0.5, 0.5)))),
        ["linear in targets"],
    ),
    "later rows count less": (replace(OURS, ridge=sequential), ["order of rows", "weight 1"]),
    "another width of the kernel": (
        replace(
            OURS,
            kernel_ridge=at(OURS.kernel_ridge, gamma=lambda g: g / 2.0),
            weighted_kernel=at(OURS.weighted_kernel, gamma=lambda g: g / 2.0),
        ),
        ["kernel ridge", "weighted kernel"],
    ),
    "equal weights of classes": (
        replace(OURS, class_weights=lambda y, _: np.ones(len(y))),
        ["ratios of W1", "weights W1", "weights W2"],
    ),
    "weights with a mean of 1": (
        replace(OURS, class_weights=refit(OURS.class_weights, lambda W: W / W.mean())),
        ["weights W1", "weights W2"],
    ),
    "costs of the other direction": (
        replace(
            OURS,
            class_cost_vector=lambda y, cost: OURS.class_cost_vector(y, cost.T),
            sample_cost_vector=lambda y, M: OURS.sample_cost_vector(y, M.T),
        ),
        ["costs between samples", "costs between classes"],
    ),
    "roots of weights": (
        replace(OURS, weighted_ridge=weighted_by(np.sqrt)),
        [
            "weighted, N >= L",
            "weighted, N < L",
            "multipliers",
            "weights from plain scores",
            "weight 2",
        ],
    ),
    "normalised weights": (
        replace(OURS, weighted_ridge=weighted_by(lambda B: B / B.mean())),
        ["scale of weights", "weight 2", "weight 0"],
    ),
    "targets 0 and 1": (replace(OURS, classifier=zero_one), ["targets of classes"]),
    "always the first class": (
        replace(OURS, classifier=first_class),
        ["largest score", "names of classes"],
    ),
    "less than the tolerance": (
        replace(OURS, cumulative_score=lambda y, p, t: float(np.mean(np.abs(y - p) < t))),
        ["cumulative score"],
    ),
    "costs beyond the bounds": (
        replace(
            OURS,
            cost_search=refit(
                OURS.cost_search, lambda f: replace(f, cost_vector=3.0 * f.cost_vector, loss=0.9)
            ),
        ),
        ["bounds of costs", "fitness of costs", "least fitness", "machine of the costs found"],
    ),
    "memory redrawn, as step 2.1 is printed": (
        replace(OURS, search=redrawn_memory),
        ["memory is kept"],
    ),
    "(30) as printed": (
        replace(OURS, search=printed_bounds),
        ["memory is renewed", "memory is kept", "amplitude", "boundary control"],
    ),
    "first population not uniform": (searching(draw="squared"), ["first population"]),
    "memory seldom renewed": (searching(renewal=0.15), ["memory is renewed"]),
    "an r for each individual": (searching(own_r=True), ["memory is kept", "memory is renewed"]),
    "r of one sign": (searching(sign=np.abs), ["amplitude"]),
    "bounds by clipping": (searching(clip=True), ["boundary control"]),
    "bounds ignored": (searching(leave=True), ["boundary control"]),
    "ties replace": (searching(ties=True), ["strict selection"]),
    "best of the last generation": (searching(last=True), ["best point"]),
}


@pytest.mark.parametrize("change", CHANGED)
def test_what_differs_from_an_equation_fails_its_check(change):
    one, names = CHANGED[change]
    outcomes = {result.check.name: result.outcome for result in check(one, names)}
    assert outcomes == dict.fromkeys(names, "failed")


def test_every_check_can_fail():
    assert {name for _, names in CHANGED.values() for name in names} == set(CHECKS)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("memory redrawn, as step 2.1 is printed", ["memory is kept"]),
        (
            "(30) as printed",
            [n for n in ONLY_SEARCH if n not in ("first population", "best point")],
        ),
    ],
)
def test_the_printed_algorithm_fails_these_checks_alone(change, expected):
    results = check(CHANGED[change][0], ONLY_SEARCH)
    assert [one.check.name for one in results if one.outcome == "failed"] == expected


# Implementations of others


class Features:
    """Random Fourier features and a ridge, which show nothing of their inside."""

    def __init__(self, L, C, seed, intercept=False):
        layer = RBFSampler(gamma=0.3, n_components=L, random_state=seed)
        self.model = make_pipeline(layer, Ridge(1.0 / C, fit_intercept=intercept))

    def fit(self, X, T, sample_weight=None):
        self.model.fit(X, T, ridge__sample_weight=sample_weight)
        return self

    def predict(self, X):
        return self.model.predict(X)


def test_fit_and_predict_are_enough_for_what_equations_imply():
    one = from_estimators(
        "features",
        Features,
        lambda L, C, seed: LogisticRegression(C=C),
        version="1",
        sample_weight=True,
    )
    assert one.offers == ("ridge", "weighted_ridge", "classifier")
    results = [result for result in check(one) if result.outcome != "not offered"]
    assert [str(result) for result in results if result.outcome != "passed"] == []
    reached = {result.check.name for result in results if result.check.black_box}
    assert len(reached) == 15
    assert {result.check.name for result in results} - reached == {"largest score"}


def test_an_unseen_intercept_is_found():
    one = from_estimators("intercept", lambda *given: Features(*given, intercept=True))
    failed = {result.check.name for result in check(one) if result.outcome == "failed"}
    assert {"ridge at another C", "small C"} <= failed
    assert {"linear in targets", "order of rows", "every row twice"}.isdisjoint(failed)


def test_what_is_not_offered_is_named():
    (result,) = check(Implementation("nothing"), ["weight 2"])
    assert (result.outcome, result.note) == ("not offered", "ridge, weighted_ridge")
    unseen = replace(OURS, ridge=refit(OURS.ridge, lambda f: Fitted(scores=f.scores)))
    (result,) = check(unseen, ["ridge, N < L"])
    assert (result.outcome, result.note) == ("not offered", "hidden")
    tanh = replace(OURS, ridge=refit(OURS.ridge, lambda f: replace(f, activation="tanh")))
    by_name = {result.check.name: result for result in check(tanh, ["radial basis units"])}
    assert by_name["radial basis units"].note == "activation radbas"


def test_a_function_may_refuse_a_part():
    def refusing(y, scheme):
        raise NotImplementedError("w2")

    (result,) = check(Implementation("w1 only", class_weights=refusing), ["weights W2"])
    assert str(result) == "not offered: weights W2 (10): w2"


def test_errors_and_wrong_shapes_fail_with_a_note():
    broken = replace(OURS, ridge=lambda *_, **__: 1 / 0)
    (result,) = check(broken, ["small C"])
    assert (result.outcome, result.deviation) == ("failed", None)
    assert result.note == "ZeroDivisionError: division by zero"
    flat = replace(OURS, ridge=refit(OURS.ridge, with_scores(lambda Z: Z[:, :1])))
    (result,) = check(flat, ["ridge, N < L"])
    assert result.note == "ValueError: outputs must have the shape (31, 3), got (31, 1)"
    lost = replace(OURS, ridge=refit(OURS.ridge, with_scores(lambda Z: Z * np.nan)))
    (result,) = check(lost, ["linear in targets"])
    assert result.outcome == "failed"


def test_unknown_checks_are_refused():
    with pytest.raises(ValueError, match="names must be in CHECKS, got 'ridge'"):
        check(OURS, ["ridge"])
    with pytest.raises(ValueError, match="names must be in CHECKS, got 'ridge'"):
        conformance_table([OURS], ["ridge"])


def test_the_table_has_a_row_per_check_and_a_column_per_implementation():
    table = conformance_table(
        [OURS, replace(CHANGED["C twice"][0], name="twice"), Implementation("nothing")],
        ["weights W1", "ridge, N < L"],
    )
    assert list(table.columns) == ["equations", "ecselm", "twice", "nothing"]
    assert list(table.index) == ["weights W1", "ridge, N < L"]
    assert list(table["ecselm"]) == ["passed", "passed"]
    assert list(table["nothing"]) == ["not offered", "not offered"]
    assert table.loc["ridge, N < L", "twice"].startswith("failed (0.")
