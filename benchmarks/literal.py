"""The literal loop: equation (15) by ``scipy.linalg.solve``, one candidate after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve

from benchmarks.problems import Problem
from ecselm.fitness import Split, TrainingKernel
from ecselm.fitness.objective import TIE_BREAK

Score = Callable[[np.ndarray, np.ndarray, np.ndarray], float]


def error_rate(Z: np.ndarray, T: np.ndarray, y: np.ndarray) -> float:  # noqa: ARG001
    """Return the share of rows whose class has not the largest score (19)."""
    decided = Z[:, 0] > 0 if Z.shape[1] == 1 else Z.argmax(axis=1)
    return float(np.mean(decided != y))


def squared_loss(Z: np.ndarray, T: np.ndarray, y: np.ndarray) -> float:  # noqa: ARG001
    """Return the mean squared residual."""
    return float(np.mean((T - Z) ** 2))


def tie_broken_rate(Z: np.ndarray, T: np.ndarray, y: np.ndarray) -> float:
    """Return the error rate, and a thousandth of the squared residual relative to T's."""
    return error_rate(Z, T, y) + TIE_BREAK * squared_loss(Z, T, y) / float(T.var())


SCORES: dict[str, Score] = {
    "errors": error_rate,
    "squares": squared_loss,
    "errors, ties by squares": tie_broken_rate,
}


@dataclass(frozen=True, slots=True)
class Fold:
    """Rows to solve for and rows to score, taken once and not by every candidate."""

    train: np.ndarray  # positions
    F: np.ndarray  # H of the training rows (N, L), or their K (N, N)
    F_judged: np.ndarray  # (n, L), or (n, N)
    T: np.ndarray  # (N, m)

    @classmethod
    def of(cls, problem: Problem, split: Split) -> Fold:
        """Take the rows of a split."""
        train, test, features = split.train, split.test, problem.features
        if isinstance(features, TrainingKernel):
            K = features.K
            return cls(train, K[np.ix_(train, train)], K[np.ix_(test, train)], problem.T[train])
        return cls(train, _rows(features, train), _rows(features, test), problem.T[train])


@dataclass(frozen=True, slots=True)
class LiteralLoop:
    """Losses of candidates, each solved for as (15) is printed."""

    folds: list[Fold]
    T: np.ndarray  # (n, m) of the judged rows
    y: np.ndarray  # (n,)
    C: float
    score: Score
    solve: Callable[[Fold, np.ndarray, float], np.ndarray]

    @classmethod
    def of(cls, problem: Problem, splits: str, judge: str) -> LiteralLoop:
        """Prepare the rows of every split."""
        judged, shape = problem.judged(splits), problem.shape
        return cls(
            [Fold.of(problem, split) for split in problem.splits[splits]],
            problem.T[judged],
            problem.y[judged],
            shape.C,
            SCORES[judge],
            dual_scores if shape.is_kernel else primal_scores,
        )

    def __call__(self, B: np.ndarray) -> np.ndarray:
        """Return the losses (P,) for costs of the rows (P, N)."""
        return np.array([self._loss(costs) for costs in B])

    def _loss(self, B: np.ndarray) -> float:
        parts = [self.solve(fold, B[fold.train], self.C) for fold in self.folds]
        return self.score(np.concatenate(parts), self.T, self.y)


def primal_scores(fold: Fold, B: np.ndarray, C: float) -> np.ndarray:
    """Return the scores of the judged rows with beta of (15)."""
    H = fold.F
    A = np.eye(H.shape[1]) / C + H.T @ (B[:, np.newaxis] * H)
    beta = solve(A, H.T @ (B[:, np.newaxis] * fold.T))  # (15)
    return fold.F_judged @ beta


def dual_scores(fold: Fold, B: np.ndarray, C: float) -> np.ndarray:
    """Return the scores of the judged rows with alpha of (15), where K stands for H H'."""
    K = fold.F
    alpha = solve(np.eye(len(K)) / C + B[:, np.newaxis] * K, B[:, np.newaxis] * fold.T)
    return fold.F_judged @ alpha


def _rows(H: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Return some rows, or ``H`` itself where they are all: it may be large."""
    return H if len(positions) == len(H) else H[positions]
