"""Sentences about what mistakes cost: read, taken from dicts, and written in words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from numbers import Real
from typing import Any, NoReturn, TypeVar

import numpy as np

from ecselm._typing import AnyArray
from ecselm._wording import all_digits, case_of, confusion_of, did_you_mean, quoted
from ecselm.costs.weights import label_codes

_ARROW = re.compile(r"->|→")
_ABOVE = re.compile(r"(?<!-)>")
_BELOW = re.compile(r"<")
_TIMES = re.compile(r"\*")
_SIGN = re.compile(r"(?<!-)>=?|<=?|=")
_COMPARED = re.compile(r"(?=((?<!-)>=|<=|=))")  # overlapping: the name may be "x>" in "x>=3"
# A quote opens a name at its beginning only: Crohn's has none. Two within a name are one.
_QUOTED = re.compile(
    r"(?<![^\s>→<=*])([\"'])(?:\1\1|(?!\1).)*\1(?=\s*(?:->|→|[<>=*]|$))", re.DOTALL
)
_NUMBER = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_AMOUNT = re.compile(
    rf"\s*(?:({_NUMBER})|({_NUMBER})?\s*(?<!\.)\.\.(?!\.)\s*({_NUMBER})?)\s*", re.ASCII
)
_LIKE_A_NUMBER = re.compile(
    r"\s*(?:[-+.\d][-+.\deE\s]*|[-+]?(?:inf(?:inity)?|nan))\s*", re.ASCII | re.IGNORECASE
)
_SIMPLE = re.compile(r"[^\W\d_][\w ]*")  # a name that needs no quotes where others have them

MOST_CHARACTERS = 4000  # of a sentence
MOST_SIGNS = 400  # a chain of 100 comparisons has 300 of them

_Reading = TypeVar("_Reading")


@dataclass(frozen=True, slots=True)
class Mistake:
    """A confusion, or any mistake on a class; classes by position."""

    truth: int
    predicted: int | None = None

    def pairs(self, n_classes: int) -> list[tuple[int, int]]:
        """Return the confusions it stands for."""
        others = range(n_classes) if self.predicted is None else [self.predicted]
        return [(self.truth, other) for other in others if other != self.truth]

    def overlaps(self, other: Mistake) -> bool:
        """Return whether both stand for a confusion."""
        return self.truth == other.truth and (
            self.predicted == other.predicted or self.predicted is None or other.predicted is None
        )


@dataclass(frozen=True, slots=True)
class Statement:
    """What is known of one cost: ``low * right <= left <= high * right``.

    Without ``right`` the ends are numbers in the unit of the costs. Statements that say the
    same are equal, however they were stated.

    Examples
    --------
    >>> Statement(Mistake(0, 1), 3.0, 20.0, Mistake(1, 0)).words(["ill", "well"])
    'an ill case taken for well costs between 3 and 20 times as much as a well case taken for ill'
    >>> Statement(Mistake(0), 5.0, 5.0).words(["ill", "well"])
    'any mistake on an ill case costs 5'
    """

    left: Mistake
    low: float  # 0 where open
    high: float  # infinite where open
    right: Mistake | None = None
    text: str = field(default="", compare=False)  # as it was stated; if empty, words stand in

    def __post_init__(self) -> None:
        if not (0 <= self.low <= self.high and self.low < np.inf):
            raise ValueError(
                "low and high must satisfy 0 <= low <= high, of which high may be infinite, got "
                f"{self.low} and {self.high}"
            )

    def words(self, classes: Sequence[Any]) -> str:
        """Return the statement in plain English."""
        labels, ends = _labels(classes), (self.low, self.high)
        left = _mistake_words(self.left, labels)
        if self.right is None:
            if ends == (0, np.inf):
                return f"what {left} costs is not known"
            return f"{left} costs {_span(*ends) if self.high > 0 else 'nothing'}"
        right = _mistake_words(self.right, labels)
        if ends == (0, np.inf):
            return f"what {left} costs compared with {right} is not known"
        if ends == (1, np.inf):
            return f"{left} is worse than {right}"
        once = {(1.0, 1.0): "", (0.0, 1.0): "at most "}
        times = once.get(ends, f"{_span(*ends)} times ")
        return f"{left} costs {times}as much as {right}"


def _mistake_words(mistake: Mistake, labels: list[Any]) -> str:
    truth = labels[mistake.truth]
    if mistake.predicted is None:
        return f"any mistake on {case_of(truth)}"
    return confusion_of(truth, labels[mistake.predicted])


def _span(low: float, high: float) -> str:
    if low == high:
        return all_digits(low)
    if high == np.inf:
        return f"at least {all_digits(low)}"
    if low == 0:
        return f"at most {all_digits(high)}"
    return f"between {all_digits(low)} and {all_digits(high)}"


class MistakeReader:
    """Parse mistakes; the classes decide whether an arrow is part of a name.

    Parameters
    ----------
    classes : list
        Labels of the data.

    Examples
    --------
    >>> reader = MistakeReader(["a->b", "c"])
    >>> reader.mistake("a->b->c", "--cost")
    Mistake(truth=0, predicted=1)
    >>> reader.chain("c > a->b->c", "--worse")
    [Mistake(truth=1, predicted=None), Mistake(truth=0, predicted=1)]
    """

    def __init__(self, classes: list[Any]) -> None:
        self._names = [_normal(str(label)) for label in classes]
        self._numbers = [
            (i, label) for i, label in enumerate(classes) if not isinstance(label, str)
        ]

    def code(self, text: str, option: str) -> int:
        """Return the position of a class, or refuse a name that is none."""
        code = self._code(text)
        if code is None:
            name = _unquoted(text)
            raise ValueError(
                f"{option} must name classes of the data, {quoted(self._names, 10)}, got {name!r}"
                f"{did_you_mean(name, self._names)}"
            )
        return code

    def mistake(self, text: str, option: str) -> Mistake:
        """Return the mistake that ``text`` names, or raise ValueError naming ``option``."""
        readings = self.readings(text)
        if not readings:
            arrow = next(_outside_quotes(_ARROW, text), None)
            for side in [text] if arrow is None else [text[: arrow.start()], text[arrow.end() :]]:
                self.code(side, option)
        mistake = _the_one(readings, text, option)
        _refuse_right([mistake], text, option)
        return mistake

    def chain(self, text: str, option: str) -> list[Mistake]:
        """Return mistakes from the most to the least expensive."""
        chains = self.chain_readings(text)
        if not chains:
            for part in _split(_ABOVE, text):
                self.mistake(part, option)
            raise ValueError(
                f"{option} must put one mistake above another, as in 'a->b > b->a', got {text!r}"
            )
        chain = _the_one(chains, text, option)
        _refuse_right(chain, text, option)
        return chain

    def readings(self, text: str) -> list[Mistake]:
        """Return every mistake that ``text`` may name."""
        alone = self._code(text)
        found = [] if alone is None else [Mistake(alone)]
        for arrow in _outside_quotes(_ARROW, text):
            truth, predicted = self._code(text[: arrow.start()]), self._code(text[arrow.end() :])
            if truth is not None and predicted is not None:
                found.append(Mistake(truth, predicted))
        return found

    def chain_readings(self, text: str, sign: str = ">") -> list[list[Mistake]]:
        """Return the chains that ``text`` may be, at most two; ``sign`` is ``>`` or ``<``."""
        parts = _split(_ABOVE if sign == ">" else _BELOW, text)
        return [chain for chain in self._chains(parts, sign) if len(chain) > 1][:2]

    def _chains(self, parts: list[str], sign: str) -> list[list[Mistake]]:
        """Return ways to parse the parts, of which some may belong together: at most three.

        Three are enough to find two of more than one mistake. The ways of all ends of the parts
        are found from the last to the first, for there may be exponentially many of the whole.
        """
        longest = 1 + 2 * max((name.count(sign) for name in self._names), default=0)
        ways: list[list[list[Mistake]]] = [[[]]]  # of what follows each part, the last first
        for i in reversed(range(len(parts))):
            found = (
                [first, *rest]
                for n, tails in enumerate(ways[: -longest - 1 : -1], start=1)
                if tails
                for first in self.readings(sign.join(parts[i : i + n]))
                for rest in tails
            )
            ways.append(list(islice(found, 3)))
        return ways[-1]

    def _code(self, text: str) -> int | None:
        name = _normal(_unquoted(text))
        if name in self._names:
            return self._names.index(name)
        return next((i for i, label in self._numbers if _same_number(name, label)), None)


def _outside_quotes(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    quoted = [found.span() for found in _QUOTED.finditer(text)]
    for found in pattern.finditer(text):
        if not any(start < found.start() < end for start, end in quoted):
            yield found


def _split(pattern: re.Pattern[str], text: str) -> list[str]:
    places = [found.span() for found in _outside_quotes(pattern, text)]
    starts, ends = [0, *(end for _, end in places)], [*(start for start, _ in places), len(text)]
    return [text[start:end] for start, end in zip(starts, ends, strict=True)]


def _the_one(readings: Sequence[_Reading], text: str, option: str) -> _Reading:
    if len(readings) > 1:
        raise ValueError(
            f"{option} must be read in one way, got {text!r}; put quotes around names of classes"
        )
    return readings[0]


def _refuse_right(mistakes: Iterable[Mistake], text: str, option: str) -> None:
    for mistake in mistakes:
        if mistake.truth == mistake.predicted:
            raise ValueError(f"{option} must name mistakes, got {text!r}, which is right")


def _is_quoted(text: str) -> bool:
    return _QUOTED.fullmatch(text.strip()) is not None


def _unquoted(text: str) -> str:
    name = text.strip()
    return name[1:-1].replace(name[0] * 2, name[0]) if _is_quoted(name) else name


def _normal(name: str) -> str:
    """Return a name in one Unicode normal form."""
    return unicodedata.normalize("NFC", name)


def _same_number(name: str, label: Any) -> bool:
    try:
        return float(name) == float(label)
    except (TypeError, ValueError, OverflowError):
        return False


def _labels(classes: Iterable[Any]) -> list[Any]:
    return [_python(label) for label in classes]


def read_sentence(text: str, classes: Sequence[Any], name: str = "sentences") -> list[Statement]:
    """Parse a sentence about what mistakes cost.

    Parameters
    ----------
    text : str
        An order, ``"a->b > b->a"``, also ``<`` and chains ``"a->b > c->d > e->f"``; a ratio,
        ``"a->b >= 3 * b->a"``, also with ``<=``, ``=``, ``"= 3..20 * b->a"``, of which one end
        may be missing, and without a number, which is then 1; or a cost, ``"a->b = 5"``, also
        with ``>=``, ``<=`` and ``"= 3..20"``. A class ``a`` stands for any mistake on it.
        Names may be quoted, with a quote within them doubled; without quotes they must be
        unambiguous among the classes. A number that is also a class is a number where the
        other side has quotes or an arrow.
    classes : sequence of k labels
    name : str, default="sentences"
        What error messages begin with.

    Returns
    -------
    list of Statement
        One, or one for every two neighbours of a chain.

    Examples
    --------
    >>> read_sentence("ill->well >= 3 * well->ill", ["ill", "well"])
    [Statement(left=Mistake(truth=0, predicted=1), low=3.0, high=inf,
               right=Mistake(truth=1, predicted=0), text='ill->well >= 3 * well->ill')]
    >>> classes = ["flu", "pox", "well"]
    >>> for statement in read_sentence("pox->well > flu->well > well", classes):
    ...     print(statement.words(classes))
    a pox case taken for well is worse than a flu case taken for well
    a flu case taken for well is worse than any mistake on a well case
    >>> read_sentence("il = 5", ["ill", "well"])
    Traceback (most recent call last):
        ...
    ValueError: sentences must name classes of the data, 'ill', 'well', got 'il'; did you mean
    'ill'?
    """
    if not isinstance(text, str):
        raise TypeError(f"{name} must be text, got {text!r}")
    _check_length(text, name)
    reader = MistakeReader(_labels(classes))
    readings = _sentence_readings(text, reader)
    if not readings:
        _refuse_sentence(text, reader, name)
    statements = _the_one(readings, text, name)
    for one in statements:
        _refuse_right([one.left, *([] if one.right is None else [one.right])], text, name)
        if one.right is not None and one.left.overlaps(one.right):
            raise ValueError(f"{name} must not compare a mistake with itself, got {text!r}")
    return [replace(one, text=text.strip()) for one in statements]


def _check_length(text: str, name: str) -> None:
    """Raise ValueError for a sentence whose readings would take long to compare."""
    n_signs = sum(map(text.count, "<>=*→"))
    if len(text) > MOST_CHARACTERS or n_signs > MOST_SIGNS:
        raise ValueError(
            f"{name} must be sentences of at most {MOST_CHARACTERS} characters and {MOST_SIGNS} "
            f"signs, got {text[:30]!r}... with {len(text)} and {n_signs}"
        )


def _sentence_readings(text: str, reader: MistakeReader) -> list[list[Statement]]:
    """Return the ways to read a sentence, each once."""
    readings = [
        [Statement(worse, 1.0, np.inf, milder) for worse, milder in pairwise(chain)]
        for chain in [
            *reader.chain_readings(text, ">"),
            *(chain[::-1] for chain in reader.chain_readings(text, "<")),
        ]
    ]
    for found in _outside_quotes(_COMPARED, text):
        sign = found[1]
        left, right = text[: found.start()], text[found.start() + len(sign) :]
        for mistake in reader.readings(left):
            # Only a name alone and without quotes leaves open whether a number is another.
            bare = mistake.predicted is None and not _is_quoted(left)
            readings += [
                [Statement(mistake, *ends, other)]
                for ends, other in _right_sides(right, sign, reader, bare)
            ]
    return [one for i, one in enumerate(readings) if one not in readings[:i]]


def _right_sides(
    text: str, sign: str, reader: MistakeReader, bare: bool
) -> Iterator[tuple[tuple[float, float], Mistake | None]]:
    """Yield the ends and the mistake of every way to read what follows a sign."""
    ends = _interval(text, sign)
    if ends is not None:
        yield ends, None
    if ends is None or bare:
        for other in reader.readings(text):
            yield {"=": (1.0, 1.0), ">=": (1.0, np.inf), "<=": (0.0, 1.0)}[sign], other
    for star in _outside_quotes(_TIMES, text):
        before, after = text[: star.start()], text[star.end() :]
        for number, named in ((before, after), (after, before)):
            ends = _interval(number, sign)
            if ends is not None and ends[1] > 0:
                yield from ((ends, other) for other in reader.readings(named))


def _interval(text: str, sign: str) -> tuple[float, float] | None:
    """Return the ends that a sign and an amount state, None if they state no interval."""
    found = _AMOUNT.fullmatch(text)
    if found is None or any(float(number or 0) == np.inf for number in found.groups()):
        return None
    one, low, high = (None if number is None else float(number) for number in found.groups())
    if one is not None:
        ends = {"=": (one, one), ">=": (one, np.inf), "<=": (0.0, one)}[sign]
        return ends if ends[1] > 0 or sign == "=" else None
    ends = (low or 0.0, np.inf if high is None else high)
    stated = sign == "=" and (low is not None or high is not None)
    return ends if stated and ends[0] <= ends[1] and ends[1] > 0 else None


def _refuse_sentence(text: str, reader: MistakeReader, name: str) -> NoReturn:
    """Raise ValueError on a sentence that has no reading: on a name, a number, or all of it."""
    signs = list(_outside_quotes(_SIGN, text))
    compared = [sign for sign in signs if "=" in sign[0]]
    numbers: list[str] = []
    if compared:
        # Names may hold signs too: the one after a mistake is meant.
        meant = [sign for sign in compared if reader.readings(text[: sign.start()])]
        sign = meant[0] if meant else compared[-1]
        terms = _split(_TIMES, text[sign.end() :])
        numbers = [term for term in terms if _LIKE_A_NUMBER.fullmatch(term)]
        named = [text[: sign.start()], *(term for term in terms if term not in numbers)]
    else:
        named = _split(_SIGN, text)
        terms = [one for part in named if not reader.readings(part) for one in _split(_TIMES, part)]
        if any(_AMOUNT.fullmatch(term) for term in terms):
            raise ValueError(
                f"{name} must have mistakes on both sides of '>' and '<', and numbers after '=', "
                f"'>=' or '<=', got {text!r}"
            )
    if signs and all(part.strip() for part in named):
        for part in named:
            reader.mistake(part, name)
        if len(numbers) == 1 and len(named) <= 2 and (".." not in numbers[0] or sign[0] == "="):
            raise ValueError(
                f"{name} must state finite numbers with 0 <= low <= high and 0 < high, or a cost "
                f"of 0, got {text!r}"
            )
    raise ValueError(
        f"{name} must compare mistakes, as in 'a->b > b->a' or 'a->b >= 3 * b->a', or state a "
        f"cost, as in 'a->b = 3..20', got {text!r}"
    )


def sentence_classes(sentences: Iterable[str]) -> list[str]:
    """Return the names of classes in sentences, sorted, where no classes are given.

    Parameters
    ----------
    sentences : iterable of str
        See :func:`read_sentence`. Names that hold signs, arrows or ``*`` need quotes.

    Examples
    --------
    >>> sentence_classes(["ill->well >= 3 * well->ill", '"not sure" = 0.5'])
    ['ill', 'not sure', 'well']
    """
    names = set()
    for text in [sentences] if isinstance(sentences, str) else sentences:
        _check_length(text, "sentences")
        signs = ["", *(found[0] for found in _outside_quotes(_SIGN, text))]
        for sign, part in zip(signs, _split(_SIGN, text), strict=True):
            named = _without_number(part) if "=" in sign else part
            names |= {_normal(_unquoted(side)) for side in _split(_ARROW, named) if side.strip()}
    if len(names) < 2:
        raise ValueError(
            f"classes must be given where the sentences name fewer than two, got {sorted(names)}"
        )
    return sorted(names)


def _without_number(text: str) -> str:
    """Return what is named after a sign, nothing if there is a number only."""
    if _LIKE_A_NUMBER.fullmatch(text):
        return ""
    for star in _outside_quotes(_TIMES, text):
        before, after = text[: star.start()], text[star.end() :]
        if _LIKE_A_NUMBER.fullmatch(before):
            return after
        if _LIKE_A_NUMBER.fullmatch(after):
            return before
    return text


def as_sentence(statement: Statement, classes: Sequence[Any]) -> str:
    """Return a sentence that :func:`read_sentence` reads as the statement.

    Examples
    --------
    >>> as_sentence(Statement(Mistake(0, 1), 3.0, np.inf, Mistake(1, 0)), ["ill", "well"])
    'ill->well >= 3 * well->ill'
    >>> as_sentence(Statement(Mistake(0), 1.0, 1.0), [0, 1])
    '"0" = 1'
    """
    labels = _labels(classes)
    names, reader = [str(label) for label in labels], MistakeReader(labels)
    in_quotes = [_in_quotes(name) for name in names]
    if_odd = [
        name if _SIMPLE.fullmatch(name) and name == name.strip() else quoted_name
        for name, quoted_name in zip(names, in_quotes, strict=True)
    ]
    for written in (names, if_odd, in_quotes):
        text = _sentence(statement, written)
        if _sentence_readings(text, reader) == [[statement]]:
            return text
    raise ValueError(f"classes must have names that can be distinguished, got {quoted(names, 10)}")


def _in_quotes(name: str) -> str:
    mark = "'" if '"' in name and "'" not in name else '"'
    return f"{mark}{name.replace(mark, mark * 2)}{mark}"


def _sentence(statement: Statement, names: list[str]) -> str:
    def side(mistake: Mistake) -> str:
        truth = names[mistake.truth]
        return truth if mistake.predicted is None else f"{truth}->{names[mistake.predicted]}"

    low, high = statement.low, statement.high
    if low == high:
        sign, number = "=", all_digits(low)
    elif high == np.inf:
        sign, number = ">=", all_digits(low)
    elif low == 0:
        sign, number = "<=", all_digits(high)
    else:
        sign, number = "=", f"{all_digits(low)}..{all_digits(high)}"
    left = side(statement.left)
    if statement.right is None:
        return f"{left} {sign} {number}"
    right = side(statement.right)
    if number == "1":
        return f"{left} {sign.replace('>=', '>')} {right}"
    return f"{left} {sign} {number} * {right}"


def parse_statements(
    classes: Sequence[Any],
    fixed: Any = None,
    intervals: Any = None,
    order: Any = None,
    ratios: Any = None,
    *,
    name: str | None = None,
) -> list[Statement]:
    """Return what dicts and lists state about costs.

    Parameters
    ----------
    classes : sequence of k labels
    fixed : dict, default=None
        ``{(true, predicted): cost}``, or ``{true: cost}`` for any mistake on a class.
    intervals : dict, default=None
        ``{key: (low, high)}`` with keys as in ``fixed``; 0 and infinity are open ends, and with
        both the cost is not known at all.
    order : list of pairs, default=None
        ``(greater, smaller)``, each a class or a pair ``(true, predicted)``.
    ratios : dict or list, default=None
        ``{(greater, smaller): least}`` or ``{(greater, smaller): (low, high)}``; or a list of
        ``(greater, smaller, least)`` and ``(greater, smaller, low, high)``.
    name : str or None, default=None
        What messages call ``fixed`` and ``intervals`` where both come from one parameter.

    Returns
    -------
    list of Statement
        In the order of the parameters.

    Examples
    --------
    >>> for statement in parse_statements(
    ...     ["ill", "well"], {"well": 1}, {("ill", "well"): (3, 20)}, ratios=[("ill", "well", 2)]
    ... ):
    ...     print(f"{statement.text}: {statement.words(['ill', 'well'])}")
    fixed['well'] = 1: any mistake on a well case costs 1
    intervals[('ill', 'well')] = (3, 20): an ill case taken for well costs between 3 and 20
    ratios: ('ill', 'well', 2): any mistake on an ill case costs at least 2 times as much as any
    mistake on a well case
    """
    labels = np.empty(len(classes), dtype=object)
    labels[:] = _labels(classes)
    statements = []
    by_number, by_ends = name or "fixed", name or "intervals"
    for key, value in _items(fixed, by_number):
        cost = _real(value)
        if not 0 <= cost < np.inf:
            raise ValueError(f"{by_number}[{key!r}] must be one finite cost >= 0, got {value!r}")
        text = f"{by_number}[{key!r}] = {value!r}"
        statements.append(Statement(_mistake(key, labels, by_number), cost, cost, None, text))
    for key, value in _items(intervals, by_ends):
        low, high = _ends(value, f"{by_ends}[{key!r}]")
        text = f"{by_ends}[{key!r}] = {value!r}"
        statements.append(Statement(_mistake(key, labels, by_ends), low, high, None, text))
    for pair in _listed(order, "order"):
        left, right = _compared(pair, labels, "order")
        statements.append(Statement(left, 1.0, np.inf, right, f"order: {pair!r}"))
    for text, pair, value in _stated_ratios(ratios):
        left, right = _compared(pair, labels, "ratios")
        low, high = _ends(value, f"ratios[{pair!r}]", or_least=True)
        statements.append(Statement(left, low, high, right, text))
    return statements


def _items(stated: Any, name: str) -> list[tuple[Any, Any]]:
    if stated is None:
        return []
    if not isinstance(stated, Mapping):
        raise TypeError(f"{name} must be a dict by class or by (true, predicted), got {stated!r}")
    return [(_python(key), _python(value)) for key, value in stated.items()]


def _listed(stated: Any, name: str) -> list[Any]:
    if stated is None:
        return []
    if isinstance(stated, str | Mapping) or not isinstance(stated, Iterable):
        raise TypeError(f"{name} must be a list of tuples, got {stated!r}")
    return [_python(one) for one in stated]


def _stated_ratios(ratios: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield the text of every ratio, the pair that it compares, and its value."""
    if isinstance(ratios, Mapping):
        for pair, value in _items(ratios, "ratios"):
            yield f"ratios[{pair!r}] = {value!r}", pair, value
        return
    for one in _listed(ratios, "ratios"):
        if not isinstance(one, tuple | list) or len(one) not in {3, 4}:
            raise ValueError(
                "ratios must hold tuples (greater, smaller, least) or (greater, smaller, low, "
                f"high), got {one!r}"
            )
        yield f"ratios: {one!r}", tuple(one[:2]), one[2] if len(one) == 3 else tuple(one[2:])


def _compared(pair: Any, classes: AnyArray, name: str) -> tuple[Mistake, Mistake]:
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise ValueError(f"{name} must compare pairs (greater, smaller), got {pair!r}")
    left, right = (_mistake(key, classes, name) for key in pair)
    if left.overlaps(right):
        raise ValueError(f"{name} must not compare a mistake with itself, got {pair!r}")
    return left, right


def _mistake(key: Any, classes: AnyArray, name: str) -> Mistake:
    pair = isinstance(key, tuple | list)
    try:
        codes = label_codes(list(key) if pair else [key], classes, name).tolist()
    except TypeError:  # of a label that no dict can hold
        codes = []
    if len(codes) != (2 if pair else 1):
        raise ValueError(f"{name} must name a class or a pair (true, predicted), got {key!r}")
    mistake = Mistake(*codes)
    _refuse_right([mistake], key, name)
    return mistake


def _ends(value: Any, name: str, *, or_least: bool = False) -> tuple[float, float]:
    pair = value if isinstance(value, tuple | list) else [value, np.inf][: 1 + or_least]
    ends = [_real(end) for end in pair]
    if not (len(ends) == 2 and 0 <= ends[0] <= ends[1] and ends[0] < np.inf and ends[1] > 0):
        raise ValueError(
            f"{name} must be {'a least ratio >= 0 or ' if or_least else ''}a pair (low, high) with "
            f"0 <= low <= high and 0 < high, of which high may be infinite, got {value!r}"
        )
    return ends[0], ends[1]


def _real(value: Any) -> float:
    """Return a number, NaN for anything else."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return np.nan
    try:
        return float(value)
    except OverflowError:
        return np.nan


def _python(value: Any) -> Any:
    """Return a value without types of NumPy, as messages show it."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, tuple | list):
        plain = [_python(one) for one in value]
        return tuple(plain) if isinstance(value, tuple) else plain
    return value
