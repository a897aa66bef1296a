"""Learned costs against the prior: a pull towards it, and whether to keep it."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np

from ecselm._typing import AnyArray
from ecselm.elm.evolution import Evolution
from ecselm.elm.learned import SearchPlan
from ecselm.elm.verdict import FEW, FewCasesWarning, Verdict, weigh
from ecselm.objectives import Engine, Judge, Shrinkage

PRIOR = "prior"  # the costs that the metric asks for


class Weighing:
    """Mixin of estimators that have a prior to hold learned costs against."""

    shrinkage: float = 0.0
    keep_prior: bool | str = False
    gain_: float
    gain_noise_: float
    keeps_prior_: bool

    def _pull(self, plan: SearchPlan) -> Shrinkage | None:
        """Return what pulls costs towards the prior, if anything does."""
        if plan.path is None or self.shrinkage == 0:
            return None
        return Shrinkage(plan.path.prior, self.shrinkage)

    def _weighed(
        self,
        found: Evolution,
        plan: SearchPlan,
        engine: Engine,
        judge: Judge,
        keys: AnyArray,
    ) -> Evolution:
        """Return the prior in the place of what was found where that is no better."""
        prior = found.priors.get(PRIOR)
        if prior is None:
            self._tell_verdict(None)
            return found
        both = np.stack([found.point, prior.point])
        learned, plain = engine.scores(plan.encoding.decode(both, scaled=False))
        verdict = weigh(judge, learned, plain, keys)
        self._tell_verdict(verdict)
        return replace(found, point=prior.point) if self.keeps_prior_ else found

    def _tell_verdict(self, verdict: Verdict | None) -> None:
        """Keep what learned costs gain, and warn where they are not used for want of rows."""
        self.gain_ = np.nan if verdict is None else verdict.gain
        self.gain_noise_ = np.nan if verdict is None else verdict.noise
        always = self.keep_prior == "always"
        self.keeps_prior_ = verdict is not None and (always or not verdict.pays)
        if verdict is not None and verdict.few and self.keeps_prior_ and not always:
            warnings.warn(
                f"the smallest class has {verdict.n_smallest} rows, fewer than {FEW}, and the "
                f"costs learned gain {verdict.gain:.3g} with a noise of {verdict.noise:.3g}: "
                "prior costs are kept",
                FewCasesWarning,
                stacklevel=2,
            )
