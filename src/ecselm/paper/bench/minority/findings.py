"""What learning costs gains over the prior, by the number of minority cases."""

from __future__ import annotations

from typing import Any

import numpy as np

from ecselm.metrics.intervals import bootstrap_interval
from ecselm.paper.bench.minority.job import DEFAULT, FORMS, LEARNED, PRIOR, TARGETS, kept

VALUES = ("target", "size", "data", *FORMS, "gain", "kept")
GAINS = ("target", "size", "n", *FORMS, "gain", "low", "high", "kept")


def values_of(results: Any) -> Any:
    """Return means over the splits of every data set, and what learning gains there.

    Parameters
    ----------
    results : DataFrame
        Tidy results of whole data sets.

    Returns
    -------
    DataFrame
        target, size, data, a column for each form, ``gain`` of learned over prior, and
        ``kept``, the share of splits in which the default kept the prior.
    """
    import pandas as pd  # noqa: PLC0415  half a second that nobody else should wait

    means = results.groupby(["metric", "at", "data", "method"], sort=False)["value"].mean()
    rows = []
    for target in TARGETS:
        for size, data in dict.fromkeys(zip(results["at"], results["data"], strict=True)):
            own = {form: float(means[target, size, data, form]) for form in FORMS}
            gain = own[LEARNED] - own[PRIOR]
            share = float(means[kept(target), size, data, DEFAULT])
            rows.append((target, int(size), data, *own.values(), gain, share))
    found = pd.DataFrame(rows, columns=list(VALUES))
    return found.sort_values(["target", "size"], key=_in_order, kind="stable", ignore_index=True)


def gains_of(values: Any) -> Any:
    """Return means over data sets, and the 95 % bootstrap interval (BCa) of the gain.

    Data sets are what is drawn again; of a single one there is no interval.
    """
    import pandas as pd  # noqa: PLC0415

    rows = []
    for (target, size), part in values.groupby(["target", "size"], sort=False):
        forms = (part[form].mean() for form in FORMS)
        low, high = _interval(part["gain"].to_numpy())
        spread = (part["gain"].mean(), low, high)
        rows.append((target, size, len(part), *forms, *spread, part["kept"].mean()))
    return pd.DataFrame(rows, columns=list(GAINS))


def _interval(gains: Any) -> tuple[float, float]:
    if len(gains) < 2:
        return np.nan, np.nan
    found = bootstrap_interval(gains)
    return float(found.low), float(found.high)


def _in_order(column: Any) -> Any:
    """Return what sorts targets as they are listed and sizes by number."""
    return column.map(TARGETS.index) if column.name == "target" else column
