"""ECSELM with few cases of the minority, on one split of one data set."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from ecselm.paper.bench.contestants import find_contestants
from ecselm.paper.bench.fitting import Fitter
from ecselm.paper.bench.judging import Labelled, labelled, scores
from ecselm.paper.bench.minority.thinning import SIZES, thinned_minority
from ecselm.paper.bench.plan import KnownCase
from ecselm.paper.protocols.splits import streams
from ecselm.paper.protocols.store import Finished, Measured
from ecselm.search import interruptible

TARGETS = ("gmean", "f1_macro")
PRIOR, LEARNED, DEFAULT = FORMS = ("prior", "learned", "default")


def kept(target: str) -> str:
    """Return the metric that is 1 where the default kept the prior.

    Examples
    --------
    >>> kept("gmean")
    'gmean, keeps prior'
    """
    return f"{target}, keeps prior"


@dataclass(frozen=True, slots=True)
class MinorityJob:
    """All forms of ECSELM with ``size`` rows of the minority in one split of one data set.

    Parameters
    ----------
    known : KnownCase
    size : int
    split : int
    seed : int
    """

    known: KnownCase
    size: int
    split: int
    seed: int

    @property
    def label(self) -> str:
        """Return what results call the data."""
        return self.known.known.label

    @property
    def key(self) -> str:
        """What the journal knows it by: all that the result depends on within a run."""
        known = self.known.known
        data = f"{known.checksum}-{known.splits}"
        return "|".join(("minority", self.label, data, str(self.size), str(self.split)))

    @property
    def title(self) -> str:
        """What a person knows it by."""
        return f"{self.size} rows of the minority of {self.label}, split {self.split}"

    def run(self) -> Finished:
        """Fit on the thinned training rows for every target, and judge on the whole test.

        Test rows are weighed so that classes have the shares they have in training.
        """
        case = self.known.case
        data = case.case.load()
        folds = case.splits(data, self.seed)
        train, test = folds[self.split]
        rng = streams(len(folds), self.seed)[self.split]
        every = labelled(data)
        rows = every.part(thinned_minority(train, data.y, self.size, rng))
        before = StandardScaler().fit(rows.X)
        rows, asked = rows.scaled(before), every.part(test).scaled(before)
        with threadpool_limits(1), warnings.catch_warnings(), interruptible():
            warnings.simplefilter("ignore")  # that rows are few is what is asked about
            start = time.perf_counter()
            found = tuple(one for target in TARGETS for one in self._judged(target, rows, asked))
            spent = time.perf_counter() - start
        return Finished(self.key, found, (Measured("seconds", spent, "learn"),))

    def _judged(self, target: str, rows: Labelled, asked: Labelled) -> list[Measured]:
        """Return the value of each form, and whether the default kept the prior.

        A default that kept the prior is the form that always does, and is not fitted again.
        One that did not is not the form that never does, whose search begins elsewhere.
        """
        fitter = Fitter(find_contestants(("ECSELM",))[0], costly=False, seed=self.seed + self.split)
        default = fitter.fit({}, rows, target)
        learned = fitter.fit({"keep_prior": False}, rows, target)
        prior = default
        if not default.keeps_prior_:
            prior = fitter.fit({"keep_prior": "always"}, rows, target)
        answers = [model.predict(asked.X) for model in (prior, learned, default)]
        # As many of the minority as were learned from: F1 is about shares, too.
        shares = np.bincount(rows.y, minlength=rows.n_classes) / len(rows.y)
        values = scores(target, answers, asked, shares)
        judged = [
            Measured(target, float(value), form) for form, value in zip(FORMS, values, strict=True)
        ]
        return [*judged, Measured(kept(target), float(default.keeps_prior_), DEFAULT)]


def plan_minority(
    cases: Sequence[KnownCase], seed: int, most_splits: int | None = None
) -> list[MinorityJob]:
    """Return the jobs set by set, so that a run that is stopped has whole sets.

    Parameters
    ----------
    cases : sequence of KnownCase
    seed : int
        Of the rows that are drawn, and with the split of what ECSELM draws.
    most_splits : int or None, default=None
        The first so many splits of a data set; None is all.
    """
    return [
        MinorityJob(one, size, split, seed)
        for one in cases
        for size in SIZES
        for split in range(min(one.known.n_splits, most_splits or one.known.n_splits))
    ]
