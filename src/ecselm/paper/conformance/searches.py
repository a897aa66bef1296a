"""Checks of the search for costs, eqs. (20)-(22), and of backtracking search, (23)-(34).

An optimiser is seen by ask and tell alone. Its population is followed from outside by (32); its
memory Q is, from the first time on that (26) renews it, one of the populations followed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from ecselm._typing import FloatArray
from ecselm.paper.conformance import oracles
from ecselm.paper.conformance.implementation import Fitted, Implementation
from ecselm.paper.conformance.result import Check
from ecselm.paper.conformance.solutions import SHIFT, X_NEW, C, Y, deviation

SIZE, DIMENSION = 6, 5
LOW, HIGH = np.full(DIMENSION, -5.0), np.full(DIMENSION, 10.0)
SETTLING, OBSERVED = 250, 450  # generations
REMEMBERED = 40  # populations: Q stays the same for longer once in 10^12 times
BOUNDS, UNITS = (0.05, 1.0), 6


def _cost_search(one: Implementation) -> Fitted:
    fitted: Fitted = one.offered("cost_search")(
        SHIFT, Y, n_hidden=UNITS, C=C, bounds=BOUNDS, seed=0
    )
    return fitted


def _found_costs(one: Implementation) -> float:
    found = np.asarray(_cost_search(one).shown("cost_vector"))
    if found.shape != Y.shape:
        raise ValueError(f"cost_vector must have the shape {Y.shape}, got {found.shape}")
    low, high = BOUNDS
    return float(max(low - found.min(), found.max() - high, 0.0))


def _found_loss(one: Implementation) -> float:
    fitted = _cost_search(one)
    H = fitted.shown("hidden")(SHIFT)
    Z = H @ oracles.weighted_beta(H, oracles.signed_targets(Y), fitted.shown("cost_vector"), C)
    wrong = np.mean(np.unique(Y)[Z.argmax(axis=1)] != Y)
    return abs(float(wrong) - fitted.shown("loss"))


def _lower_loss(one: Implementation) -> float:
    """Compare with the median over costs that are drawn, which a search must not exceed."""
    fitted = _cost_search(one)
    H, T = fitted.shown("hidden")(SHIFT), oracles.signed_targets(Y)
    rng = np.random.default_rng(0)
    drawn = []
    for _ in range(101):
        Z = H @ oracles.weighted_beta(H, T, rng.uniform(*BOUNDS, len(Y)), C)
        drawn.append(np.mean(np.unique(Y)[Z.argmax(axis=1)] != Y))
    return float(fitted.shown("loss") - np.median(drawn))


def _found_scores(one: Implementation) -> float:
    fitted = _cost_search(one)
    hidden, labels = fitted.shown("hidden"), fitted.shown("labels")
    T = oracles.signed_targets(Y)
    Z = hidden(X_NEW) @ oracles.weighted_beta(hidden(SHIFT), T, fitted.shown("cost_vector"), C)
    different = np.mean(np.asarray(labels(X_NEW)) != np.unique(Y)[Z.argmax(axis=1)])
    return max(deviation(fitted.shown("scores")(X_NEW), Z), float(different))


def _first_population(one: Implementation) -> float:
    low, high = np.array([-1.0, 2.0]), np.array([1.0, 10.0])
    P = one.offered("search")(low, high, 500, 0).ask()
    return _distance(np.sort(((P - low) / (high - low)).ravel()))


def _distance(probabilities: FloatArray) -> float:
    """Return Kolmogorov's distance of sorted numbers from uniform ones, times sqrt(n)."""
    n = len(probabilities)
    after = np.arange(1, n + 1) / n - probabilities
    return float(max(after.max(), (1.0 / n - after).max()) * np.sqrt(n))


def _sphere(P: FloatArray) -> FloatArray:
    return (P**2).sum(axis=1)


@dataclass(frozen=True)
class _Generation:
    """One generation seen from outside."""

    memory: str  # Q is the present population, "renewed", an earlier one, "kept", or "unknown"
    amplitude: float = np.nan  # 3r of (29)
    fresh: bool = False  # trials show entries that are new in P: "renewed" means now


def _generations(one: Implementation) -> list[_Generation]:
    """Return the generations after settling in which trials move in several coordinates.

    The objective draws the population together, so that trials stay within the box.
    """
    search = one.offered("search")(LOW, HIGH, SIZE, 0)
    P = search.ask()
    F = _sphere(P)
    search.tell(F)
    populations = deque([P], maxlen=REMEMBERED)
    found: list[_Generation] = []
    for generation in range(SETTLING + OBSERVED):
        V = search.ask()
        inside = generation >= SETTLING and _far_from_bounds(np.vstack(populations))
        if inside and (V != P).sum(axis=1).max() > 1:
            found.append(_seen(P, V, populations))
        G = _sphere(V)
        search.tell(G)
        P, F = oracles.selected(P, F, V, G)
        populations.append(P)
    return found


def _far_from_bounds(P: FloatArray) -> bool:
    """Return whether no trial leaves the box, unless r is beyond 5 standard deviations."""
    reach = 15.0 * np.ptp(P, axis=0)
    return bool((P.min(axis=0) - reach > LOW).all() and (P.max(axis=0) + reach < HIGH).all())


def _seen(P: FloatArray, V: FloatArray, populations: Sequence[FloatArray]) -> _Generation:
    """Return which of the populations, the last of which is P, has been the memory."""
    for Q in reversed(populations):
        found = _partners(P, V, Q)
        if found is not None:
            amplitude, partners = found
            new, moved = populations[-1] != populations[-2], V != P
            others = [(i, q) for i, q in partners.items() if i != q]
            fresh = any((moved[i] & new[q]).any() for i, q in others)
            return _Generation("renewed" if Q is P else "kept", amplitude, fresh)
    return _Generation("unknown")


def _partners(P: FloatArray, V: FloatArray, Q: FloatArray) -> tuple[float, dict[int, int]] | None:
    """Return f and the known partners in ``V = P + f C o (Q' - P)``, Q' a permutation of Q.

    None if no f, one for all, and no permutation make it hold.
    """
    moved, step = V != P, V - P
    several = moved.sum(axis=1) > 1
    i = int(np.where(several, np.abs(step).max(axis=1), 0.0).argmax())
    away = (Q - P[i])[:, moved[i]]  # of the partners that this individual may have
    squares = (away**2).sum(axis=1)
    f = (away @ step[i, moved[i]])[squares > 0.0] / squares[squares > 0.0]
    raw = f[:, np.newaxis, np.newaxis, np.newaxis] * (Q - P[:, np.newaxis])
    rounding = 1e-6 * np.abs(step) + 1e-13 * (np.abs(P) + np.abs(V))
    fits = np.abs(raw - step[:, np.newaxis]) <= rounding[:, np.newaxis]
    fits |= ~moved[:, np.newaxis]  # by guess, individual, partner and coordinate
    for guess, possible in zip(f, fits.all(axis=3), strict=True):
        known = {
            int(i): int(possible[i].argmax()) for i in np.flatnonzero(possible.sum(axis=1) == 1)
        }
        if possible.any(axis=1).all() and len(set(known.values())) == len(known):
            return float(guess), known
    return None


def _renewals(one: Implementation) -> float:
    found = _generations(one)
    redrawn = any(step.memory == "unknown" for step in found)  # then "renewed" is never "kept"
    renewed = [step.memory == "renewed" for step in found if step.fresh or redrawn]
    if not any(renewed):  # also if there were hardly any generations to look at
        return np.inf
    return abs(float(np.mean(renewed)) - 0.5) * float(np.sqrt(len(renewed) / 0.25))


def _memory(one: Implementation) -> float:
    found = _generations(one)
    return float(np.mean([step.memory == "unknown" for step in found])) if found else np.inf


def _normal_amplitudes(one: Implementation) -> float:
    r = sorted(s.amplitude / 3.0 for s in _generations(one) if s.memory != "unknown")
    if not r:
        return np.inf
    return _distance(np.array([NormalDist().cdf(value) for value in r]))


def _boundary(one: Implementation) -> float:
    """Compare the share of entries at a bound where fitness is flat, so that P stays itself."""
    low, high, size = np.zeros(5), np.ones(5), 20
    search = one.offered("search")(low, high, size, 0)
    P = search.ask()
    search.tell(np.zeros(size))
    shares = []
    for _ in range(1500):
        V = search.ask()
        if not (np.clip(V, low, high) == V).all():
            return np.inf
        moved = V != P
        shares.append(np.isin(V, (0.0, 1.0))[moved].mean() if moved.any() else 0.0)
        search.tell(np.zeros(size))
    # (29) leaves the box for these pairs, and half of the entries that do are set to the bound.
    pairs = ~np.eye(size, dtype=bool)
    levels = [3.0 * NormalDist().inv_cdf((i + 0.5) / 400) for i in range(400)]
    raw = [P[:, np.newaxis] + f * (P - P[:, np.newaxis]) for f in levels]
    expected = 0.5 * np.mean([(np.clip(V, low, high) != V)[pairs].mean() for V in raw])
    return abs(float(np.mean(shares) - expected))


def _strict_selection(one: Implementation) -> float:
    """Return the share of late generations without an entry of the first population."""
    search = one.offered("search")(LOW, HIGH, 20, 0)
    P = search.ask()
    search.tell(np.ones(20))
    without = []
    for _ in range(200):
        without.append(not (search.ask() == P).any())
        search.tell(np.ones(20))
    return float(np.mean(without[100:]))


def _best(one: Implementation) -> float:
    search = one.offered("search")(LOW, HIGH, 10, 0)
    points, values, found = [], [], []
    for _ in range(60):
        P = search.ask()
        F = _sphere(P - 1.0) + 0.5
        search.tell(F)
        points.append(P)
        values.append(F)
        F_all = np.concatenate(values)
        point, value = search.best
        found += [
            abs(value - F_all.min()),
            deviation(point, np.vstack(points)[int(F_all.argmin())]),
        ]
    return float(max(found))


CHANCE = 2.23  # Kolmogorov's distance is larger in one of ten thousand cases
SEARCH_CHECKS = (
    Check(
        "bounds of costs", "(21)", "l1 <= B_i <= l2, one per row", ("cost_search",), 1e-12,
        _found_costs,
    ),
    Check(
        "fitness of costs", "(20), (21)", "the loss of B is the training error of beta (15)",
        ("cost_search",), 1e-12, _found_loss,
    ),
    Check(
        "least fitness", "(21)", "the loss of B is not above the median of drawn costs",
        ("cost_search",), 0.0, _lower_loss,
    ),
    Check(
        "machine of the costs found", "(15), (22)", "scores and labels are those of beta (15)",
        ("cost_search",), 1e-9, _found_scores,
    ),
    Check(
        "first population", "(23)", "P_ij ~ U(l_d, l_u)", ("search",), CHANCE,
        _first_population, black_box=True,
    ),
    Check(
        "memory is renewed", "(26)-(29)",
        "V = P + 3r C o (Q' - P), with Q = P in half of the generations (in std)", ("search",),
        3.9, _renewals, black_box=True,
    ),
    Check(
        "memory is kept", "(25)-(29)", "otherwise Q is the population remembered before",
        ("search",), 0.0, _memory, black_box=True,
    ),
    Check(
        "amplitude", "(29)", "r ~ N(0, 1), one for a generation", ("search",),
        CHANCE, _normal_amplitudes, black_box=True,
    ),
    Check(
        "boundary control", "(30)", "of entries outside half are set to the bound, half redrawn",
        ("search",), 0.03, _boundary, black_box=True,
    ),
    Check(
        "strict selection", "(32)", "a trial of equal fitness does not replace", ("search",), 0.0,
        _strict_selection, black_box=True,
    ),
    Check(
        "best point", "(33), (34)", "the least fitness of all, and its point", ("search",), 0.0,
        _best, black_box=True,
    ),
)  # fmt: skip
