"""Decisions on rows of a table: by which costs, what they depend on, and what asking saves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm._wording import brief, case_of, confusion_of, did_you_mean
from ecselm.costs import CostConstraints, parse_cost
from ecselm.costs.parse import parse_reject_cost
from ecselm.costs.policy import RULES, DecisionPolicy
from ecselm.costs.sentences import Mistake, MistakeReader
from ecselm.estimators._policy import CostDecisionMixin, Decisions
from ecselm.metrics.intervals import from_effects
from ecselm.study.card import (
    Asking,
    Card,
    CostColumn,
    Difference,
    OperatingPoint,
    OperatingPoints,
    UnknownCosts,
)
from ecselm.study.statements import read_stated_costs
from ecselm.tables.cells import read_numbers

ASSUMED = 10.0  # ratio of the costs of two mistakes where none are stated
WALK = tuple(2.0 ** (step / 2.0) for step in range(-12, 13))  # factors of costs
MOST_NAMED = 4  # possible answers that an explanation lists


@dataclass(frozen=True, slots=True)
class CostOptions:
    """What the options of a command state about costs and about asking a person.

    Parameters
    ----------
    cost, worse, between : tuple of str, default=()
        See :func:`ecselm.study.read_stated_costs`.
    columns : tuple of str, default=()
        Columns with costs by row: the name of a column with the cost of any mistake, or
        ``"true->predicted=column"``.
    rule : {"expected", "minimax_regret"}, default="expected"
        How half-known costs decide.
    reject_cost : tuple of str, default=()
        Cost of asking a person: a number, or ``"class=number"`` for every class.
    reject_capacity : float or None, default=None
        Largest share of rows to ask about.
    """

    cost: tuple[str, ...] = ()
    worse: tuple[str, ...] = ()
    between: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    rule: str = RULES[0]
    reject_cost: tuple[str, ...] = ()
    reject_capacity: float | None = None

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise ValueError(f"rule must be one of {', '.join(RULES)}, got {self.rule!r}")
        if self.reject_capacity is not None and not 0 < self.reject_capacity < 1:
            raise ValueError(
                f"--reject-capacity must be a share between 0 and 1, got {self.reject_capacity}"
            )

    @property
    def states_costs(self) -> bool:
        """Return whether any option states what mistakes cost."""
        return bool(self.cost or self.worse or self.between or self.columns)

    @property
    def asks(self) -> bool:
        """Return whether asking a person is an answer."""
        return bool(self.reject_cost) or self.reject_capacity is not None

    def constraints(self, classes: Any) -> CostConstraints | None:
        """Return what is known of the costs of mistakes, None if nothing is stated."""
        stated = read_stated_costs(self.cost, self.worse, self.between, classes)
        if self.columns and stated is not None and not stated.is_exact:
            raise ValueError(
                "--cost-column must go with costs that are known by number, got costs that are "
                f"partly known: {'; '.join(stated.sentences())}"
            )
        return stated

    def ask_cost(self, classes: AnyArray) -> FloatArray | None:
        """Return what asking costs by true class (k,), None if nothing is stated."""
        if not self.reject_cost:
            return None
        labels = classes.tolist()
        reader, by_class = MistakeReader(labels), {}
        for text in self.reject_cost:
            name, sign, number = text.rpartition("=")
            try:
                value = float(number)
            except ValueError:
                value = np.nan
            if not 0 <= value < np.inf:
                raise ValueError(
                    "--reject-cost must be a finite number >= 0, or CLASS=NUMBER for every class, "
                    f"got {text!r}"
                )
            named = [reader.code(name, "--reject-cost")] if sign else range(len(labels))
            for code in named:
                if code in by_class:
                    raise ValueError(f"--reject-cost must state each class once, got {text!r}")
                by_class[code] = value
        return parse_reject_cost({labels[code]: one for code, one in by_class.items()}, classes)


def cost_columns(options: Sequence[str], names: Sequence[str], classes: Any) -> list[CostColumn]:
    """Return the columns that hold costs by row, and the mistakes they are of.

    Examples
    --------
    >>> cost_columns(["ill->well=loss"], ["age", "loss"], ["ill", "well"])
    [CostColumn(name='loss', truth='ill', predicted='well')]
    """
    reader = MistakeReader(np.asarray(classes).tolist())
    labels, found = [str(label) for label in np.asarray(classes).tolist()], []
    for text in options:
        stated, name = split_column(text, names)
        if not stated:
            found.append(CostColumn(name))
            continue
        mistake = reader.mistake(stated, "--cost-column")
        predicted = None if mistake.predicted is None else labels[mistake.predicted]
        found.append(CostColumn(name, labels[mistake.truth], predicted))
    return found


def split_column(text: str, names: Sequence[str]) -> tuple[str, str]:
    """Return the mistake, empty for any, and the column that an option names.

    Examples
    --------
    >>> split_column("ill->well = a=b", ["a=b", "b"])
    ('ill->well', 'a=b')
    """
    if text in names:
        return "", text
    for place in (place for place, sign in enumerate(text) if sign == "="):
        name = text[place + 1 :].strip()
        if name in names:
            return text[:place].strip(), name
    close = did_you_mean(text.rpartition("=")[2].strip(), names)
    raise ValueError(
        "--cost-column must name a column of the table, or read TRUE->PREDICTED=COLUMN, got "
        f"{text!r}{close}"
    )


def row_cost_matrices(
    frame: Any, columns: Sequence[CostColumn], classes: Any, others: FloatArray | None = None
) -> FloatArray | None:
    """Return the costs of rows (N, k, k), None if no column holds any.

    Parameters
    ----------
    frame : DataFrame
    columns : sequence of CostColumn
    classes : array of shape (k,)
    others : array of shape (k, k) or None, default=None
        Costs of the mistakes that no column is about; None is 1.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"loss": [3, 8]})
    >>> row_cost_matrices(frame, [CostColumn("loss", "ill", "well")], ["ill", "well"])[1]
    array([[0., 8.],
           [1., 0.]])
    """
    if not columns:
        return None
    labels = [str(label) for label in np.asarray(classes).tolist()]
    k = len(labels)
    base = 1.0 - np.eye(k) if others is None else np.asarray(others, dtype=np.float64)
    matrices = np.tile(base, (len(frame), 1, 1))
    for column in columns:
        if column.name not in frame.columns:
            raise ValueError(
                f"the table must have the column {column.name!r}, which holds costs"
                f"{did_you_mean(column.name, map(str, frame.columns))}"
            )
        values = _costs_of(frame[column.name], column.name)
        for i, truth in enumerate(labels):
            if column.truth not in {None, truth}:
                continue
            predicted = None if column.predicted is None else labels.index(column.predicted)
            for _, j in Mistake(i, predicted).pairs(k):
                matrices[:, i, j] = values
    return matrices


def _costs_of(column: Any, name: str) -> FloatArray:
    reading = read_numbers(column)
    wrong = np.flatnonzero(reading.bad | ~np.isfinite(reading.values) | ~(reading.values >= 0))
    if wrong.size:
        row = int(wrong[0])
        raise ValueError(
            f"column {name!r} must hold a finite cost >= 0 in every row, got "
            f"{brief(str(column.iloc[row]))!r} in row {row + 1}"
        )
    values: FloatArray = reading.values
    return values


def is_half_known(cost: Any) -> bool:
    """Return whether stated costs leave several matrices possible."""
    return isinstance(cost, CostConstraints) and not cost.is_exact


def last_step(model: Any) -> Any:
    """Return the estimator at the end of a pipeline, or the model itself."""
    return model[-1] if isinstance(model, Pipeline) else model


def decisions_of(model: Any, X: Any, by_row: FloatArray | None = None) -> Decisions | None:
    """Return the decisions of a fitted classifier, None where it has no costs of its own.

    Parameters
    ----------
    model : classifier
        Fitted, or a pipeline that ends with it.
    X : rows as the model takes them
    by_row : array of shape (N, k, k), default=None
        Known costs of the rows.
    """
    decider = last_step(model)
    if not isinstance(decider, CostDecisionMixin):
        return None
    if isinstance(model, Pipeline):
        for _, step in model.steps[:-1]:
            X = step.transform(X)
    return decider._decisions(X, decider._with_asking(X, by_row))


def decisions_by(
    options: CostOptions,
    model: Any,
    card: Card,
    X: Any,
    by_row: FloatArray | None = None,
) -> Decisions | None:
    """Return the decisions of a model by other costs than those it was fitted with.

    Nothing is fitted: the probabilities of the model stay, and costs decide. A capacity is
    that of the rows at hand.

    Parameters
    ----------
    options : CostOptions
        Without any of them the decisions are those of the model.
    model : classifier
        Fitted, or a pipeline that ends with it.
    card : Card
        Of the model.
    X : rows as the model takes them
    by_row : array of shape (N, k, k), default=None
        Known costs of the rows.
    """
    if not (options.states_costs or options.asks):
        return decisions_of(model, X, by_row)
    if not hasattr(model, "predict_proba"):
        raise ValueError("costs must be left out where numbers are predicted")
    classes = np.asarray(model.classes_)
    P = np.asarray(model.predict_proba(X), dtype=np.float64)
    counts = np.array([one.n_train for one in card.data.classes], dtype=np.float64)
    constraints = options.constraints(classes)
    if constraints is None and card.test.cost_matrix is not None:
        constraints = getattr(last_step(model), "constraints_", None)
    if constraints is None:
        constraints = CostConstraints.from_costs(
            None if card.test.cost_matrix is None else np.array(card.test.cost_matrix), classes
        )
    ask_cost = options.ask_cost(classes)
    policy = DecisionPolicy.of_costs(
        *(constraints.region, counts / counts.sum(), options.rule, P),
        ask_cost=ask_cost,
        capacity=options.reject_capacity,
    )
    if by_row is not None and policy.asks:
        column = np.zeros(len(classes)) if ask_cost is None else ask_cost
        asking = np.broadcast_to(column[:, np.newaxis], (len(by_row), len(classes), 1))
        by_row = np.concatenate([by_row, asking], axis=2)
    return Decisions(policy, P, policy.answers(P, by_row), by_row)


def unknown_costs(decisions: Decisions, *, are_stated: bool, by_row: bool) -> UnknownCosts:
    """Return how many answers depend on costs that are not known, and what that may cost.

    Where no costs are stated, mistakes on different classes are supposed to cost up to ten
    times as much as others.
    """
    n = len(decisions.answers)
    if are_stated or by_row:
        settled, regret = decisions.settled(), decisions.regret()
    else:
        P, own = decisions.probabilities, decisions.classes()
        chosen = P[np.arange(n), own]
        others = np.where(np.arange(P.shape[1]) == own[:, np.newaxis], 0.0, P).max(axis=1)
        # The worst costs are the highest of the likeliest other class, the lowest of the answer.
        regret = np.maximum(ASSUMED * others - chosen, 0.0)
        settled = regret <= 0.0
    opened = regret[~settled]
    found = UnknownCosts(
        n,
        int(settled.sum()),
        float(opened.mean()) if opened.size else 0.0,
        float(opened.max()) if opened.size else 0.0,
        None if are_stated or by_row else ASSUMED,
    )
    is_known = by_row or (are_stated and decisions.policy.region.is_point)
    return replace(found, sentence=_unknown_sentence(found, is_known=is_known))


def _unknown_sentence(found: UnknownCosts, *, is_known: bool) -> str:
    if is_known:
        return "All costs are known, so no answer depends on costs that are not."
    rows = "1 test row" if found.n == 1 else f"{found.n} test rows"
    n_open = found.n - found.n_settled
    share = f"{100 * found.n_settled / found.n:.0f} %"
    if found.assumed is not None:
        begin = (
            f"No costs are stated. If some mistakes cost up to {found.assumed:g} times as much as "
            f"others, {share} of the answers to {rows} are the best whatever they cost"
        )
        unit = ", in units of the cheapest mistake"
    else:
        begin = f"{share} of the answers to {rows} do not depend on the costs that are not known"
        unit = ""
    if not n_open:
        return f"{begin}."
    others = "The other one costs" if n_open == 1 else f"The other {n_open} cost"
    each = "" if n_open == 1 else " each on average"
    most = "" if n_open == 1 else f" (one of them at most {found.largest_regret:.3g})"
    return (
        f"{begin}. {others} at most {found.mean_regret:.3g} more{each}{most} than if all costs "
        f"were known{unit}."
    )


def asking_results(
    decisions: Decisions, codes: IntArray, groups: Any = None, confidence: float = 0.95
) -> Asking | None:
    """Return what asking a person saves on test rows, None where it is no answer.

    Costs are those of the true classes; of half-known ones, the mean.

    Parameters
    ----------
    decisions : Decisions
    codes : array of shape (n,)
        True classes, by position.
    groups : array of shape (n,), default=None
        Labels of rows that belong together.
    confidence : float, default=0.95
    """
    policy, asked = decisions.policy, decisions.asked
    if not policy.asks:
        return None
    n, rows = len(codes), np.arange(len(codes))
    costs = policy.mean[codes] if decisions.by_row is None else decisions.by_row[rows, codes]
    without = costs[rows, decisions.classes()]
    spent = costs[rows, decisions.answers]
    effects = (without - spent) / n
    saved = from_effects(float(effects.sum()), effects, groups)
    low, high = (one if np.isfinite(one) else None for one in saved.interval(confidence))
    found = Asking(
        n,
        int(asked.sum()),
        int((asked & (decisions.classes() != codes)).sum()),
        float(spent.mean()),
        float(without.mean()),
        Difference(saved.difference, low, high, saved.beyond_chance(confidence)),
        tuple(np.bincount(codes[asked], minlength=policy.n_classes).tolist()),
    )
    return replace(found, sentence=_asking_sentence(found))


def _asking_sentence(found: Asking) -> str:
    begin = f"{found.n_asked} of {found.n} test rows ({100 * found.n_asked / found.n:.1f} %)"
    if not found.n_asked:
        return f"{begin} are left to a person."
    saved = found.saved
    interval = "too few rows for an interval"
    if saved.low is not None and saved.high is not None:
        interval = f"95 % interval {saved.low:.3g} to {saved.high:.3g}"
    verb = "saves" if saved.value >= 0 else "loses"
    return (
        f"{begin} are left to a person; {found.n_wrong} of these would be answered wrongly. A row "
        f"costs {found.mean_cost:.3g} on average with asking and {found.mean_cost_without:.3g} "
        f"without it: asking {verb} {abs(saved.value):.3g} per row ({interval})."
    )


def counted_by(decisions: Decisions, cost: Any, classes: Any) -> Decisions:
    """Return decisions whose mistakes are counted by stated costs, by whatever they are made.

    Parameters
    ----------
    decisions : Decisions
    cost : CostConstraints, array, DataFrame, dict or None
        Stated costs of mistakes; half-known ones count by their mean already.
    classes : array of shape (k,)
    """
    if cost is None or is_half_known(cost) or decisions.by_row is not None:
        return decisions
    policy = decisions.policy
    mean = policy.mean.copy()
    mean[:, : policy.n_classes] = parse_cost(cost, classes)
    return replace(decisions, policy=replace(policy, mean=mean))


def operating_points(
    decisions: Decisions,
    codes: IntArray,
    classes: Any,
    *,
    are_stated: bool,
    without_promise: FloatArray | None = None,
    positive: str | None = None,
) -> OperatingPoints:
    """Return what decisions by other costs of mistakes on one class would change.

    The class is the one of interest, else the one whose mistakes cost most, or of equal costs
    the rarest. Rows that are left to a person have the best class as their answer.

    Parameters
    ----------
    decisions : Decisions
    codes : array of shape (n,)
        True classes, by position.
    classes : array of shape (k,)
    are_stated : bool
        Whether costs are stated, by which points are counted.
    without_promise : array of shape (k, m) or None, default=None
        Costs that would decide without the promise of the model: one more point, and those of
        which others are multiples.
    positive : str or None, default=None
        The class of interest.
    """
    policy, P, by_row = decisions.policy, decisions.probabilities, decisions.by_row
    n, k = P.shape
    rows = np.arange(n)
    labels = [str(label) for label in np.asarray(classes).tolist()]
    M = policy.matrix[:, :k] if by_row is None else by_row[:, :, :k]
    stated = policy.mean[:, :k] if by_row is None else by_row[:, :, :k].mean(axis=0)
    size, counts = stated.sum(axis=1), np.bincount(codes, minlength=k)
    costly = np.flatnonzero(size >= size.max() * (1 - 1e-9))
    c = int(costly[np.argmin(np.where(counts[costly] > 0, counts[costly], n + 1))])
    c = c if positive is None else labels.index(positive)
    paid = stated[codes] if by_row is None else by_row[rows, codes, :k]

    def point(name: str, factor: float | None, answers: IntArray) -> OperatingPoint:
        own, found = codes == c, answers == c
        return OperatingPoint(
            name,
            factor,
            int((own & found).sum()),
            int((own & ~found).sum()),
            int((~own & found).sum()),
            int((answers != codes).sum()),
            float(paid[rows, answers].mean()) if are_stated else None,
        )

    def decided(costs: FloatArray) -> IntArray:
        expected = P @ costs if costs.ndim == 2 else np.einsum("ni,nij->nj", P, costs)
        return expected.argmin(axis=1)

    def times(factor: float, base: FloatArray) -> IntArray:
        costs = np.array(base)
        costs[..., c, :] *= factor
        return decided(costs)

    of_class, plain = f"a mistake on {case_of(labels[c])}", M
    points = [point("this model", None, decisions.classes())]
    if without_promise is not None:
        plain = without_promise[:, :k]
        points = [
            point("the promise (this model)", None, decisions.classes()),
            point("without the promise", None, decided(plain)),
        ]
    points += [
        point(f"{of_class} costs {much}", factor, times(factor, plain))
        for much, factor in (("half as much", 0.5), ("twice as much", 2.0))
    ]
    if by_row is None and are_stated and not policy.region.is_point:
        low, high = (ends[:, :k] for ends in policy.region.bounds())
        points.append(point("the lowest possible costs", None, decided(low)))
        points.append(point("the highest possible costs", None, decided(high)))
    points.append(point("all mistakes cost the same", None, decided(1.0 - np.eye(k))))
    walk = [point("", factor, times(factor, M)) for factor in WALK]
    return OperatingPoints(labels[c], n, tuple(points), tuple(walk))


def explanations(decisions: Decisions, classes: Any) -> list[str]:
    """Return why each answer (N,) depends on costs that are not known, or is left to a person.

    The text is empty for answers that are settled.

    Examples
    --------
    >>> from ecselm.costs import CostConstraints
    >>> region = CostConstraints.from_sentences("ill->well = 3..20 * well->ill").region
    >>> policy = DecisionPolicy.of_costs(region, np.array([0.5, 0.5]))
    >>> P = np.array([[0.1, 0.9], [0.9, 0.1]])
    >>> explanations(Decisions(policy, P, policy.answers(P)), ["ill", "well"])
    ['ill if an ill case taken for well costs more than 9 times as much as a well case taken for
    ill, well if less', '']
    """
    labels = [str(label) for label in np.asarray(classes).tolist()]
    P, k, found = decisions.probabilities, len(labels), [""] * len(decisions.answers)
    expected = decisions.policy.expected(P, decisions.by_row)
    for row in np.flatnonzero(decisions.asked).tolist():
        found[row] = (
            f"left to a person: {labels[int(expected[row, :k].argmin())]} is expected to cost "
            f"{expected[row, :k].min():.3g}, asking {expected[row, k]:.3g}"
        )
    opened = np.flatnonzero(~decisions.settled() & ~decisions.asked)
    if not opened.size:
        return found
    if k == 2 and not decisions.policy.asks:
        # The more expensive mistake comes first, so that ratios are mostly greater than 1.
        mean = decisions.policy.mean
        i, j = (0, 1) if mean[0, 1] >= mean[1, 0] else (1, 0)
        with np.errstate(divide="ignore"):
            ratios = P[:, j] / P[:, i]
        begin = f"{labels[i]} if {confusion_of(labels[i], labels[j])} costs more than"
        end = f"times as much as {confusion_of(labels[j], labels[i])}, {labels[j]} if less"
        for row in opened.tolist():
            found[row] = f"{begin} {ratios[row]:.3g} {end}"
        return found
    part = Decisions(decisions.policy, P[opened], decisions.answers[opened])
    possible, regret = part.possible(), part.regret()
    names = [*labels, "asking a person"]
    for place, row in enumerate(opened.tolist()):
        best = [name for name, one in zip(names, possible[place], strict=False) if one]
        more = f" and {len(best) - MOST_NAMED} more" if len(best) > MOST_NAMED else ""
        found[row] = (
            f"best for some possible costs: {', '.join(best[:MOST_NAMED])}{more}; the answer costs "
            f"at most {regret[place]:.3g} more than the best"
        )
    return found
