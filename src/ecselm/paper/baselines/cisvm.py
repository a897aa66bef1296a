"""Support vector machines for costs known as intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from ecselm._sklearn import Interval, StrOptions, fit_context
from ecselm._typing import FloatArray, IntArray, Matrix
from ecselm.costs import parse_cost
from ecselm.estimators._base import RIDGE, all_or_nothing
from ecselm.paper.baselines._common import KERNEL, KernelMachine, class_pairs, pair_rows, voted

MOST = 10.0  # a mistake may cost, where nothing is stated


def pair_weights(ratio: float) -> dict[int, float]:
    """Return class weights whose ratio is ``ratio``; the cheaper class weighs 1.

    Examples
    --------
    >>> pair_weights(4.0), pair_weights(0.25)
    ({0: 1.0, 1: 4.0}, {0: 4.0, 1: 1.0})
    """
    return {0: max(1.0, 1.0 / ratio), 1: max(1.0, ratio)}


def largest_regret(missed: FloatArray, grid: FloatArray) -> FloatArray:
    """Return the worst normalised regret of each machine over the costs of ``grid`` (g,).

    ``missed`` (g, 2) counts its mistakes on either class. At the cost e machine g pays
    ``TC(g, e) = w_0(e) missed[g, 0] + w_1(e) missed[g, 1]`` and regrets
    ``(TC(g, e) - min TC(., e)) / (min TC(., e) + 1)``.
    """
    weights = np.array([list(pair_weights(e).values()) for e in grid])
    totals = missed @ weights.T
    best = totals.min(axis=0)
    return ((totals - best) / (best + 1.0)).max(axis=1)


@dataclass(frozen=True, slots=True)
class PairMachine:
    """The machine of two classes, whose cost ratio is only known to lie in an interval."""

    K: FloatArray  # (n, n)
    y: IntArray  # (n,), 0 or 1
    C: float
    n_folds: int = 5

    def fit(self, ratio: float, rows: IntArray | slice = slice(None)) -> SVC:
        """Return the machine trained with class weights of this ratio."""
        machine = SVC(C=self.C, kernel="precomputed", class_weight=pair_weights(ratio))
        return machine.fit(self.K[rows][:, rows], self.y[rows])

    def choose(self, low: float, high: float, n_grid: int, strategy: str) -> float:
        """Return the ratio to train with, for a true ratio between ``low`` and ``high``."""
        few = int(np.bincount(self.y).min())
        if np.isclose(low, high, rtol=1e-9) or strategy == "mean" or few < 2:
            return float(np.sqrt(low * high))
        if strategy == "max":
            return high if high * low >= 1.0 else low
        middle = float(np.sqrt(low * high))
        if not self._missed(np.array([middle]), few).any():
            return middle  # a machine that misses nothing has no regret at any cost
        grid = np.geomspace(low, high, n_grid)
        regret = largest_regret(self._missed(grid, few), grid)
        tied = np.isclose(regret, regret.min(), rtol=1e-9, atol=0.0)
        return float(np.exp(np.log(grid[tied]).mean()))  # the middle: no class comes first

    def _missed(self, grid: FloatArray, few: int) -> FloatArray:
        missed = np.zeros((len(grid), 2))
        folds = StratifiedKFold(min(self.n_folds, few))
        for train, test in folds.split(self.K, self.y):
            for g, ratio in enumerate(grid):
                wrong = self.fit(ratio, train).predict(self.K[test][:, train]) != self.y[test]
                missed[g] += np.bincount(self.y[test][wrong], minlength=2)
        return missed


class CISVMClassifier(KernelMachine):
    """Support vector machine for costs that are known as intervals only.

    For every pair of classes SVMs are trained at cost ratios across the interval and their
    errors on validation folds are weighted by every ratio; the one of least worst regret is
    kept, and the pairs vote.

    Parameters
    ----------
    cost : array, DataFrame, dict or None, default=None
        The least that mistakes may cost by class, as in :class:`ecselm.CSELMClassifier`;
        None is 1. Every mistake must cost more than 0.
    cost_high : array, DataFrame, dict or None, default=None
        The most that they may cost. None is ``cost``, if that is stated, which makes the
        interval a point and the machine a cost-sensitive SVM; without both every mistake
        costs between 1 and 10, since the paper states no interval. A positive class that
        costs between 1 and 10 to miss is ``cost_high={positive: 10}``.
    strategy : {"minimax_regret", "mean", "max"}, default="minimax_regret"
        The ratio of least worst regret; the middle of the interval on a logarithmic
        scale; or its end farther from 1.
    n_grid : int, default=9
        Ratios across the interval, on a logarithmic scale, ends included.
    C : float, default=1.0
        As in :class:`sklearn.svm.SVC`, for the cheaper class of a pair.
    kernel, gamma, degree, coef0 :
        As in :class:`LSSVMClassifier`.
    max_samples : int or None, default=20000
        More training rows are refused; None lifts the limit.

    Attributes
    ----------
    classes_ : array of shape (k,)
    ratios_ : array of shape (k(k-1)/2,)
        The ratio chosen for the pairs (0, 1), (0, 2), ...: what missing the second class
        costs over what missing the first does.
    dual_coef_ : array of shape (N, k(k-1)/2)
    intercept_ : array of shape (k(k-1)/2,)
    kernel_ : KernelMap
    n_features_in_ : int

    Notes
    -----
    A documented substitute. The objective of CISVM (Liu and Zhou, KDD 2010) is UNCERTAIN.
    Weighted hinge losses are linear in the cost, so that the worst case over an interval
    is its upper end and no more; minimax regret makes use of the whole interval. Where
    the article speaks of one positive class, intervals are given by class here, and many
    classes vote by pairs. A class with one row takes the middle of its interval.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from ecselm.paper.baselines import CISVMClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)  # 0 is malignant
    >>> model = CISVMClassifier(cost_high={0: 10}, n_grid=3).fit(X, y)
    >>> bool(0.1 <= model.ratios_[0] <= 1)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KERNEL,
        **RIDGE,
        "cost": "no_validation",
        "cost_high": "no_validation",
        "strategy": [StrOptions({"minimax_regret", "mean", "max"})],
        "n_grid": [Interval(Integral, 2, None, closed="left")],
    }

    def __init__(
        self,
        cost: Any = None,
        cost_high: Any = None,
        *,
        strategy: str = "minimax_regret",
        n_grid: int = 9,
        C: float = 1.0,
        kernel: str | Callable[[Matrix, Matrix], FloatArray] = "rbf",
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 1,
        max_samples: int | None = 20000,
    ) -> None:
        self.cost = cost
        self.cost_high = cost_high
        self.strategy = strategy
        self.n_grid = n_grid
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.max_samples = max_samples

    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit(self, X: Any, y: Any) -> Self:
        """Choose a cost ratio for every pair of classes, and train with it.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)
        y : array of shape (N,)

        Returns
        -------
        self
        """
        given = self._read(X, y)
        low, high = self._bounds(given.classes)
        kernel = self._map(given)
        K, pairs = kernel(kernel.rows), list(class_pairs(len(low)))
        coef, b, ratios = np.zeros((len(K), len(pairs))), np.zeros(len(pairs)), np.ones(len(pairs))
        for p, (i, j) in enumerate(pairs):
            rows = pair_rows(given.y, (i, j))
            pair = PairMachine(K[np.ix_(rows, rows)], (given.y[rows] == j).astype(np.intp), self.C)
            ends = low[j, i] / high[i, j], high[j, i] / low[i, j]
            ratios[p] = pair.choose(*ends, self.n_grid, self.strategy)
            machine = pair.fit(ratios[p])
            coef[rows[machine.support_], p] = machine.dual_coef_[0]
            b[p] = machine.intercept_[0]
        self._keep(given, kernel, coef, b)
        self.ratios_ = ratios
        return self

    def _bounds(self, classes: Any) -> tuple[FloatArray, FloatArray]:
        """Return the least and the most that every mistake may cost."""
        low = parse_cost(self.cost, classes)
        if self.cost_high is None:
            high = MOST * low if self.cost is None else low
        else:
            high = parse_cost(self.cost_high, classes)
        mistakes = ~np.eye(len(low), dtype=bool)
        if (low[mistakes] <= 0).any():
            raise ValueError("cost must be > 0 for every mistake, as ratios are taken, got 0")
        if (high < low).any():
            i, j = np.argwhere(high < low)[0]
            raise ValueError(
                f"cost <= cost_high must hold for every mistake, got {low[i, j]:g} and "
                f"{high[i, j]:g} where {classes[i]!r} is true and {classes[j]!r} predicted"
            )
        return low, high

    def _scores(self, X: Any) -> FloatArray:
        D = self._outputs(X)
        if len(self.classes_) == 2:
            return np.hstack([-D, D]) / 2
        return voted(D, len(self.classes_))
