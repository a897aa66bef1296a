"""A candidate to a fitted model, with the costs it can be told."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sklearn import config_context

from ecselm.metrics import get_scorer
from ecselm.paper.bench.contestants import Contestant
from ecselm.paper.bench.judging import Labelled
from ecselm.paper.methods import get_method

SPOILED = (ValueError, ArithmeticError, RuntimeError)  # what fits raise on too few rows


@dataclass(frozen=True, slots=True)
class Fitter:
    """Fits the candidates of a contestant on any rows.

    Parameters
    ----------
    contestant : Contestant
    costly : bool
        Whether costs are what counts. Only then methods are told any.
    seed : int
        Of all that a method draws.
    """

    contestant: Contestant
    costly: bool
    seed: int

    def fit(self, candidate: Mapping[str, Any], rows: Labelled, target: str | None = None) -> Any:
        """Return a model fitted to rows; one that tunes itself is told the target.

        Costs by row are told to what takes them in ``fit``, else their means by class.
        """
        params = {**self.contestant.params, **candidate}
        if target is not None:
            params["scoring"] = target
        method = self.contestant.chosen_as or self.contestant.method
        model = self._seeded(get_method(method, "classification", **params))
        if not self.costly:
            return model.fit(rows.X, rows.y)
        takes_rows = "sample_cost" in inspect.signature(model.fit).parameters
        if rows.by_row is not None and takes_rows:
            return model.fit(rows.X, rows.y, sample_cost=rows.stated_by_row)
        names = [name for name in model.get_params() if name.rpartition("__")[2] == "cost"]
        model.set_params(**dict.fromkeys(names, rows.stated_by_class))
        return model.fit(rows.X, rows.y)

    def fit_threshold(
        self, candidate: Mapping[str, Any], rows: Labelled, target: str, folds: Any
    ) -> Any:
        """Return a model whose threshold is tuned for the target in the given folds."""
        params = {**candidate, "cv": folds, "n_jobs": 1, "estimator__n_jobs": 1}
        method = self.contestant.method
        if rows.by_row is None:
            cost = rows.stated_by_class if self.costly else None
            made = get_method(method, "classification", scoring=target, cost=cost, **params)
            return self._seeded(made).fit(rows.X, rows.y)
        with config_context(enable_metadata_routing=True):
            scorer = get_scorer(target, labels=list(range(rows.n_classes)))
            scorer.set_score_request(sample_cost=True)
            made = get_method(method, "classification", scoring=scorer, **params)
            return self._seeded(made).fit(rows.X, rows.y, sample_cost=rows.by_row)

    def _seeded(self, model: Any) -> Any:
        names = [name for name in model.get_params() if name.endswith("random_state")]
        return model.set_params(**dict.fromkeys(names, self.seed))
