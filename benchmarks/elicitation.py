"""Ask simulated people for their costs: ``python -m benchmarks.elicitation``.

The probabilities are those of a logistic regression for rows it was not fitted on. Every person
has costs drawn from what is possible at first, and answers by them. Questions go on until the
expected regret is at most 1 %. Figures go to ``benchmarks/results/elicitation.json`` and into the
tables of ``docs/bench_elicitation.md``; ``--show`` fills the tables from the stored figures, and
``--time`` measures how long a question takes. Needs ``ECSELM_DATA``.

The stored figures are those of the seeds from 200 on, which chose nothing. Seeds 0 to 29 were
looked at while the choice of questions was written; ``--first 0 --print`` prints their tables.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.deciding import Rows, gas, gas_costs, german, pima, ratio, wine, wine_costs
from benchmarks.results_page import END, HERE, KEPT
from benchmarks.tables import table
from ecselm._processes import end_with_parent
from ecselm.costs import CostConstraints
from ecselm.costs.policy import normalised
from ecselm.elicitation import Choice, CostElicitor, Question
from ecselm.elicitation.elicitor import supposed
from ecselm.elicitation.questions import CostGroup, ratio_question
from ecselm.elicitation.selection import as_question, candidates

PAGE = HERE.parent / "docs" / "bench_elicitation.md"
FILE = KEPT / "elicitation.json"
PICTURE = PAGE.parent / "pictures" / "bench_elicitation.svg"
BEGIN = {
    name: f"<!-- elicitation: {name} -->\n" for name in ("questions", "regret", "settled", "true")
}
FIRST, N_PEOPLE = 200, 20  # seeds of the confirmation
TOLERANCE = 0.01
MOST = 40  # questions
SHOWN = 9  # numbers of questions in the curves
RESOLVED = 1.1  # a ratio that is known up to this factor is halved no more


@dataclass(frozen=True, slots=True)
class Task:
    """A table and what is known of its costs before any question."""

    rows: Callable[[], Rows]
    costs: Callable[[], CostConstraints]


TASKS = {
    "German credit": Task(german, lambda: supposed(range(2))),
    "pima": Task(pima, lambda: supposed(range(2))),
    "wine quality": Task(wine, lambda: supposed(range(5))),
    "gas": Task(gas, lambda: supposed(range(6))),
    "German credit, stated": Task(german, lambda: ratio(1, 100)),
    "pima, stated": Task(pima, lambda: ratio(2, 20)),
    "wine quality, stated": Task(wine, wine_costs),
    "gas, stated": Task(gas, gas_costs),
}


@dataclass(frozen=True, slots=True)
class Talk:
    """Figures of one person: after every number of questions."""

    data: str
    method: str
    seed: int
    regret: list[float]  # expected by what is known
    settled: list[float]
    true: list[float]  # regret at the costs of the person
    kinds: list[str]


def out_of_fold(rows: Rows, seed: int) -> np.ndarray:
    """Return probabilities (N, k) of rows by models that were not fitted on them."""
    X, y = rows
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    return cross_val_predict(model, X, y, cv=folds, method="predict_proba")


def ours(elicitor: CostElicitor, _: np.random.Generator) -> Question | None:
    """Return the question that the elicitor chooses."""
    return elicitor.ask()


def at_random(elicitor: CostElicitor, rng: np.random.Generator) -> Question | None:
    """Return a question of a random kind about random mistakes or outcomes.

    Of a ratio, both limits of the middle choice are drawn from what is still possible.
    """
    asked = [(one.question, one.choice.key) for one in elicitor.history]
    found = candidates(elicitor._states[-1].outlook, elicitor._groups, asked, rng)
    if not found:
        return None
    kind = rng.choice(sorted({one.kind for one in found}))
    pairs = sorted({(one.first, one.second) for one in found if one.kind == kind})
    pair = pairs[rng.integers(len(pairs))]
    mine = [one for one in found if one.kind == kind and (one.first, one.second) == pair]
    if kind != "ratio":
        return as_question(mine[rng.integers(len(mine))], elicitor._groups, elicitor.classes)
    ends = max(0.0, float(mine[0].logs.min())), float(mine[0].logs.max())
    low, high = np.exp(np.sort(rng.uniform(*ends, 2))).tolist()
    first, second = (elicitor._groups[g] for g in pair)
    return ratio_question(first, second, low, high, elicitor.classes)


def in_turn(elicitor: CostElicitor) -> tuple[CostGroup, CostGroup, float, float] | None:
    """Return the next cost in turn, the one it is compared with, and the ratios in between."""
    groups, t = elicitor._groups, elicitor._states[-1].belief.t
    unit = next((one for one in groups if one.parameter < 0), groups[0])
    others = [one for one in groups if one is not unit]
    for place in range(len(elicitor.history), len(elicitor.history) + len(others)):
        one = others[place % len(others)]
        values = t[:, one.parameter] / (t[:, unit.parameter] if unit.parameter >= 0 else 1.0)
        if values.max() / values.min() > RESOLVED:
            return one, unit, float(values.min()), float(values.max())
    return None


def halving(elicitor: CostElicitor, _: np.random.Generator) -> Question | None:
    """Return the question whether the next cost is above the middle of what is possible."""
    found = in_turn(elicitor)
    if found is None:
        return None
    one, unit, low, high = found
    middle = float(np.sqrt(low * high))
    choices = (Choice("fewer", "fewer", high=middle), Choice("more", "more", low=middle))
    text = f"{one.singular}: {middle:g} times {unit.singular}?"
    return Question("ratio", text, choices, one.bundle(), unit.bundle(), elicitor.classes)


def thirds(elicitor: CostElicitor, _: np.random.Generator) -> Question | None:
    """Return the question in which third of what is possible the next cost lies."""
    found = in_turn(elicitor)
    if found is None:
        return None
    one, unit, low, high = found
    limits = [low * (high / low) ** share for share in (1 / 3, 2 / 3)]
    return ratio_question(one, unit, *limits, elicitor.classes)


METHODS = {
    "CostElicitor": ours,
    "at random": at_random,
    "halving in turn": halving,
    "thirds in turn": thirds,
}
OURS, *BASELINES, _ = METHODS  # thirds show what the form of a question is worth


def talk(data: str, method: str, seed: int) -> Talk:
    """Ask one person until the expected regret is at most 1 %."""
    warnings.simplefilter("ignore")
    task = TASKS[data]
    P, constraints = out_of_fold(task.rows(), seed), task.costs()
    rng = np.random.default_rng([seed, 7])
    costs = constraints.sample(1, rng)[0]
    paid = P @ normalised(costs[np.newaxis], P.mean(axis=0))[0]
    elicitor = CostElicitor(constraints, P, tolerance=TOLERANCE, random_state=seed)
    regret, settled, true = [], [], []
    while True:
        decided = (P @ elicitor.decision_matrix).argmin(axis=1)
        regret.append(elicitor.regret)
        settled.append(elicitor.settled)
        true.append(float((paid[np.arange(len(P)), decided] - paid.min(axis=1)).mean()))
        if elicitor.regret <= TOLERANCE or len(elicitor.history) == MOST:
            break
        question = METHODS[method](elicitor, rng)
        if question is None:
            break
        elicitor.tell(question.answer_for(costs), question=question)
    kinds = [one.question.kind for one in elicitor.history]
    return Talk(data, method, seed, regret, settled, true, kinds)


def curve(talks: Sequence[Talk], figure: str) -> np.ndarray:
    """Return the mean (SHOWN,) of a figure over people; after the last question it stays."""
    values = [getattr(one, figure) for one in talks]
    return np.mean([[v[min(q, len(v) - 1)] for q in range(SHOWN)] for v in values], axis=0)


def tables(talks: Sequence[Talk]) -> dict[str, str]:
    """Return the tables of the page by name."""
    mine = {
        (data, method): [one for one in talks if (one.data, one.method) == (data, method)]
        for data in TASKS
        for method in METHODS
    }
    mine = {key: found for key, found in mine.items() if found}
    numbers = {key: [len(one.kinds) for one in found] for key, found in mine.items()}
    rows = []
    for data in dict.fromkeys(data for data, _ in mine):
        best = min(float(np.mean(numbers[data, method])) for method in BASELINES)
        share = float(np.mean(numbers[data, OURS])) / best
        cells = [data]
        for method in METHODS:
            n = numbers[data, method]
            error = np.std(n, ddof=1) / np.sqrt(len(n)) if len(n) > 1 else np.nan
            most = "≥ " if max(n) == MOST else ""
            cells.append(f"{most}{np.mean(n):.2f} ± {error:.2f}")
        kinds = [kind for one in mine[data, OURS] for kind in one.kinds]
        used = ", ".join(f"{kinds.count(kind)} {kind}" for kind in sorted(set(kinds)))
        rows.append([*cells, f"{share:.0%}", "yes" if share <= 0.7 else "no", used])
    header = ["data", *METHODS, "share of the best", "<= 70 %", "our questions"]
    found = {"questions": table(header, rows)}
    for figure, digits in (("regret", 3), ("settled", 2), ("true", 3)):
        lines = [
            [data, method, *(f"{value:.{digits}f}" for value in curve(talks_of, figure))]
            for (data, method), talks_of in mine.items()
        ]
        found[figure] = table(["data", "questions", *map(str, range(SHOWN))], lines)
    return found


def draw(talks: Sequence[Talk], path: Path) -> None:
    """Draw regret and settled rows over questions, where nothing is stated."""
    import matplotlib
    from matplotlib import pyplot as plt

    shown = [data for data in TASKS if not data.endswith("stated")]
    settings = {"svg.hashsalt": "ecselm", "svg.fonttype": "none"}  # equal figures, equal files
    with matplotlib.rc_context(settings):
        figure, axes = plt.subplots(2, len(shown), figsize=(10, 5), sharex=True, sharey="row")
        for column, data in zip(axes.T, shown, strict=True):
            for method, style in zip(METHODS, ("-", "--", ":", "-."), strict=True):
                mine = [one for one in talks if (one.data, one.method) == (data, method)]
                for ax, name in zip(column, ("regret", "settled"), strict=True):
                    ax.plot(range(SHOWN), curve(mine, name), style, label=method)
            column[0].set(title=data, yscale="log")
            column[0].axhline(TOLERANCE, color="0.6", linewidth=0.8)
            column[1].set_xlabel("questions")
        axes[0, 0].set_ylabel("expected regret")
        axes[1, 0].set_ylabel("rows settled")
        axes[0, -1].legend(fontsize=8)
        figure.tight_layout()
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)


def seconds(n_rows: int = 10_000) -> dict[str, float]:
    """Return the processor time of a question in milliseconds, by what is known of five classes."""
    names, found = list("abcde"), {}
    P = np.random.default_rng(0).dirichlet(np.full(5, 0.5), n_rows)
    every = {(a, b): (1, 100) for a in names for b in names if a != b}
    known = {"class costs": supposed(names), "all 20": CostConstraints(names, intervals=every)}
    for name, constraints in known.items():
        costs, taken = constraints.sample(1, 1)[0], []
        elicitor = CostElicitor(constraints, P, tolerance=0.001, random_state=0)
        for _ in range(12):
            start = time.process_time()
            question = elicitor.ask()
            taken.append(1000 * (time.process_time() - start))
            if question is None:
                break
            elicitor.tell(question.answer_for(costs))
        found[f"{name}, median"], found[f"{name}, most"] = float(np.median(taken)), max(taken)
    return found


def filled(page: str) -> str:
    """Return the page with the tables of the stored figures."""
    texts = tables(stored(FILE)) if FILE.is_file() else dict.fromkeys(BEGIN, "Not run yet.")
    for name, begin in BEGIN.items():
        before, rest = page.split(begin, 1)
        page = f"{before}{begin}{texts[name]}\n{rest[rest.index(END) :]}"
    return page


def stored(path: Path) -> list[Talk]:
    """Return the talks of a file."""
    return [Talk(**one) for one in json.loads(path.read_text(encoding="utf-8"))]


def rounded(one: Talk) -> dict[str, object]:
    """Return the figures of a person in few digits."""
    plain = asdict(one)
    for figure in ("regret", "settled", "true"):
        plain[figure] = [round(value, 5) for value in plain[figure]]
    return plain


def main(arguments: Sequence[str] | None = None) -> None:
    """Ask every person, store the figures, and fill the page."""
    parser = argparse.ArgumentParser(description="Ask simulated people for their costs.")
    parser.add_argument("--people", type=int, default=N_PEOPLE)
    parser.add_argument("--first", type=int, default=FIRST, help="seed of the first person")
    parser.add_argument(
        "--data", action="append", choices=TASKS, help="renew only this, repeatable"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--show", action="store_true", help="fill the page from stored figures")
    parser.add_argument("--print", action="store_true", help="print the tables and store nothing")
    parser.add_argument("--time", action="store_true", help="measure the time of questions only")
    options = parser.parse_args(arguments)
    if options.time:
        for name, value in seconds().items():
            print(f"{name}: {value:.0f} ms")
        return
    if not options.show:
        seeds = range(options.first, options.first + options.people)
        jobs = [(d, m, s) for d in options.data or TASKS for m in METHODS for s in seeds]
        with ProcessPoolExecutor(options.jobs, initializer=end_with_parent) as pool:
            talks = list(pool.map(talk, *zip(*jobs, strict=True)))
        if options.print:
            print("\n\n".join(tables(talks).values()))
            return
        done = {one.data for one in talks}
        kept = [one for one in stored(FILE) if one.data not in done] if FILE.is_file() else []
        order = list(TASKS)
        lines = [
            json.dumps(rounded(one))
            for one in sorted([*kept, *talks], key=lambda one: order.index(one.data))
        ]
        FILE.parent.mkdir(parents=True, exist_ok=True)
        FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n")
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    draw(stored(FILE), PICTURE)


if __name__ == "__main__":
    main()
