"""Predictions priced over a range of costs of one mistake."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.multiclass import unique_labels

from ecselm._typing import AnyArray, FloatArray
from ecselm.costs import min_cost_decision, parse_cost
from ecselm.costs.labels import label_codes
from ecselm.costs.parse import numbers
from ecselm.metrics import mean_cost

N_RATIOS = 101


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake whose cost varies, while all others cost 1."""

    dear: Any  # a pair (true, predicted), or a class any mistake on which is meant
    classes: AnyArray

    def mean_costs(
        self, y_true: Any, y_pred: Any, ratios: FloatArray, sample_weight: Any
    ) -> FloatArray:
        """Return the mean cost of labels (N,) or of probabilities (N, k) at each ratio (g,)."""
        told = np.asarray(y_pred)
        if told.ndim != 2:
            return self._of_labels(y_true, told, ratios, sample_weight)
        P = numbers(y_pred, "y_pred")
        if P.shape[1] != len(self.classes):
            raise ValueError(
                f"y_pred must have a column per class {self.classes.tolist()} where it holds "
                f"probabilities, got the shape {P.shape}"
            )
        decided = (self.classes[min_cost_decision(P, self._matrix(ratio))] for ratio in ratios)
        return np.array(
            [
                self._cost(y_true, one, ratio, sample_weight)
                for one, ratio in zip(decided, ratios, strict=True)
            ]
        )

    def constant_costs(self, y_true: Any, ratios: FloatArray, sample_weight: Any) -> FloatArray:
        """Return the mean cost of the one answer for all rows that is best at each ratio (g,)."""
        n = len(np.asarray(y_true))
        answers = [np.full(n, label) for label in self.classes]
        return np.min([self._of_labels(y_true, one, ratios, sample_weight) for one in answers], 0)

    def in_words(self) -> str:
        """Return what the mistake is."""
        if not isinstance(self.dear, tuple):
            return f"a mistake on {self.dear}"
        return f"{self.dear[0]} taken for {self.dear[1]}"

    def _of_labels(
        self, y_true: Any, told: AnyArray, ratios: FloatArray, sample_weight: Any
    ) -> FloatArray:
        """Return costs at each ratio, of which they are a linear function."""
        free, once = (self._cost(y_true, told, ratio, sample_weight) for ratio in (0.0, 1.0))
        return free + (once - free) * ratios

    def _cost(self, y_true: Any, told: AnyArray, ratio: float, sample_weight: Any) -> float:
        cost = {self.dear: ratio}
        return mean_cost(y_true, told, cost=cost, labels=self.classes, sample_weight=sample_weight)

    def _matrix(self, ratio: float) -> FloatArray:
        return parse_cost({self.dear: ratio}, self.classes)


def read_classes(y_true: Any, told: Mapping[Any, Any], labels: Any) -> AnyArray:
    """Return the classes stated, or those of the truth and of all labels told."""
    if not told:
        raise ValueError("y_pred must hold the predictions of a method or more, got none")
    if labels is not None:
        return np.asarray(labels)
    answers = [np.asarray(one) for one in told.values()]
    return np.asarray(unique_labels(np.asarray(y_true), *(one for one in answers if one.ndim == 1)))


def read_mistake(dear: Any, classes: AnyArray) -> Mistake:
    """Return the mistake stated; of two classes, to miss the second."""
    if dear is None and len(classes) == 2:
        first, second = classes.tolist()
        return Mistake((second, first), classes)
    if dear is None:
        raise ValueError(
            f"dear must be given for more than two classes, {classes.tolist()}, got None"
        )
    pair = dear if isinstance(dear, tuple) else (dear,)
    codes = label_codes(pair, classes, "dear")
    if len(set(codes.tolist())) != len(pair) or len(pair) > 2:
        raise ValueError(f"dear must be a class or a pair of two classes, got {dear!r}")
    return Mistake(dear, classes)


def read_ratios(ratios: Any, interval: Any) -> FloatArray:
    """Return the ratios stated, or those that show the interval."""
    low, high = (1.0, 1.0) if interval is None else _ends(interval)
    if ratios is None:
        return np.geomspace(min(1.0, low), max(100.0, high), N_RATIOS)
    grid = numbers(ratios, "ratios")
    if grid.ndim != 1 or len(grid) < 2 or not (grid > 0).all() or (np.diff(grid) <= 0).any():
        raise ValueError(f"ratios must be two or more rising numbers > 0, got {ratios!r}")
    return grid


def _ends(interval: Any) -> tuple[float, float]:
    ends = numbers(interval, "interval")
    if ends.shape != (2,) or not 0 < ends[0] < ends[1]:
        raise ValueError(f"interval must be a pair with 0 < low < high, got {interval!r}")
    return float(ends[0]), float(ends[1])
