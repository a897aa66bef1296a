"""What answers at the door cost, and which mistakes they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ecselm._typing import AnyArray, FloatArray
from ecselm.metrics import mean_cost, savings_score
from ecselm.paper.datasets import Dataset
from ecselm.paper.protocols.access.mistakes import STRANGER, UNSEEN, MistakeCosts
from ecselm.paper.protocols.store import Measured


@dataclass(frozen=True, slots=True)
class DoorJudge:
    """Judge answers by costs that the method may or may not have known.

    ``mean_cost`` is the cost per picture; ``savings`` the share saved of what the best single
    answer to everybody costs, which is to let nobody in, so that 0 is a closed door. ``let_in``
    is the share of strangers let in, ``rejected`` and ``confused`` shares of members.

    Parameters
    ----------
    truths : tuple of MistakeCosts
        By each of which the answers are judged.
    told : bool, default=False
        Whether the method was told the one there is, which is then named beside its mistakes.
    """

    truths: tuple[MistakeCosts, ...]
    told: bool = False

    def __call__(
        self,
        model: Any,
        X: FloatArray,
        y: AnyArray,
        data: Dataset,
    ) -> tuple[Measured, ...]:
        """Return costs by every truth, and the shares of the mistakes."""
        answers = model.predict(X)
        truth = np.where(y == UNSEEN, STRANGER, y)
        costs = (
            Measured(name, score(truth, answers, cost=cost), str(cost))
            for name, score in (("mean_cost", mean_cost), ("savings", savings_score))
            for cost in self.truths
        )
        return (*costs, *self._mistakes(y, answers))

    def _mistakes(self, y: AnyArray, answers: AnyArray) -> Iterator[Measured]:
        member, rejected = ~np.isin(y, (STRANGER, UNSEEN)), answers == STRANGER
        beside = f"told {self.truths[0]}" if self.told else ""
        for name, who, wrong in (
            ("unseen strangers", y == UNSEEN, ~rejected),
            ("known strangers", y == STRANGER, ~rejected),
        ):
            at = ", ".join(filter(None, (name, beside)))
            yield Measured("let_in", float(wrong[who].mean()), at)
        yield Measured("rejected", float(rejected[member].mean()), beside)
        confused = ~rejected & (answers != y)
        yield Measured("confused", float(confused[member].mean()), beside)
