"""Sentences of ``docs/results.md`` that follow from the kept results, and are made with its tables.

Every function takes results as ``benchmarks.results_page`` reads them, and returns sentences that
hold whatever the numbers are. What the numbers mean is for the page to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pandas as pd

from ecselm.paper.protocols.items import FORMS
from ecselm.paper.protocols.published import frame as printed

ALPHA = 0.05
Values = Callable[[str], dict[str, pd.DataFrame]]  # of an item: splits by methods, by data


def forms_in(names: pd.Index) -> list[str]:
    """Return the forms of ECSELM among the methods, in the order of the tables."""
    return [name for name in (*FORMS, "ECSELM") if name in names]


def gains(values: Values) -> Iterator[str]:
    """Yield what every form of ECSELM gains over plain ELM in table I, beside the paper."""
    found = values("table-1")
    paper = printed("table-1")
    by = paper["ECSELM"] - paper["ELM"]
    yield (
        "- **Over plain ELM**, in points of accuracy in the lines of table I. "
        f"The paper: {_range(by)}."
    )
    for form in forms_in(next(iter(found.values())).columns):
        own = pd.Series([100.0 * (one[form] - one["ELM"]).mean() for one in found.values()])
        yield f"  {form}: {_range(own)}."


def standings(rows: list[tuple[str, int, float, float]]) -> Iterator[str]:
    """Yield how often every form is first, and how often its difference from the best is large.

    Parameters
    ----------
    rows : list of (form, rank, gain, p)
        A row per form and line of the table above; the gain is positive where the form is better
        than the best other method.
    """
    frame = pd.DataFrame(rows, columns=["form", "rank", "gain", "p"])
    yield "- **Against the best of the others** in the lines of the table above:"
    parts = []
    for form in forms_in(pd.Index(frame["form"].unique())):
        own = frame[frame["form"] == form]
        clear = own["p"] < ALPHA
        parts.append(
            f"  {form} is above it in {(own['gain'] > 0).sum()} of {len(own)} "
            f"({(clear & (own['gain'] > 0)).sum()} of them with p below {ALPHA:g}), below it in "
            f"{(own['gain'] < 0).sum()} ({(clear & (own['gain'] < 0)).sum()})"
        )
    yield ";\n".join(parts) + "."


def kernels(values: Values) -> Iterator[str]:
    """Yield what learned costs add to a kernel machine, with C and width tuned alike."""
    parts = []
    for ours, plain, metric in (
        ("table-7", "table-6", "accuracy"),
        ("table-11", "table-10", "ARR"),
    ):
        for data, one in values(ours).items():
            other = values(plain).get(data)
            if other is not None and "kernel ECSELM" in one and "KELM" in other:
                found = 100.0 * one["kernel ECSELM"].mean(), 100.0 * other["KELM"].mean()
                parts.append(f"{found[0]:.2f} against {found[1]:.2f} per cent ({metric}) on {data}")
    if parts:
        yield (
            "- **With a kernel**, and C and width tuned as for KELM, costs learned on validation "
            f"rows (kernel ECSELM) have {'; '.join(parts)}."
        )


def unequal(means: pd.DataFrame) -> str:
    """Return where the forms of ECSELM stand on the sets of KEEL, data sets by methods."""
    mean, ranks = 100.0 * means.mean(), means.rank(axis=1, ascending=False).mean()
    ours = forms_in(means.columns)
    others = mean.drop(ours)
    best, first = others.idxmax(), ranks.drop(ours).idxmin()
    own = "; ".join(f"{form} has {mean[form]:.2f} (mean rank {ranks[form]:.2f})" for form in ours)
    return (
        f"- **On KEEL**, by the geometric mean of the recalls, {own}. Of the others {best} has the "
        f"highest mean, {mean[best]:.2f}, and {first} the best mean rank, {ranks[first]:.2f}; ELM "
        f"without weights has {mean['ELM']:.2f}."
    )


def credit(costs: pd.DataFrame) -> str:
    """Return where the forms of ECSELM stand on German credit, splits by methods."""
    mean = costs.mean()
    order = mean.rank(method="min")
    ours = forms_in(costs.columns)
    best = mean.drop(ours).idxmin()
    own = "; ".join(
        f"{form} has rank {order[form]:.0f} of {len(mean)} ({mean[form]:.3f})" for form in ours
    )
    return (
        f"- **On German credit**, by cost, {own}. Of the others {best} is best ({mean[best]:.3f})."
    )


def evolved(values: Values, items: tuple[str, ...]) -> Iterator[str]:
    """Yield in how many lines the search of E-ELM loses to one random draw of the same size."""
    by = [
        (one["E-ELM"] - one["ELM"]).mean() * (-1.0 if item in ("table-4", "table-5") else 1.0)
        for item in items
        for one in values(item).values()
        if {"E-ELM", "ELM"} <= set(one.columns)
    ]
    below = sum(gain < 0 for gain in by)
    if by:
        yield (
            f"- **E-ELM** is worse than ELM, one random draw of the same size, in {below} "
            f"of {len(by)} lines of tables I to X."
        )


def _range(values: pd.Series) -> str:
    return f"{values.min():+.1f} to {values.max():+.1f}"
