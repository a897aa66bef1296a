"""Decide when costs are only half known: ``python -m benchmarks.deciding``.

On every split one model estimates the probabilities of the test rows, and every rule decides by
them; rules differ only in the costs they decide by. Figures go to
``benchmarks/results/deciding.json`` and into the tables of ``docs/bench_deciding.md``; ``--show``
fills the tables from the stored figures. Needs ``ECSELM_DATA``.

The stored figures are those of the seeds from 200 on, which chose nothing. Seeds 0 to 9 and 100 to
159 were looked at while the rules were written; ``--first 100 --print`` prints their tables.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks.results_page import END, HERE, KEPT
from benchmarks.tables import table
from ecselm import ECSELMClassifier
from ecselm._processes import end_with_parent
from ecselm.costs import CostConstraints
from ecselm.costs.policy import normalised, settled_answers
from ecselm.paper.bench.probabilities import log_loss
from ecselm.paper.datasets import load_gas, load_german, load_keel, load_ordinal

PAGE = HERE.parent / "docs" / "bench_deciding.md"
FILE = KEPT / "deciding.json"
BEGIN = {name: f"<!-- deciding: {name} -->\n" for name in ("average", "sets", "german")}
FIRST, N_SPLITS = 200, 20  # seeds of the confirmation
N_MATRICES = 200  # drawn from the region, of which each is the truth once
BLOCK = 256  # true matrices at a time
RULES = (
    "expected",
    "minimax_regret",
    "geometric mean",
    "arithmetic mean",
    "0/1 costs",
    "learned for the G-mean",
)
OURS = RULES[:2]
TRUE_GERMAN = np.array([[0.0, 1.0], [5.0, 0.0]])  # published with the data, shown to no rule
Rows = tuple[np.ndarray, np.ndarray]


def german() -> Rows:
    """Return German credit, 0 for good and 1 for bad customers."""
    data = load_german()
    return data.X, np.searchsorted(data.classes, data.y)


def pima() -> Rows:
    """Return pima of KEEL, 1 for diabetes."""
    data = load_keel("pima")
    return data.X, np.asarray(data.y)


def wine() -> Rows:
    """Return white wines in five levels: 4 or less, 5, 6, 7, 8 or more."""
    data = load_ordinal("wine-white")
    return data.X, np.clip(data.y, 4, 8) - 4


def gas() -> Rows:
    """Return the steady state of six sensors in batch 1, for six gases."""
    data = load_gas(1)
    return data.X, np.searchsorted(data.classes, data.y)


def ratio(low: float, high: float) -> CostConstraints:
    """State that missing class 1 costs between so many times a false alarm."""
    return CostConstraints([0, 1], intervals={(1, 0): (low, high)})


def wine_costs() -> CostConstraints:
    """State costs of levels in comparison with underrating a wine by one level, which costs 1.

    Overrating by one level costs 1 to 3, a mistake by two or more levels 2 to 20; to
    overrate a wine so far is worse than to underrate one as far between the same levels.
    """
    levels = range(5)
    far = [(low, high) for low in levels for high in levels if high - low > 1]
    intervals = {(level, level + 1): (1, 3) for level in levels[:-1]}
    intervals |= {pair: (2, 20) for low, high in far for pair in ((low, high), (high, low))}
    order = [((low, high), (high, low)) for low, high in far]
    return CostConstraints(list(levels), intervals=intervals, order=order)


def gas_costs() -> CostConstraints:
    """State that missing ammonia (2) or toluene (5) costs 2 to 50, and missing ammonia more."""
    return CostConstraints(list(range(6)), intervals={2: (2, 50), 5: (2, 50)}, order=[(2, 5)])


@dataclass(frozen=True, slots=True)
class Task:
    """A table and what is stated of its costs."""

    rows: Callable[[], Rows]
    costs: Callable[[], CostConstraints]
    true_cost: np.ndarray | None = None


TASKS = {
    "German credit, 1..100": Task(german, lambda: ratio(1, 100), TRUE_GERMAN),
    "German credit, 2..20": Task(german, lambda: ratio(2, 20), TRUE_GERMAN),
    "German credit, 4..6": Task(german, lambda: ratio(4, 6), TRUE_GERMAN),
    "pima": Task(pima, lambda: ratio(2, 20)),
    "wine quality": Task(wine, wine_costs),
    "gas": Task(gas, gas_costs),
}
SETS = ("German credit, 1..100", "pima", "wine quality", "gas")  # of the averages
QUESTIONS = tuple(name for name in TASKS if name.startswith("German"))


@dataclass(frozen=True, slots=True)
class Split:
    """Figures of one split: regrets by rule, normalised."""

    data: str
    seed: int
    accuracy: float
    log_loss: float
    settled: float
    mean: dict[str, float]
    worst: dict[str, float]
    model: dict[str, float]  # mean in expectation over the probabilities, without labels
    true: dict[str, float] = field(default_factory=dict)  # at published costs
    costs: dict[str, list[list[float]]] = field(default_factory=dict)  # that rules decide by


def half(rows: Rows, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the rows of training and test, half of every class each."""
    X, y = rows
    train, test = train_test_split(np.arange(len(y)), test_size=0.5, stratify=y, random_state=seed)
    return X[train], y[train], X[test], y[test]


def regrets(
    P: np.ndarray, y: np.ndarray, M: np.ndarray, costs: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return by rule what its decisions cost beyond those by the true costs M (n, k, k).

    Costs are those of the true classes ``y``, in the mean over rows with the probabilities P.
    Chance may make a regret negative.
    """
    k = P.shape[1]
    confusion = np.array(
        [np.bincount(y * k + (P @ one).argmin(axis=1), minlength=k * k) for one in costs.values()]
    ) / len(y)
    paid = M.reshape(len(M), -1) @ confusion.T  # (n, rules)
    least = np.empty(len(M))
    for start in range(0, len(M), BLOCK):
        part = M[start : start + BLOCK]
        chosen = np.einsum("ni,aij->anj", P, part, optimize=True).argmin(axis=2)
        own = np.arange(len(part))[:, np.newaxis]
        least[start : start + BLOCK] = part[own, y, chosen].mean(axis=1)
    found = paid - least[:, np.newaxis]
    return {rule: found[:, place] for place, rule in enumerate(costs)}


def expected_regrets(
    P: np.ndarray, M: np.ndarray, costs: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return the regrets by rule that the probabilities themselves expect, never negative."""
    least = np.array([(P @ one).min(axis=1).mean() for one in M])
    found = {}
    for rule, one in costs.items():
        confusion = P.T @ np.eye(P.shape[1])[(P @ one).argmin(axis=1)] / len(P)
        found[rule] = (M * confusion).sum(axis=(1, 2)) - least
    return found


def run(data: str, seed: int) -> Split:
    """Fit on one half of the rows, and compare the rules on the other."""
    warnings.simplefilter("ignore")  # of few cases in a class, which is known
    task = TASKS[data]
    X, y, X_test, y_test = half(task.rows(), seed)
    constraints = task.costs()
    costs, k = {}, len(constraints.classes)
    P: Any = None
    for rule in OURS:
        model = ECSELMClassifier(cost=constraints, rule=rule, n_jobs=1, random_state=seed)
        model.fit(X, y)
        proba = model.predict_proba(X_test)
        if P is not None and not np.array_equal(P, proba):
            raise ValueError("rules must have the same probabilities, got others")
        P, costs[rule] = proba, model.cost_matrix_
    costs["geometric mean"] = np.sqrt(constraints.low * constraints.high)
    costs["arithmetic mean"] = constraints.mean()
    costs["0/1 costs"] = 1.0 - np.eye(k)
    learned = ECSELMClassifier(scoring="gmean", n_jobs=1, random_state=seed).fit(X, y)
    costs["learned for the G-mean"] = learned.cost_matrix_

    shares = np.bincount(y, minlength=k) / len(y)
    drawn = normalised(constraints.sample(N_MATRICES, np.random.default_rng([seed, 1])), shares)
    corners = normalised(constraints.vertices(), shares)
    over = regrets(P, y_test, np.concatenate([drawn, corners]), costs)
    true = {}
    if task.true_cost is not None:
        M = normalised(task.true_cost[np.newaxis], shares)
        true = {rule: float(one[0]) for rule, one in regrets(P, y_test, M, costs).items()}
    return Split(
        data,
        seed,
        float((P.argmax(axis=1) == y_test).mean()),
        log_loss(P, y_test),
        float(settled_answers(constraints.region, P).any(axis=1).mean()),
        {rule: float(one[:N_MATRICES].mean()) for rule, one in over.items()},
        {rule: float(one.max()) for rule, one in over.items()},
        {rule: float(one.mean()) for rule, one in expected_regrets(P, drawn, costs).items()},
        true,
        {rule: np.round(one, 6).tolist() for rule, one in costs.items()},
    )


def cell(values: Sequence[float], digits: int = 3) -> str:
    """Return the mean over splits with its standard error."""
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{np.mean(values):.{digits}f} ± {error:.{digits}f}"


def by_seed(splits: Sequence[Split], names: Sequence[str], kind: str, rule: str) -> list[float]:
    """Return a regret of every seed, in the mean over sets."""
    seeds = sorted({one.seed for one in splits})
    return [
        float(
            np.mean([getattr(s, kind)[rule] for s in splits if s.seed == seed and s.data in names])
        )
        for seed in seeds
    ]


def tables(splits: Sequence[Split]) -> dict[str, str]:
    """Return the tables of the page by name."""
    rows = []
    for rule in RULES:
        mean, worst, model = (
            by_seed(splits, SETS, kind, rule) for kind in ("mean", "worst", "model")
        )
        more, most = (
            np.subtract(one, by_seed(splits, SETS, kind, ours))
            for one, kind, ours in zip((mean, worst), ("mean", "worst"), OURS, strict=True)
        )
        above = [
            "" if rule == ours else f"{cell(one, 4)} ({(one > 0).sum()} of {len(one)})"
            for one, ours in zip((more, most), OURS, strict=True)
        ]
        rows.append([rule, cell(mean), above[0], cell(worst), above[1], cell(model, 4)])
    average = table(
        [
            "decided by",
            "mean regret",
            f"above {OURS[0]}",
            "worst regret",
            f"above {OURS[1]}",
            "mean regret by P",
        ],
        rows,
    )
    sets, german = [], []
    for data in TASKS:
        mine = [one for one in splits if one.data == data]
        settled = cell([one.settled for one in mine], 2)
        for rule in RULES:
            own = [data, settled, rule]
            own += [cell([getattr(s, kind)[rule] for s in mine]) for kind in ("mean", "worst")]
            if data in SETS:
                sets.append(own)
            if data in QUESTIONS:
                german.append([*own, cell([one.true[rule] for one in mine])])
    header = ["data", "settled", "decided by", "mean regret", "worst regret"]
    return {
        "average": average,
        "sets": table(header, sets),
        "german": table(["stated", *header[1:], "regret at 5:1"], german),
    }


def filled(page: str) -> str:
    """Return the page with the tables of the stored figures."""
    texts = tables(stored(FILE)) if FILE.is_file() else dict.fromkeys(BEGIN, "Not run yet.")
    for name, begin in BEGIN.items():
        before, rest = page.split(begin, 1)
        page = f"{before}{begin}{texts[name]}\n{rest[rest.index(END) :]}"
    return page


def stored(path: Path) -> list[Split]:
    """Return the splits of a file."""
    return [Split(**one) for one in json.loads(path.read_text(encoding="utf-8"))]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run every split, store the figures, and fill the page."""
    parser = argparse.ArgumentParser(description="Compare rules for costs that are half known.")
    parser.add_argument("--splits", type=int, default=N_SPLITS)
    parser.add_argument("--first", type=int, default=FIRST, help="seed of the first split")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--show", action="store_true", help="fill the page from stored figures")
    parser.add_argument("--print", action="store_true", help="print the tables and store nothing")
    options = parser.parse_args(arguments)
    if not options.show:
        seeds = range(options.first, options.first + options.splits)
        names = [name for name in TASKS for _ in seeds]
        with ProcessPoolExecutor(options.jobs, initializer=end_with_parent) as pool:
            splits = list(pool.map(run, names, [*seeds] * len(TASKS)))
        if options.print:
            print("\n\n".join(tables(splits).values()))
            return
        FILE.parent.mkdir(parents=True, exist_ok=True)
        FILE.write_text(json.dumps([asdict(one) for one in splits], indent=1) + "\n")
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
