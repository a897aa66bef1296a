"""Decisions by cost as methods of a classifier: answers, and what half-known costs leave open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ecselm._sklearn import to_numpy
from ecselm._typing import AnyArray, BoolArray, FloatArray, IntArray
from ecselm.costs import CostConstraints, row_matrices
from ecselm.costs.parse import is_partly_known
from ecselm.costs.policy import DecisionPolicy
from ecselm.costs.region import CostRegion

ROW_COSTS = ("sample_cost", "tp_cost", "tn_cost", "fp_cost", "fn_cost")


@dataclass(frozen=True, slots=True)
class Decisions:
    """Answers to rows, by one evaluation of the model, and what they depend on."""

    policy: DecisionPolicy
    probabilities: FloatArray  # (N, k)
    answers: IntArray  # (N,), columns of the costs: k asks a person
    by_row: FloatArray | None = None  # (N, k, m), known costs in the place of all others

    @property
    def asked(self) -> BoolArray:
        """Return which rows (N,) are left to a person."""
        asked: BoolArray = self.answers == self.probabilities.shape[1]
        return asked

    def classes(self) -> IntArray:
        """Return the class (N,) of every row: the answer, or the best class for rows to ask about.

        By position in ``classes_``.
        """
        if not self.asked.any():
            return self.answers
        k = self.probabilities.shape[1]
        costs = self.policy.expected(self.probabilities, self.by_row)[:, :k]
        return np.where(self.asked, costs.argmin(axis=1), self.answers)

    def expected_cost(self) -> FloatArray:
        """Return what the answers (N,) are expected to cost, in the unit of the stated costs."""
        return self.policy.expected_cost(self.probabilities, self.answers, self.by_row)

    def settled(self) -> BoolArray:
        """Return which answers (N,) are the best for all costs that are possible."""
        if self.by_row is not None:
            return np.ones(len(self.answers), dtype=bool)
        return self.policy.settled(self.probabilities, self.answers)

    def regret(self) -> FloatArray:
        """Return how much more the answers (N,) may cost than the best ones."""
        if self.by_row is not None:
            return np.zeros(len(self.answers))
        return self.policy.regret(self.probabilities, self.answers)

    def possible(self) -> BoolArray:
        """Return which answers (N, m) are the best for some costs that are possible.

        Where a capacity limits asking, the classes of a row that is not asked about are
        compared with each other alone.
        """
        if self.by_row is not None:
            return np.eye(self.policy.matrix.shape[1], dtype=bool)[self.answers]
        possible = self.policy.possible_answers(self.probabilities)
        if self.policy.has_capacity:
            rows, k = np.flatnonzero(~self.asked), self.policy.n_classes
            among = self.policy.without_asking().possible_answers(self.probabilities[rows])
            possible[rows, :k], possible[rows, k:] = among, False
        return possible


class CostDecisionMixin:
    """Decide by least expected cost, and tell which answers depend on unknown costs.

    A subclass says how rows become probabilities and answers, in ``_decided``.
    """

    classes_: AnyArray
    constraints_: CostConstraints | None
    _decision_costs_: FloatArray | None  # (k, m), m = k + 1 if rows may be left to a person

    def _decided(self, X: Any, by_row: FloatArray | None) -> tuple[FloatArray, IntArray]:
        """Return probabilities (N, k), and the column of the answer to each row."""
        raise NotImplementedError

    def _decisions(self, X: Any, by_row: FloatArray | None = None) -> Decisions:
        """Return the answers to rows with all that is known of them.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)
        by_row : array of shape (N, k, k) or (N, k, k + 1), default=None
            Known costs of the rows.
        """
        check_is_fitted(self)
        return Decisions(self._policy(), *self._decided(X, by_row), by_row)

    def _policy(self) -> DecisionPolicy:
        """Return the policy of the fitted costs."""
        k, constraints = len(self.classes_), getattr(self, "constraints_", None)
        decides = self._decision_costs_
        matrix: FloatArray = 1.0 - np.eye(k) if decides is None else decides
        column = matrix[:, k:]
        if constraints is None or constraints.is_exact or constraints.sample_cost is not None:
            # A promise decides with more caution than answers are counted with.
            counted, region = getattr(self, "_plain_costs_", matrix), CostRegion.of_point(matrix)
            return DecisionPolicy(region, matrix, counted, *self._capacity())
        region, mean = constraints.region, constraints.mean()
        if column.shape[1]:
            column = self._asking_column()[:, np.newaxis]
            region, mean = region.with_column(column[:, 0]), np.hstack([mean, column])
        return DecisionPolicy(region, matrix, mean, *self._capacity())

    def _capacity(self) -> tuple[float, bool]:
        """Return the least gain of asking, and whether asking is limited."""
        return 0.0, False

    def _asking_column(self) -> FloatArray:
        """Return what asking costs by true class (k,)."""
        return np.zeros(len(self.classes_))

    def _row_matrices(self, X: Any, stated: dict[str, Any]) -> FloatArray | None:
        """Return the costs of rows (N, k, k) that ``predict`` was given."""
        if all(value is None for value in stated.values()):
            return None
        return row_matrices(np.shape(X)[0], to_numpy(self.classes_), **stated)

    def _with_asking(self, X: Any, by_row: FloatArray | None) -> FloatArray | None:
        """Return the costs of rows with those of asking, where this is an answer."""
        return by_row

    def predict_set(self, X: Any) -> BoolArray:
        """Return which classes are the best answer for some costs that are possible.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        possible : boolean array of shape (N, k)
            One class where the answer is settled. None where it is best to ask a person,
            whatever the costs. Where a capacity limits asking, the classes of a row that is
            not asked about are compared with each other alone.
        """
        return self._decisions(X).possible()[:, : len(self.classes_)]

    def settled(self, X: Any) -> BoolArray:
        """Tell which answers are the best for all costs that are possible.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        settled : boolean array of shape (N,)
        """
        return self._decisions(X).settled()

    def regret(self, X: Any) -> FloatArray:
        """Return how much more an answer may cost than the best one, at the worst possible costs.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)

        Returns
        -------
        regret : array of shape (N,)
            In the unit of the stated costs, in expectation; 0 where the answer is settled.
        """
        return self._decisions(X).regret()

    def expected_cost(
        self,
        X: Any,
        *,
        sample_cost: Any = None,
        tp_cost: Any = None,
        tn_cost: Any = None,
        fp_cost: Any = None,
        fn_cost: Any = None,
    ) -> FloatArray:
        """Return what every answer is expected to cost.

        Parameters
        ----------
        X : array, sparse matrix or dataframe of shape (N, n)
        sample_cost, tp_cost, tn_cost, fp_cost, fn_cost :
            Costs by row, as in ``predict``.

        Returns
        -------
        costs : array of shape (N,)
            In the unit of the stated costs; where costs are partly known, their mean.
        """
        given = (sample_cost, tp_cost, tn_cost, fp_cost, fn_cost)
        by_row = self._row_matrices(X, dict(zip(ROW_COSTS, given, strict=True)))
        return self._decisions(X, self._with_asking(X, by_row)).expected_cost()


def stated_constraints(cost: Any, classes: AnyArray) -> CostConstraints | None:
    """Return what ``cost`` leaves open, None where it states every cost or none."""
    if callable(cost) and not isinstance(cost, CostConstraints):
        cost = cost(classes)
    if not is_partly_known(cost, len(classes)):
        return None
    constraints = CostConstraints.from_costs(cost, classes)
    return None if constraints.is_exact or constraints.sample_cost is not None else constraints


def decision_matrix(
    constraints: CostConstraints, rule: str, y: IntArray, weight: FloatArray | None, P: FloatArray
) -> FloatArray:
    """Return the costs (k, k) by which a rule decides, from validation rows.

    Parameters
    ----------
    constraints : CostConstraints
    rule : {"expected", "minimax_regret"}
    y : array of shape (n,)
        Classes of the rows, by position.
    weight : array of shape (n,) or None
    P : array of shape (n, k)
        Their probabilities.
    """
    shares = class_shares(y, weight, P.shape[1])
    return DecisionPolicy.of_costs(constraints.region, shares, rule, P).matrix


def class_shares(y: IntArray, weight: FloatArray | None, n_classes: int) -> FloatArray:
    """Return the shares (k,) of the classes."""
    counts = np.bincount(y, weight, minlength=n_classes).astype(np.float64)
    return counts / counts.sum()


def forget_promise(estimator: Any) -> None:
    """Remove what an estimator knows of a promise that it was fitted with before."""
    for name in ("promise_", "_plain_costs_"):
        vars(estimator).pop(name, None)
