"""What pages show of a run: scores, the trade-off, rows, commands."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from ecselm._typing import BoolArray, FloatArray
from ecselm._wording import all_digits, case_of
from ecselm.costs import CostConstraints
from ecselm.costs.sentences import Mistake, Statement, as_sentence
from ecselm.estimators._policy import Decisions
from ecselm.metrics import get_metric
from ecselm.report.html import amount, score
from ecselm.saving import load_model
from ecselm.studio.cases import Cases, read_cells
from ecselm.studio.project import Project, Settings
from ecselm.studio.runs import ANSWERS, MODEL, ONNX, PREDICTIONS, Run
from ecselm.study import Card, OperatingPoint, OperatingPoints, explanations
from ecselm.study.decisions import ASSUMED

CASES = 1000  # by which counts are stated
PER_PAGE = 25
SHOWN = ("open", "wrong", "all")
CHART = {"width": 420, "height": 250, "left": 14, "right": 404, "top": 32, "bottom": 220}


# Settings and scores.


def cost_fields(settings: Settings) -> Callable[[str], str]:
    """Return the texts of the form of costs by the names of its fields."""

    def name(truth: int, predicted: int | None) -> str:
        return f"{truth}-{'x' if predicted is None else predicted}"

    found = {
        "metric": settings.metric or "",
        "sentences": "\n".join(settings.sentences),
        "unit": "" if settings.unit is None else all_digits(settings.unit),
        "currency": settings.currency,
    }
    if settings.cost_truth is not None:
        found["cost_mistake"] = name(settings.cost_truth, settings.cost_predicted)
    for one in settings.ranges:
        field = name(one.truth, one.predicted)
        found[f"low-{field}"] = all_digits(one.low)
        found[f"high-{field}"] = "" if one.high == one.low else all_digits(one.high)
    for n, order in enumerate(settings.worse):
        found[f"worse-{n}"] = name(order.truth, order.predicted)
        found[f"than-{n}"] = name(order.than_truth, order.than_predicted)
    return lambda field: found.get(field, "")


def request_sentences(project: Project) -> list[str]:
    """Return what a training would do, in words."""
    settings = project.settings
    kind = "a number" if settings.task == "numbers" else f"one of {len(settings.classes)} classes"
    n = len(project.columns) - 1 - len(settings.left_out)
    n -= sum(one is not None for one in (settings.groups, settings.cost_column))
    inputs = "1 other column" if n == 1 else f"{n} other columns"
    found = [f"Predict {settings.target}, {kind}, from {inputs} of {project.name}."]
    if settings.groups is not None:
        found.append(f"Rows with the same {settings.groups} stay together.")
    if settings.by is not None:
        found.append(f"Results are also stated by {settings.by}.")
    stated = settings.costs() if settings.task == "classes" else None
    known = None if stated is None else stated.constraints(settings.labels)
    if known is not None:
        found += [f"{one[:1].upper()}{one[1:]}." for one in known.sentences()]
    if settings.cost_column is not None:
        found.append(f"Costs of each row are in the column {settings.cost_column}.")
    if settings.metric is not None:
        found.append(f"Optimise the {get_metric(settings.metric).label}.")
    elif settings.task == "classes" and known is None and settings.cost_column is None:
        found.append("No costs are stated: all classes count the same.")
    return found


def scores(card: Card) -> list[tuple[str, str, str]]:
    """Return name, value and description of the scores on test rows, the requested one first."""
    names = sorted(card.test.scores, key=lambda name: name != card.request.metric)
    found = []
    for name in names:
        metric = get_metric(name)
        found.append((metric.label, score(card.test.scores[name]), metric.description))
    return found


# The trade-off.


@dataclass(frozen=True, slots=True)
class Point:
    """One line of the trade-off, per 1000 cases."""

    name: str
    caught: str
    missed: str
    alarms: str
    wrong: str
    cost: str | None
    x: float  # in the chart
    y: float


@dataclass(frozen=True, slots=True)
class TradeOff:
    """What is caught and what it takes, at several costs."""

    class_name: str
    case: str  # in words
    n: int  # test rows
    points: list[Point]
    walk: list[Point]
    current: int  # position of the model in the walk
    unit: str  # of costs
    most_alarms: str
    most_caught: str
    can_choose: bool
    source: str  # of the costs in use, empty for those of the training


def trade_off(run: Run, money: float | None = None, currency: str = "") -> TradeOff:
    """Return the operating points by the costs that count.

    Parameters
    ----------
    run : Run
    money : float or None, default=None
        What a cost of 1 stands for.
    currency : str, default=""
    """
    constraints = run.constraints()
    cases = cases_of(run)
    are_stated = constraints is not None or cases.by_row is not None
    found = _operating(run, cases, constraints, are_stated=are_stated)
    walk = found.walk
    most = max((one.n_alarms for one in walk), default=0) or 1
    total = max((one.n_caught + one.n_missed for one in walk), default=0) or 1

    def shown(one: OperatingPoint, name: str) -> Point:
        cost = None
        if one.mean_cost is not None:
            cost = amount(CASES * one.mean_cost * (money or 1.0))
        per = CASES / found.n
        return Point(
            name,
            amount(per * one.n_caught),
            amount(per * one.n_missed),
            amount(per * one.n_alarms),
            amount(per * one.n_wrong),
            cost,
            round(_between("left", "right", one.n_alarms / most), 1),
            round(_between("bottom", "top", one.n_caught / total), 1),
        )

    unit = currency if money and currency else "cost"
    return TradeOff(
        found.class_name,
        case_of(found.class_name),
        found.n,
        [shown(one, one.name) for one in found.points],
        [shown(one, amount(one.factor)) for one in walk if one.factor is not None],
        len(walk) // 2,
        unit,
        amount(CASES * most / found.n),
        amount(CASES * total / found.n),
        cases.by_row is None,
        run.in_use().source,
    )


def _between(low: str, high: str, share: float) -> float:
    return CHART[low] + (CHART[high] - CHART[low]) * share


def _operating(
    run: Run, cases: Cases, constraints: CostConstraints | None, *, are_stated: bool
) -> OperatingPoints:
    stored = run.card().test.operating
    if run.in_use().costs is None and stored is not None:
        return stored  # of the model itself, whose probabilities may differ in the last digit
    return cases.points(constraints, run.settings().labels, are_stated=are_stated)


def choose_point(run: Run, place: int | None) -> None:
    """Let the model decide at a point of the walk.

    Parameters
    ----------
    run : Run
    place : int or None
        Position in the walk.
    """
    cases, constraints = cases_of(run), run.constraints()
    if cases.by_row is not None:
        raise ValueError("a point can be chosen only where costs are not known by row")
    found = _operating(run, cases, constraints, are_stated=constraints is not None)
    if place is None or place >= len(found.walk):
        raise ValueError(f"the point must be one of {len(found.walk)}, got {place}")
    factor = found.walk[place].factor
    labels = run.settings().labels
    c = [str(label) for label in labels].index(found.class_name)
    matrix = cases.decisions(constraints).policy.matrix[:, : len(labels)].copy()
    if factor is not None:
        matrix[c] *= factor
    source = f"mistakes on {case_of(found.class_name)} times {amount(factor or 1.0)}"
    run.decide_by(CostConstraints.from_costs(matrix, labels), source)


# Rows.


@dataclass(frozen=True, slots=True)
class RowLine:
    """A test row in a list."""

    place: int  # among test rows
    number: int  # in the table, from 1
    truth: str
    answer: str
    is_right: bool
    probability: float  # of the answer
    is_settled: bool
    regret: str


@dataclass(frozen=True, slots=True)
class RowList:
    """A page of test rows."""

    shown: str
    rows: list[RowLine]
    page: int
    n_pages: int
    counts: dict[str, int]  # of rows by what is shown
    supposed: float | None  # ratio of costs that is supposed where none are stated


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a row has its answer."""

    line: RowLine
    sentence: str
    classes: list[tuple[str, float, str, bool]]  # label, probability, expected cost, is answer
    cells: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class _Evaluated:
    """Decisions on test rows, and what is open."""

    decisions: Decisions
    settled: BoolArray
    regret: FloatArray
    supposed: float | None


def _evaluated(cases: Cases, constraints: CostConstraints | None) -> _Evaluated:
    decisions = cases.decisions(constraints)
    if constraints is not None or cases.by_row is not None:
        return _Evaluated(decisions, decisions.settled(), decisions.regret(), None)
    # As the card does where no costs are stated: some mistakes cost up to ten times as much.
    P, own = cases.probabilities, decisions.classes()
    chosen = P[np.arange(len(P)), own]
    others = np.where(np.arange(P.shape[1]) == own[:, np.newaxis], 0.0, P).max(axis=1)
    regret = np.maximum(ASSUMED * others - chosen, 0.0)
    return _Evaluated(decisions, regret <= 0.0, regret, ASSUMED)


def list_rows(run: Run, shown: str, page: int) -> RowList:
    """Return a page of test rows, those that may cost most first.

    Parameters
    ----------
    run : Run
    shown : {"open", "wrong", "all"}
    page : int
        From 1.
    """
    cases = cases_of(run)
    found = _evaluated(cases, run.constraints())
    labels = [str(label) for label in run.settings().labels]
    wrong = found.decisions.classes() != cases.codes
    chosen = {"open": ~found.settled, "wrong": wrong, "all": np.ones(len(wrong), dtype=bool)}
    shown = shown if shown in SHOWN else SHOWN[0]
    order = np.lexsort((cases.positions, -found.regret))
    kept = order[chosen[shown][order]]
    n_pages = max(1, -(-len(kept) // PER_PAGE))
    page = min(max(page, 1), n_pages)
    places = kept[(page - 1) * PER_PAGE : page * PER_PAGE].tolist()
    return RowList(
        shown,
        [_line(cases, found, labels, place) for place in places],
        page,
        n_pages,
        {name: int(one.sum()) for name, one in chosen.items()},
        found.supposed,
    )


def _line(cases: Cases, found: _Evaluated, labels: list[str], place: int) -> RowLine:
    answer, truth = int(found.decisions.classes()[place]), int(cases.codes[place])
    return RowLine(
        place,
        int(cases.positions[place]) + 1,
        labels[truth],
        labels[answer],
        answer == truth,
        float(cases.probabilities[place, answer]),
        bool(found.settled[place]),
        amount(float(found.regret[place])),
    )


def explain_row(run: Run, place: int) -> Explanation | None:
    """Return why a test row has its answer, None if there is no such row."""
    cases = cases_of(run)
    if not 0 <= place < len(cases.codes):
        return None
    constraints = run.constraints()
    by_row = None if cases.by_row is None else cases.by_row[[place]]
    one = Cases(
        cases.positions[[place]],
        cases.codes[[place]],
        cases.probabilities[[place]],
        cases.matrix,
        cases.shares,
        by_row,
    )
    found = _evaluated(one, constraints)
    labels = [str(label) for label in run.settings().labels]
    line = _line(one, found, labels, 0)
    P, k = one.probabilities[0], len(labels)
    costs = found.decisions.policy.expected(one.probabilities, by_row)[0, :k]
    answer = int(found.decisions.classes()[0])
    table = [
        (label, float(P[j]), amount(float(costs[j])), j == answer) for j, label in enumerate(labels)
    ]
    cells = read_cells(run.folder, [place]).get(place, {})
    table.sort(key=lambda row: -row[1])
    why = _why(found, labels, P, answer)
    return Explanation(replace(line, place=place), why, table, list(cells.items()))


def _why(found: _Evaluated, labels: list[str], P: FloatArray, answer: int) -> str:
    if found.supposed is None:
        (text,) = explanations(found.decisions, labels)
        if not text:
            return f"{labels[answer]} is the best answer for all costs that are possible."
        return f"The answer depends on costs that are not known: {text}."
    other = int(np.argmax(np.where(np.arange(len(P)) == answer, -1.0, P)))
    ratio = float(P[answer] / P[other]) if P[other] > 0 else float("inf")
    if found.settled[0]:
        return (
            f"{labels[answer]} is the best answer as long as no mistake costs more than "
            f"{amount(found.supposed)} times as much as another."
        )
    return (
        f"No costs are stated. {labels[other]} would be the better answer if a mistake on "
        f"{case_of(labels[other])} costs more than {amount(ratio)} times as much as one on "
        f"{case_of(labels[answer])}."
    )


# Files.


def commands(run: Run) -> list[tuple[str, str]]:
    """Return what to type for the same model and predictions, each with what it does."""
    found = [("Train the same model and write its report:", run.command())]
    predict = ["ecselm", "predict", MODEL, run.request()["file"], "-o", PREDICTIONS]
    chosen = run.in_use().constraints()
    if chosen is None:
        return [*found, ("Predict rows with it:", shlex.join(predict))]
    if run.file(ANSWERS).is_file():
        ask = ["ecselm", "ask", MODEL, "--answers", ANSWERS]
        words = "Repeat the answers, from the file above, and type s to stop:"
        predicts = ("Predict rows by these answers:", shlex.join(predict))
        return [*found, (words, shlex.join(ask)), predicts]
    labels, matrix = run.settings().labels, cases_of(run).decisions(chosen).policy.matrix
    for i, j in np.argwhere(~np.eye(len(labels), dtype=bool)).tolist():
        one = Statement(Mistake(i, j), float(matrix[i, j]), float(matrix[i, j]))
        predict += ["--cost", as_sentence(one, labels)]
    words = "Predict rows with it, by the costs that were chosen afterwards:"
    return [*found, (words, shlex.join(predict))]


def write_onnx(run: Run) -> None:
    """Write the model that counts as an ONNX graph."""
    from ecselm.onnx import to_onnx  # noqa: PLC0415  an extra that no other page needs

    to_onnx(load_model(run.file(MODEL)).model, run.file(ONNX))


@lru_cache(maxsize=2)
def _cases(folder: str) -> Cases:
    return Cases.load(Path(folder))


def cases_of(run: Run) -> Cases:
    """Return the test rows of a run, of which the last ones stay in memory."""
    return _cases(str(run.folder))
