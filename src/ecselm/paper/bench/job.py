"""One method on one split of one data set, tuned for every target of it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from ecselm._typing import IntArray
from ecselm.paper.bench.cases import BenchCase
from ecselm.paper.bench.choosing import Choice, choose, inner_folds, rows_to_choose_on
from ecselm.paper.bench.contestants import Contestant
from ecselm.paper.bench.fitting import SPOILED, Fitter
from ecselm.paper.bench.judging import Labelled, labelled, scores
from ecselm.paper.methods import Shape
from ecselm.paper.protocols.protocol import Known
from ecselm.paper.protocols.store import Finished, Measured
from ecselm.search import interruptible


@dataclass(frozen=True, slots=True)
class Told:
    """What a method answered to the test rows, when tuned for a target.

    Parameters
    ----------
    answers : array of shape (n,)
    candidate : int
        Its position among the candidates, or -1 where none could be fitted: the answer is
        then the commonest class.
    """

    answers: IntArray
    candidate: int


@dataclass(frozen=True, slots=True)
class BenchJob:
    """One method on one split of one data set.

    Parameters
    ----------
    case : BenchCase
    known : Known
    contestant : Contestant
    split : int
    seed : int
    most_candidates : int or None, default=None
        Evenly chosen from the candidates; None is all.
    """

    case: BenchCase
    known: Known
    contestant: Contestant
    split: int
    seed: int
    most_candidates: int | None = None

    @property
    def key(self) -> str:
        """What the journal knows it by: all that the result depends on within a run."""
        known, method = self.known, self.contestant.method
        if self.contestant.revision:
            method += f", revision {self.contestant.revision}"
        data = f"{known.checksum}-{known.splits}"
        return "|".join(("bench", known.label, data, method, str(self.split)))

    @property
    def title(self) -> str:
        """What a person knows it by."""
        return f"{self.contestant.method} on {self.known.label}, split {self.split}"

    def run(self) -> Finished:
        """Tune on the training rows of the split for every target, and judge on the others."""
        data = self.case.case.load()
        train, test = self.case.splits(data, self.seed)[self.split]
        every = labelled(data)
        rows, asked = every.part(train), every.part(test)
        with threadpool_limits(1), warnings.catch_warnings(), interruptible():
            # Methods of five packages warn of what is no news here: searches cut short, classes
            # of few rows, defaults that will change. What comes of it is judged.
            warnings.simplefilter("ignore")
            start = time.perf_counter()
            candidates, choice = self._choice(rows)
            chosen = time.perf_counter()
            told = self._told(candidates, choice, rows, asked)
            learned = time.perf_counter()
        judged = tuple(row for target in told for row in _judged(target, told[target], asked))
        spent = {"choose": chosen - start, "learn": learned - chosen}
        return Finished(
            self.key, judged, tuple(Measured("seconds", value, at) for at, value in spent.items())
        )

    @property
    def _fitter(self) -> Fitter:
        costly = "mean_cost" in self.case.targets
        return Fitter(self.contestant, costly, self.seed + self.split)

    def _choice(self, rows: Labelled) -> tuple[Sequence[Mapping[str, Any]], Choice]:
        """Return the candidates and how they do in folds of the training rows."""
        few = rows_to_choose_on(rows, self._fitter.seed)
        shape = Shape(len(few.y), few.X.shape[1], len(np.unique(few.y)))
        candidates = _evenly(self.contestant.grid(shape), self.most_candidates)
        return candidates, choose(self._fitter, candidates, few, self.case.targets)

    def _told(
        self,
        candidates: Sequence[Mapping[str, Any]],
        choice: Choice,
        rows: Labelled,
        asked: Labelled,
    ) -> dict[str, Told]:
        """Return answers by target, of the best candidate that all training rows can fit."""
        before = StandardScaler().fit(rows.X)
        rows, asked = rows.scaled(before), asked.scaled(before)
        fitted: dict[tuple[int, str | None], IntArray | None] = {}
        told = {}
        for target in self.case.targets:
            for i in choice.order[target]:
                key = i, None if self.contestant.kind == "chosen" else target
                if key not in fitted:
                    fitted[key] = self._answers(candidates[i], rows, asked, target)
                answers = fitted[key]
                if answers is not None:
                    told[target] = Told(answers, i)
                    break
            else:
                commonest = np.bincount(rows.y).argmax()
                told[target] = Told(np.full(len(asked.y), commonest), -1)
        return told

    def _answers(
        self, candidate: Mapping[str, Any], rows: Labelled, asked: Labelled, target: str
    ) -> IntArray | None:
        """Return the answers to the test rows, or None where the method cannot be fitted."""
        try:
            if self.contestant.kind == "threshold":
                folds = inner_folds(rows.y, self._fitter.seed)
                model = self._fitter.fit_threshold(candidate, rows, target, folds)
            else:
                itself = self.contestant.kind == "itself"
                model = self._fitter.fit(candidate, rows, target if itself else None)
            return np.asarray(model.predict(asked.X), dtype=np.intp)
        except SPOILED:
            return None


def _judged(target: str, told: Told, asked: Labelled) -> tuple[Measured, ...]:
    """Return the value of the target, costs as they are, and which candidate it is of."""
    value = float(scores(target, told.answers, asked)[0])
    value = -value if target == "mean_cost" else value
    return Measured(target, value), Measured("candidate", float(told.candidate), target)


def _evenly(candidates: list[Mapping[str, Any]], most: int | None) -> list[Mapping[str, Any]]:
    if most is None or len(candidates) <= most:
        return candidates
    return [candidates[i * len(candidates) // most] for i in range(most)]
