"""Keep a full run and write ``docs/access.md``: ``python -m benchmarks.access_page [FOLDER]``.

FOLDER is what ``ecselm reproduce access --output FOLDER`` has left. Sentences about its numbers are
made with the tables, so that they are of the same run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import pandas as pd

from benchmarks.pages import fill_page
from benchmarks.results_page import END, HERE, KEPT, keep
from benchmarks.tables import table
from ecselm.paper.jobs import read_rows
from ecselm.paper.protocols.access import TRUE_COSTS, known_costs
from ecselm.paper.statistics import corrected_t_test

PAGE = HERE.parent / "docs" / "access.md"
N_TRAIN, N_TEST, N_MEMBERS = 125, 275, 50  # pictures of a gallery, and of members in its test
CLOSED = "reject everyone"
OURS, THEIRS = "ECSELM, order", "mcKLR, order"
OLD = "0.1.0"  # before the default became an ensemble of kernel machines
ERRORS = {
    "unseen strangers let in": ("let_in", "unseen strangers"),
    "known strangers let in": ("let_in", "known strangers"),
    "members rejected": ("rejected", ""),
    "members confused": ("confused", ""),
}


def filled(page: str) -> str:
    """Return the page with all tables as the kept results have them."""
    frame = read_rows(KEPT / "access" / "results.parquet")
    parts = {
        "costs": _costs(frame),
        "mistakes": _errors(frame),
        "known": _known(frame),
        "loss": _loss(frame),
        "run": _run(),
        "summary": "\n".join([_cheapest(frame), "", *_sentences(frame)]),
    }
    for name, text in parts.items():
        before, rest = page.split(f"<!-- {name} -->\n", 1)
        page = f"{before}<!-- {name} -->\n{text}\n{rest[rest.index(END) :]}"
    return page


def _by_gallery(frame: pd.DataFrame, metric: str, at: str) -> pd.DataFrame:
    """Return one number of every gallery, galleries by methods."""
    mine = frame[(frame["metric"] == metric) & (frame["at"] == at)]
    return mine.pivot_table(index="split", columns="method", values="value", sort=False)


def _costs(frame: pd.DataFrame) -> str:
    """Return the mean cost of every method by every true cost, and that of rejecting everyone."""
    closed = [f"{truth.rejected * N_MEMBERS / N_TEST:.3f}" for truth in TRUE_COSTS]
    found = {str(truth): _by_gallery(frame, "mean_cost", str(truth)) for truth in TRUE_COSTS}
    rows = [
        [method, *(f"{one[method].mean():.3f} ± {one[method].std():.3f}" for one in found.values())]
        for method in frame["method"].unique()
    ]
    return table(["method", *found], [[CLOSED, *closed], *rows])


def _errors(frame: pd.DataFrame) -> str:
    """Return the error rates of methods without the true costs, in per cent."""
    found = [100.0 * _by_gallery(frame, *place) for place in ERRORS.values()]
    rows = [
        [str(method), *(f"{one[method].mean():.1f} ± {one[method].std():.1f}" for one in found)]
        for method in found[0].columns
    ]
    return table(["method", *ERRORS], rows)


def _known(frame: pd.DataFrame) -> str:
    """Return the error rates of methods with the true costs, in per cent."""
    cells: dict[str, list[str]] = {}
    for cost in TRUE_COSTS:
        known = known_costs(cost)
        let_in = 100.0 * _by_gallery(frame, "let_in", f"unseen strangers, {known}").mean()
        rejected = 100.0 * _by_gallery(frame, "rejected", known).mean()
        for method in let_in.index:
            cell = f"{let_in[method]:.1f} / {rejected[method]:.1f}"
            cells.setdefault(str(method), []).append(cell)
    header = ["method", *map(str, TRUE_COSTS)]
    return table(header, [[method, *row] for method, row in cells.items()])


def _loss(frame: pd.DataFrame) -> str:
    """Return the mean cost of a method beyond its mean cost with the true costs."""
    methods = dict.fromkeys(frame["method"])
    pairs = [
        (name, f"{name.partition(', ')[0]}, truth")
        for name in methods
        if name.endswith((", order", ", guess"))
    ]
    rows = [
        [name, *(_difference(frame, str(cost), name, known) for cost in TRUE_COSTS)]
        for name, known in pairs
        if known in methods
    ]
    return table(["method", *map(str, TRUE_COSTS)], rows)


def _difference(frame: pd.DataFrame, cost: str, name: str, known: str) -> str:
    found = _by_gallery(frame, "mean_cost", cost)
    p = corrected_t_test(found[name], found[known], test_train_ratio=N_TEST / N_TRAIN).p
    return f"{(found[name] - found[known]).mean():+.3f} (p {p:.2f})"


def _run() -> str:
    record = json.loads((KEPT / "access" / "run.json").read_text(encoding="utf-8"))
    text = f"Seed {record['seed']}, version {record['version']}."
    if record["version"] == OLD:
        text += " **Recorded before the default of ECSELM became an ensemble of kernel machines.**"
    return text


def _mean_costs(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the mean cost over galleries, methods by true costs."""
    found = {str(cost): _by_gallery(frame, "mean_cost", str(cost)).mean() for cost in TRUE_COSTS}
    return pd.DataFrame(found)


def _cheapest(frame: pd.DataFrame) -> str:
    """Return which methods have the lowest mean at every true cost."""
    means = _mean_costs(frame)
    knows = means.index.str.endswith(", truth")
    closed = pd.Series(
        {str(cost): cost.rejected * N_MEMBERS / N_TEST for cost in TRUE_COSTS}, name=CLOSED
    )
    rows = [
        [who, *(f"{one[at].idxmin()}, {one[at].min():.3f}" for at in means.columns)]
        for who, one in (
            ("lowest mean without the truth", means[~knows]),
            ("lowest mean with the truth", means[knows]),
        )
    ]
    below = [str(int((means.loc[~knows, at] < closed[at]).sum())) for at in means.columns]
    rows.append([f"of {(~knows).sum()} without the truth, cheaper than to {CLOSED}", *below])
    return table(["", *means.columns], rows)


def _sentences(frame: pd.DataFrame) -> Iterator[str]:
    """Yield what the numbers say of ECSELM given the order, and how certain they are."""
    rejected = _by_gallery(frame, "rejected", "")
    unseen = 100.0 * _by_gallery(frame, *ERRORS["unseen strangers let in"]).mean()
    share = 100.0 * rejected.mean()
    lowest = str(unseen.drop(OURS).idxmin())
    yield (
        f"- **{OURS}** admits {unseen[OURS]:.1f} % of unseen strangers (of the others without the "
        f"truth {lowest} has the least, {unseen[lowest]:.1f} %) and rejects {share[OURS]:.0f} % of "
        f"the members ({THEIRS} {share[THEIRS]:.0f} %, CSLDA-NN, order "
        f"{share['CSLDA-NN, order']:.0f} %). In {int((rejected[OURS] == 1.0).sum())} "
        f"of {len(rejected)} galleries it rejects everyone."
    )
    wins, p = [], []
    for cost in TRUE_COSTS:
        one = _by_gallery(frame, "mean_cost", str(cost))
        wins.append(f"{int((one[OURS] < one[THEIRS]).sum())} at {cost}")
        p.append(corrected_t_test(one[OURS], one[THEIRS], test_train_ratio=N_TEST / N_TRAIN).p)
    last = _by_gallery(frame, "mean_cost", str(TRUE_COSTS[-1]))
    yield (
        f"- It is cheaper than {THEIRS} in so many of {len(last)} galleries: {', '.join(wins)}. "
        f"The smallest p of the differences of their means is {min(p):.2f}. In its worst gallery "
        f"it costs {last[OURS].max():.1f} at {TRUE_COSTS[-1]}, {THEIRS} {last[THEIRS].max():.1f}."
    )
    known = 100.0 * _by_gallery(frame, *ERRORS["known strangers let in"]).mean()
    yield (
        f"- Methods without the truth admit {known.min():.0f} to {known.max():.0f} % of known "
        f"strangers and {unseen.min():.0f} to {unseen.max():.0f} % of unseen ones."
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Keep a run if one is named, and fill the page."""
    fill_page(PAGE, keep, filled, "ecselm reproduce access", arguments)


if __name__ == "__main__":
    main()
