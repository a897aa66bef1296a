"""Questions about costs: what is compared, how it reads, and what each answer states.

Every question compares two bundles of mistakes, ``left`` U and ``right`` V, arrays (k, k) of
numbers of mistakes. With costs M the ratio of what they cost is ``sum(U * M) / sum(V * M)``, and
every choice is an interval of this ratio: two half-spaces of M.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ecselm._typing import AnyArray, BoolArray, FloatArray
from ecselm._wording import all_digits, brief, case_of, confusion_of, listed, quoted
from ecselm.costs import CostConstraints, parse_cost
from ecselm.costs.sentences import Mistake

KINDS = ("order", "ratio", "outcomes")  # the easiest first
DONT_KNOW = "dont_know"
EQUAL = 1.1  # ratio of two costs up to which they are about equal
PER = 1000  # cases of an outcome
LONGEST = 2000  # characters of a text in a file


@dataclass(frozen=True, slots=True)
class CostGroup:
    """Mistakes that cost the same, by what is stated: one unknown, or the unit of all costs.

    Parameters
    ----------
    entries : array of shape (k, k), bool
    mistake : Mistake or None
        As which statements name it; None where a class has some mistakes of other costs.
    parameter : int
        Position in the region of the constraints, -1 for the unit.
    place : tuple of int
        One of the entries, by which it is named.
    singular, plural, every : str
        One of the mistakes, several of them, and several of any of its entries.
    """

    entries: BoolArray
    mistake: Mistake | None
    parameter: int
    place: tuple[int, int]
    singular: str
    plural: str
    every: str

    def bundle(self, number: float = 1.0) -> FloatArray:
        """Return so many of these mistakes, as an array (k, k)."""
        counts = np.zeros(self.entries.shape)
        counts[self.place] = number
        return counts


def cost_groups(constraints: CostConstraints) -> list[CostGroup]:
    """Return the mistakes of equal cost, the unit last.

    Examples
    --------
    >>> groups = cost_groups(CostConstraints(["ill", "well"], intervals={"ill": (1, 100)}))
    >>> [one.plural for one in groups]
    ['ill cases taken for well', 'well cases taken for ill']
    """
    region, labels = constraints.region, constraints.classes
    found = [
        _group(pattern > 0, g, labels)
        for g, pattern in enumerate(region.patterns)
        if (pattern > 0).any()
    ]
    unit = region.base > 0
    return [*found, _group(unit, -1, labels)] if unit.any() else found


def _group(entries: BoolArray, parameter: int, classes: AnyArray) -> CostGroup:
    k, labels, n = len(classes), classes.tolist(), int(entries.sum())
    whole = np.flatnonzero(entries.sum(axis=1) == k - 1).tolist()
    # A class stands for its mistakes if all of them cost the same; of the unit one is enough.
    if k > 2 and whole and (parameter < 0 or n == k - 1):
        i = whole[0]
        place = (i, int(np.flatnonzero(entries[i])[0]))
        plural = f"mistakes on {_cases(labels[i])}"
        every = plural if n == k - 1 else "other mistakes"
        singular = f"any mistake on {case_of(labels[i])}"
        return CostGroup(entries, Mistake(i), parameter, place, singular, plural, every)
    i, j = np.argwhere(entries)[0].tolist()
    singular = confusion_of(labels[i], labels[j])
    plural = singular.replace(case_of(labels[i]), _cases(labels[i]), 1)
    every, mistake = plural, Mistake(i, j)
    if n > 1:
        every = "other mistakes" if parameter < 0 else f"other mistakes on {_cases(labels[i])}"
    named = mistake if parameter < 0 or n == 1 else None
    return CostGroup(entries, named, parameter, (i, j), singular, plural, every)


def _cases(label: object) -> str:
    name = str(label)
    return f"{name} cases" if name[:1].isalpha() else f"cases of class {name}"


@dataclass(frozen=True, slots=True)
class Choice:
    """One possible answer to a question.

    Parameters
    ----------
    key : str
        What :meth:`CostElicitor.tell` takes.
    text : str
    settles : float
        Estimated share of rows whose decision would not depend on unknown costs any more.
    low, high : float
        Interval of the ratio of both sides' costs that it states; 0 and infinity are open ends.
    """

    key: str
    text: str
    settles: float = 0.0
    low: float = 0.0
    high: float = np.inf

    @property
    def states(self) -> bool:
        """Return whether it says anything about costs."""
        return self.low > 0 or self.high < np.inf


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A question about costs.

    Parameters
    ----------
    kind : {"order", "ratio", "outcomes"}
    text : str
    choices : tuple of Choice
        The last one is that the person does not know.
    left, right : array of shape (k, k)
        Mistakes that are compared, see the module.
    classes : array of shape (k,)

    Examples
    --------
    >>> from ecselm.costs import CostConstraints
    >>> from ecselm.elicitation import CostElicitor
    >>> constraints = CostConstraints(["ill", "well"], intervals={"ill": (0.01, 100)})
    >>> elicitor = CostElicitor(constraints, [[0.1, 0.9], [0.3, 0.7], [0.6, 0.4]])
    >>> question = elicitor.ask()
    >>> len(question.choices)
    4
    """

    kind: str
    text: str
    choices: tuple[Choice, ...]
    left: FloatArray
    right: FloatArray
    classes: AnyArray

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {self.kind!r}")

    def choice(self, key: object) -> Choice:
        """Return the choice with a key.

        Parameters
        ----------
        key : str or Choice
        """
        wanted = key.key if isinstance(key, Choice) else key
        for one in self.choices:
            if one.key == wanted:
                return one
        known = quoted([one.key for one in self.choices], 10)
        raise ValueError(f"answer must be one of {known}, got {wanted!r}")

    def ratios(self, matrices: FloatArray) -> FloatArray:
        """Return what the left side costs in units of the right one (n,), for costs (n, k, k)."""
        cost = [np.tensordot(matrices, side, axes=2) for side in (self.left, self.right)]
        with np.errstate(divide="ignore", invalid="ignore"):
            return cost[0] / cost[1]

    def answer_for(self, costs: Any) -> str:
        """Return the key of what a person with these costs would answer.

        Parameters
        ----------
        costs : array, DataFrame or dict
            Costs of all mistakes, a row for every true class.
        """
        ratio = float(self.ratios(parse_cost(costs, self.classes)[np.newaxis])[0])
        if np.isnan(ratio):  # both sides cost nothing
            ratio = 1.0
        fitting = [one for one in self.choices if one.states and one.low <= ratio <= one.high]
        # Costs that are about equal are also in some order: the narrower interval says more.
        return min(fitting, key=_width).key

    def statement(self, key: str | Choice) -> str:
        """Return what an answer says, in a sentence.

        Parameters
        ----------
        key : str or Choice
        """
        choice = self.choice(key)
        if not choice.states:
            return f"{self.text.removesuffix('?')}: not known"
        if self.kind == "ratio":
            return f"{self.text.removesuffix('?')}: {choice.text}"
        first, second = (one.text for one in self.choices[:2])
        if choice.key == "second":
            first, second = second, first
        equal = choice.key == "equal"
        if self.kind == "outcomes":
            return f"{first} would be {'about as good as' if equal else 'better than'} {second}"
        factor = max(choice.high, 1.0 / choice.low) if equal else max(choice.low, 1.0 / choice.high)
        if factor > EQUAL:
            by = f"more than {all_digits(round(factor, 6))} times as bad as"
            neither = f"neither is {by} the other: {first}, {second}"
            return neither if equal else f"{first} is {by} {second}"
        return f"{first} is {'about as bad as' if equal else 'worse than'} {second}"

    def with_settled(self, shares: Sequence[float]) -> Question:
        """Return the question with the shares of rows that its choices settle."""
        pairs = zip(self.choices, shares, strict=True)
        return replace(self, choices=tuple(replace(one, settles=share) for one, share in pairs))

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """Return the question as plain values that JSON can hold."""
        return {
            "kind": self.kind,
            "text": self.text,
            "left": self.left.tolist(),
            "right": self.right.tolist(),
            "choices": [
                {
                    "key": one.key,
                    "text": one.text,
                    "settles": one.settles,
                    "low": one.low,
                    "high": None if one.high == np.inf else one.high,
                }
                for one in self.choices
            ],
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any], classes: AnyArray) -> Question:
        """Read what :meth:`to_dict` has written, and check it.

        Parameters
        ----------
        stored : dict
        classes : array of shape (k,)
        """
        try:
            sides = [np.asarray(stored[name], dtype=np.float64) for name in ("left", "right")]
            choices = tuple(
                Choice(
                    checked_text(one["key"], "key"),
                    checked_text(one["text"], "text"),
                    float(one["settles"]),
                    float(one["low"]),
                    np.inf if one["high"] is None else float(one["high"]),
                )
                for one in stored["choices"]
            )
            kind, text = (checked_text(stored[name], name) for name in ("kind", "text"))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"a stored question must be as to_dict writes it, got a fault at {error}"
            ) from error
        shape = (len(classes), len(classes))
        for side in sides:
            if side.shape != shape or not np.isfinite(side).all() or (side < 0).any():
                raise ValueError(
                    "a stored question must compare numbers of mistakes >= 0 in the shape "
                    f"{shape}, got {side.shape}"
                )
            if np.diagonal(side).any() or not side.any():
                raise ValueError("a stored question must compare mistakes, got none")
        if not 1 <= len(choices) <= 8 or len({one.key for one in choices}) < len(choices):
            raise ValueError(
                f"a stored question must have 1 to 8 different choices, got {len(choices)}"
            )
        for one in choices:
            if not (0 <= one.low <= one.high and one.low < np.inf and 0 <= one.settles <= 1):
                raise ValueError(
                    "a stored choice must have 0 <= low <= high and a share of rows, got "
                    f"{one.low}, {one.high} and {one.settles}"
                )
        return cls(kind, text, choices, sides[0], sides[1], classes)


def _width(choice: Choice) -> float:
    with np.errstate(divide="ignore"):
        return float(np.log(choice.high) - np.log(choice.low))


def checked_text(value: Any, name: str) -> str:
    """Return a text, or refuse anything else and what is too long."""
    if not isinstance(value, str) or len(value) > LONGEST:
        raise ValueError(
            f"{name} must be a text of at most {LONGEST} characters, got {brief(repr(value))}"
        )
    return value


def _not_known() -> Choice:
    return Choice(DONT_KNOW, "I don't know")


def order_question(
    first: CostGroup, second: CostGroup, classes: AnyArray, factor: float = EQUAL
) -> Question:
    """Return the question which of two mistakes is worse, or worse by more than a factor.

    Parameters
    ----------
    first, second : CostGroup
    classes : array of shape (k,)
    factor : float, default=1.1
        With more than 1.1 it is asked which is more than so many times as bad.

    Examples
    --------
    >>> constraints = CostConstraints(["ill", "well"], intervals={"ill": (0.01, 100)})
    >>> groups = cost_groups(constraints)
    >>> question = order_question(*groups, constraints.classes)
    >>> question.text
    'Which is worse: an ill case taken for well, or a well case taken for ill?'
    >>> question.answer_for([[0, 5], [1, 0]]), question.answer_for([[0, 1], [1, 0]])
    ('first', 'equal')
    >>> question = order_question(*groups, constraints.classes, 10)
    >>> question.text
    'Which is more than 10 times as bad: an ill case taken for well, or a well case taken for ill?'
    >>> question.answer_for([[0, 5], [1, 0]]), question.answer_for([[0, 20], [1, 0]])
    ('equal', 'first')
    """
    asked, limit = "worse", 1.0
    neither = "both are about equally bad"
    if factor > EQUAL:
        asked, limit = f"more than {all_digits(factor)} times as bad", factor
        neither = f"neither is {asked}"
    choices = (
        Choice("first", first.singular, low=limit),
        Choice("second", second.singular, high=1.0 / limit),
        Choice("equal", neither, low=1.0 / factor, high=factor),
        _not_known(),
    )
    text = f"Which is {asked}: {first.singular}, or {second.singular}?"
    return Question("order", text, choices, first.bundle(), second.bundle(), classes)


def ratio_question(
    worse: CostGroup, lesser: CostGroup, low: float, high: float, classes: AnyArray
) -> Question:
    """Return the question how many of the lesser mistakes one of the worse is worth.

    Parameters
    ----------
    worse, lesser : CostGroup
    low, high : float
        Limits of the bracket in the middle, 1 <= low < high.
    classes : array of shape (k,)

    Examples
    --------
    >>> constraints = CostConstraints(["ill", "well"], intervals={"ill": (1, 100)})
    >>> question = ratio_question(*cost_groups(constraints), 5, 20, constraints.classes)
    >>> question.text
    'How many well cases taken for ill would you accept to avoid one ill case taken for well?'
    >>> [one.text for one in question.choices]
    ['fewer than 5', 'between 5 and 20', 'more than 20', "I don't know"]
    """
    least, most = all_digits(low), all_digits(high)
    choices = (
        Choice("fewer", "not even one" if low == 1 else f"fewer than {least}", high=low),
        Choice("about", f"between {least} and {most}", low=low, high=high),
        Choice("more", f"more than {most}", low=high),
        _not_known(),
    )
    text = f"How many {lesser.plural} would you accept to avoid {_one(worse)}?"
    return Question("ratio", text, choices, worse.bundle(), lesser.bundle(), classes)


def _one(group: CostGroup) -> str:
    article, _, rest = group.singular.partition(" ")
    return f"{'one mistake' if article == 'any' else 'one'} {rest.removeprefix('mistake ')}"


def outcome_question(
    groups: Sequence[CostGroup], first: Sequence[int], second: Sequence[int], classes: AnyArray
) -> Question:
    """Return the question which of two outcomes is better.

    Parameters
    ----------
    groups : sequence of CostGroup
    first, second : sequence of int
        Mistakes of every group among 1000 cases.
    classes : array of shape (k,)

    Examples
    --------
    >>> constraints = CostConstraints(["ill", "well"], intervals={"ill": (1, 100)})
    >>> question = outcome_question(cost_groups(constraints), [1, 3], [40, 10],
    ...                             constraints.classes)
    >>> question.choices[0].text
    '1 ill case taken for well and 3 well cases taken for ill'
    """
    counts = np.array([first, second])
    shown = [g for g in range(len(groups)) if counts[0, g] != counts[1, g]]
    left, right = (np.zeros((len(classes), len(classes))) for _ in range(2))
    for g in shown:
        more = int(counts[0, g] - counts[1, g])
        (left if more > 0 else right)[groups[g].place] = abs(more)
    words = [
        listed([_counted(groups[g], int(row[g])) for g in shown], len(shown)) for row in counts
    ]
    # What is compared is the mistakes that only one of the outcomes has.
    choices = (
        Choice("first", words[0], high=1.0),
        Choice("second", words[1], low=1.0),
        Choice("equal", "both are about equally good", low=1.0 / EQUAL, high=EQUAL),
        _not_known(),
    )
    text = f"Of {PER} cases, which would you rather have: {words[0]}, or {words[1]}?"
    return Question("outcomes", text, choices, left, right, classes)


def _counted(group: CostGroup, number: int) -> str:
    if number == 1 and group.every == group.plural:
        return _one(group).replace("one", "1", 1)
    name = group.every if number != 1 else group.every.replace("mistakes", "mistake", 1)
    return f"{number or 'no'} {name}"
