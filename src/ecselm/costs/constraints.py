"""Cost constraints: everything that is known of the costs of mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from numbers import Integral
from typing import Any, Self

import numpy as np

from ecselm._typing import AnyArray, FloatArray
from ecselm._wording import all_digits, listed
from ecselm.costs.parameters import CostParameters
from ecselm.costs.parse import frame_codes, numbers, parse_cost, row_matrices
from ecselm.costs.region import ContradictionError, CostRegion
from ecselm.costs.sentences import (
    Mistake,
    Statement,
    as_sentence,
    parse_statements,
    read_sentence,
    sentence_classes,
)

SPAN = 100.0  # factor from the unit to an end that is not stated
MOST_LISTED = 12  # sentences of a description about single costs
MOST_TRIED = 64  # statements among which those that contradict an answer are sought


class CostConstraints:
    """What is known of the costs of mistakes: numbers, intervals, order, ratios, answers.

    A cost matrix has a row for every true class and a column for every predicted class. What
    is stated leaves a region of matrices. A mistake that no statement is about, or that others
    are only compared with, costs 1: it is the unit. An end that is not stated is a factor
    ``span`` away from the unit, or a tenth or ten times the other end where that is further.

    Parameters
    ----------
    classes : sequence of k labels
    fixed : dict or None, default=None
        Costs known by number, ``{(true, predicted): cost}``, or ``{true: cost}`` for any
        mistake on a class, which is then one cost.
    intervals : dict or None, default=None
        ``(low, high)`` by the same keys; 0 and ``inf`` are open ends.
    order : list of pairs or None, default=None
        ``(greater, smaller)``, each a class or a pair (true, predicted).
    ratios : dict or list or None, default=None
        ``{(greater, smaller): least}`` or ``{(greater, smaller): (low, high)}``: the first
        costs at least so many times, or between so many times, as much as the second; or a
        list of tuples (greater, smaller, least) or (greater, smaller, low, high).
    answers : sequence of pairs (array of shape (k, k), text), default=()
        Half-spaces ``sum(array * costs) >= 0``, such as answers to questions which of two
        outcomes is worse, and how they read.
    sample_cost : array of shape (N, k, k) or (N,), or None, default=None
        Known costs of N rows, instead of everything else: of each confusion, of which those
        of correct predictions are subtracted, or of any mistake.
    density : callable or None, default=None
        Takes matrices (n, k, k), in the order of ``classes``, and returns how probable each
        is, up to a factor. None is log-uniform: every ratio as probable as its double.
    span : float, default=100
        Greatest factor between the unit and a cost whose other end is not stated.

    Attributes
    ----------
    classes : array of shape (k,)
    low, high : array of shape (k, k)
        Tightest bounds of every cost.

    Examples
    --------
    >>> from ecselm.costs import CostConstraints
    >>> constraints = CostConstraints(["fine", "missed"], intervals={"missed": (3, 20)})
    >>> constraints.mean().round(2)
    array([[0.  , 1.  ],
           [8.96, 0.  ]])
    >>> print(constraints.describe())
    any mistake on a missed case costs between 3 and 20
    every other mistake costs 1
    """

    def __init__(
        self,
        classes: Sequence[Any] | AnyArray,
        fixed: Mapping[Any, Any] | None = None,
        intervals: Mapping[Any, Any] | None = None,
        order: Sequence[Any] | None = None,
        ratios: Any = None,
        *,
        answers: Sequence[tuple[Any, str]] = (),
        sample_cost: Any = None,
        density: Callable[[FloatArray], FloatArray] | None = None,
        span: float = SPAN,
    ) -> None:
        labels = _checked_classes(classes)
        statements = parse_statements(
            labels.tolist(), fixed=fixed, intervals=intervals, order=order, ratios=ratios
        )
        self._set(labels, statements, answers, sample_cost, density, span)

    def _set(
        self,
        classes: AnyArray,
        statements: Iterable[Statement],
        answers: Sequence[tuple[Any, str]],
        sample_cost: Any,
        density: Callable[[FloatArray], FloatArray] | None,
        span: float,
    ) -> None:
        """Store what is known, and refuse contradictions."""
        k = len(classes)
        self.classes = classes
        self.statements = tuple(_once(statements))
        self.answers = tuple(_checked_answer(answer, k) for answer in answers)
        self.sample_cost = None if sample_cost is None else _checked_rows(sample_cost, classes)
        if not (isinstance(span, float | Integral | np.floating) and 1 < span < np.inf):
            raise ValueError(f"span must be a factor > 1, got {span!r}")
        self.density, self.span = density, float(span)
        if density is not None and not callable(density):
            raise ValueError(f"density must be a function of matrices or None, got {density!r}")
        if self.sample_cost is not None and (self.statements or self.answers):
            raise ValueError("costs must be stated once, got sample_cost and other statements")
        self._parameters = CostParameters(self.statements, k)
        if not self.region.bounds()[1].any():
            raise ValueError(
                "cost constraints must let at least one mistake cost something, got 0 for all"
            )

    @classmethod
    def from_statements(
        cls, classes: AnyArray, statements: Iterable[Statement], **known: Any
    ) -> Self:
        """Return the constraints of parsed statements; ``known`` as in :meth:`from_sentences`."""
        made = cls.__new__(cls)
        given = {"answers": (), "sample_cost": None, "density": None, "span": SPAN, **known}
        made._set(classes, statements, **given)
        return made

    @classmethod
    def from_sentences(
        cls, sentences: str | Iterable[str], classes: Any = None, **known: Any
    ) -> Self:
        """Read constraints from sentences.

        Parameters
        ----------
        sentences : str or list of str
            Orders ``"a->b > b->a"``; ratios ``"a->b >= 3 * b->a"``, ``"a->b = 3..20 * b->a"``;
            costs ``"a->b = 5"``, ``"a->b = 3..20"``, ``"a->b >= 3"``. ``a->b`` is a case of
            class a taken for b, and ``a`` alone any mistake on class a.
        classes : sequence of labels or None, default=None
            None takes the names in the sentences, sorted.
        **known
            ``answers``, ``density`` and ``span``.

        Examples
        --------
        >>> known = ["missed->fine > fine->missed", "missed->fine = 3..20 * fine->missed"]
        >>> CostConstraints.from_sentences(known).high
        array([[ 0.,  1.],
               [20.,  0.]])
        >>> CostConstraints.from_sentences(["a->b > b->a", "b->a > a->b"])
        Traceback (most recent call last):
            ...
        ValueError: cost constraints must not contradict each other, got 'a->b > b->a' and
        'b->a > a->b'
        """
        texts = [sentences] if isinstance(sentences, str) else list(sentences)
        labels = _checked_classes(sentence_classes(texts) if classes is None else classes)
        found = [one for text in texts for one in read_sentence(text, labels.tolist())]
        return cls.from_statements(labels, found, **known)

    @classmethod
    def from_costs(cls, cost: Any, classes: Any) -> Self:
        """Read constraints from any form in which estimators take costs.

        Parameters
        ----------
        cost : CostConstraints, sentences, array, DataFrame, dict, callable or None
            Besides the forms of exact costs (see :func:`parse_cost`): a dict or a DataFrame
            whose values may be pairs (low, high) or texts such as ``"3..20"``, of which
            ``".."`` is not known at all, an array (k, k, 2) of bounds, and sentences.
        classes : sequence of k labels

        Examples
        --------
        >>> CostConstraints.from_costs({("ill", "well"): (3, 20)}, ["ill", "well"]).low
        array([[0., 3.],
               [1., 0.]])
        """
        labels = _checked_classes(classes)
        if callable(cost) and not isinstance(cost, CostConstraints):
            cost = cost(labels)
        if isinstance(cost, CostConstraints):
            return cost.for_classes(labels)  # type: ignore[return-value]
        if isinstance(cost, str) or _is_sentences(cost):
            texts = [cost] if isinstance(cost, str) else cost
            found = [one for text in texts for one in read_sentence(text, labels.tolist(), "cost")]
            return cls.from_statements(labels, found)
        if hasattr(cost, "columns"):
            cost = _frame_cells(cost, labels)
        elif hasattr(cost, "to_dict"):
            cost = cost.to_dict()
        elif not isinstance(cost, Mapping) and _shape(cost) == (len(labels), len(labels), 2):
            cost = _array_cells(numbers_or_inf(cost), labels)
        if isinstance(cost, Mapping):
            values = {key: _ends(value) for key, value in cost.items()}
            pairs = {key: one for key, one in values.items() if isinstance(one, tuple)}
            if pairs:
                fixed = {key: one for key, one in values.items() if not isinstance(one, tuple)}
                return cls.from_statements(
                    labels,
                    parse_statements(
                        labels.tolist(), _mistakes_only(fixed), _mistakes_only(pairs), name="cost"
                    ),
                )
        return cls._exact(parse_cost(cost, labels), labels)

    @classmethod
    def _exact(cls, matrix: FloatArray, classes: AnyArray) -> Self:
        """Return the constraints of a matrix that is known."""
        places = np.argwhere(~np.eye(len(classes), dtype=bool)).tolist()
        found = [
            Statement(Mistake(i, j), float(matrix[i, j]), float(matrix[i, j])) for i, j in places
        ]
        return cls.from_statements(classes, found)

    def for_classes(self, classes: Any) -> CostConstraints:
        """Return the constraints for the classes of some data, in their order.

        Classes that the data do not have are left out, with all statements about them.

        Parameters
        ----------
        classes : sequence of labels
            Of which each must be known here; texts and the numbers they show are the same.
        """
        labels = _checked_classes(classes)
        if labels.tolist() == self.classes.tolist():
            return self
        codes = _codes(labels.tolist(), self.classes.tolist())
        if min(codes) < 0 or len(set(codes)) < len(codes):
            raise ValueError(
                f"cost must name the classes of y, {labels.tolist()}, got constraints for "
                f"{self.classes.tolist()}"
            )
        place = {code: i for i, code in enumerate(codes)}
        statements = [moved for one in self.statements if (moved := _moved(one, place))]
        kept = np.ix_(codes, codes)
        answers = [
            (array[kept], text)
            for array, text in self.answers
            if np.count_nonzero(array[kept]) == np.count_nonzero(array)
        ]
        rows = None if self.sample_cost is None else self.sample_cost[:, codes][:, :, codes]
        return CostConstraints.from_statements(
            labels,
            statements,
            answers=answers,
            sample_cost=rows,
            density=_reordered(self.density, codes, len(self.classes)),
            span=self.span,
        )

    def with_sentences(self, sentences: str | Iterable[str]) -> CostConstraints:
        """Return these constraints and more.

        Parameters
        ----------
        sentences : str or list of str
            As in :meth:`from_sentences`.
        """
        texts = [sentences] if isinstance(sentences, str) else list(sentences)
        more = [one for text in texts for one in read_sentence(text, self.classes.tolist())]
        return self._replaced(statements=(*self.statements, *more))

    def with_answer(self, coefficients: Any, text: str) -> CostConstraints:
        """Return these constraints and one half-space.

        Parameters
        ----------
        coefficients : array of shape (k, k)
            Their products with the costs have a sum >= 0.
        text : str
            How the answer reads.
        """
        return self._replaced(answers=(*self.answers, (coefficients, text)))

    def _replaced(self, **changed: Any) -> CostConstraints:
        known: dict[str, Any] = {
            "statements": self.statements,
            "answers": self.answers,
            "sample_cost": self.sample_cost,
            "density": self.density,
            "span": self.span,
            **changed,
        }
        return CostConstraints.from_statements(self.classes, known.pop("statements"), **known)

    @cached_property
    def region(self) -> CostRegion:
        """Return the region of matrices (k, k)."""
        if self.sample_cost is not None:
            return CostRegion.of_point(self.sample_cost.mean(axis=0))
        stated = {(one.left.truth, one.left.predicted): one.low for one in self.statements}
        k = len(self.classes)
        by_number = len(stated) == len(self.statements) == k * (k - 1) and not self.answers
        if by_number and all(map(_is_number, self.statements)):
            matrix = np.zeros((k, k))  # every cost by number: nothing to close
            matrix[tuple(np.array(list(stated)).T)] = list(stated.values())
            return CostRegion.of_point(matrix)
        try:
            region = self._parameters.region(
                self.statements, [array for array, _ in self.answers], self.span
            )
        except ContradictionError as error:
            raise ValueError(self._contradiction(error.sources)) from None
        return replace(region, density=self.density)

    def _contradiction(self, sources: tuple[int, ...]) -> str:
        """Return the message that names two statements, or as many as it takes."""
        n = len(self.statements)
        blamed = sorted({one for one in sources if one >= 0})
        answers = [one for one in blamed if one >= n]
        if answers and len(blamed) == 1:  # what it contradicts is among all statements
            blamed = [*range(n), *answers]
        pairs = combinations(blamed, 2)
        found = next((pair for pair in pairs if self._contradict(pair)), None)
        blamed = blamed if found is None else list(found)
        if found is None and answers:
            blamed = self._least([*range(n), *answers]) if n <= MOST_TRIED else answers
        said = [
            repr(self._text(self.statements[one]) if one < n else self.answers[one - n][1])
            for one in blamed
        ]
        texts = list(dict.fromkeys(said))  # a chain is one sentence of several statements
        message = "cost constraints must not contradict each other"
        unit = self._parameters.unit_of([self.statements[one] for one in blamed if one < n])
        note = "; a mistake that nothing is stated about costs 1" if unit or not n else ""
        if answers and len(texts) == 1 and n:
            return f"{message}, got {texts[0]} after what was stated before"
        return f"{message}, got {listed(texts, 8)}{note}"

    def _least(self, places: list[int]) -> list[int]:
        """Return contradicting statements and answers of which none can be spared."""
        for one in list(places):
            others = [other for other in places if other != one]
            if self._contradict(others):
                places = others
        return places

    def _contradict(self, places: Sequence[int]) -> bool:
        """Return whether some of the statements and answers cannot hold together."""
        n = len(self.statements)
        try:
            self._parameters.region(
                [self.statements[one] for one in places if one < n],
                [self.answers[one - n][0] for one in places if one >= n],
                self.span,
            )
        except ContradictionError:
            return True
        return False

    def _text(self, statement: Statement) -> str:
        return statement.text or statement.words(self.classes.tolist())

    @property
    def is_exact(self) -> bool:
        """Return whether all costs are known."""
        return self.sample_cost is None and self.region.is_point

    @property
    def low(self) -> FloatArray:
        """Return the least possible costs (k, k)."""
        return self.region.bounds()[0]

    @property
    def high(self) -> FloatArray:
        """Return the greatest possible costs (k, k)."""
        return self.region.bounds()[1]

    def contains(self, cost: Any) -> bool:
        """Tell whether costs are possible.

        Where only order and ratios are stated, the unit of the costs does not matter.

        Parameters
        ----------
        cost : array, DataFrame or dict
            Of all mistakes.

        Examples
        --------
        >>> constraints = CostConstraints.from_sentences("ill->well = 3..20 * well->ill")
        >>> constraints.contains([[0, 50], [10, 0]]), constraints.contains([[0, 2], [1, 0]])
        (True, False)
        """
        matrix = parse_cost(cost, self.classes)
        if self._has_unit():
            return self.region.contains(matrix)
        others = ~np.eye(len(matrix), dtype=bool)
        values, low, high = matrix[others], self.low[others], self.high[others]
        if (values <= 0).any():
            return self.region.contains(matrix)
        least, most = (low / values).max(), (high / values).min()
        return bool(least <= most * (1 + 1e-9)) and self.region.contains(matrix * most)

    def _has_unit(self) -> bool:
        return any(one.right is None for one in self.statements)

    def vertices(self) -> FloatArray:
        """Return the extreme matrices, of which all possible ones are mixtures.

        Returns
        -------
        matrices : array of shape (n, k, k)

        Examples
        --------
        >>> CostConstraints.from_sentences("ill->well = 3..20 * well->ill").vertices()[:, 0, 1]
        array([ 3., 20.])
        """
        return self.region.vertices()

    def sample(self, n_samples: int = 1, random_state: Any = None) -> FloatArray:
        """Draw possible matrices from the density.

        Parameters
        ----------
        n_samples : int, default=1
        random_state : int, Generator or None, default=None

        Returns
        -------
        matrices : array of shape (n_samples, k, k)
        """
        rng = np.random.default_rng(random_state)
        if self.sample_cost is not None:
            return self.sample_cost[rng.integers(len(self.sample_cost), size=n_samples)]
        return self.region.sample(n_samples, rng)

    def mean(self) -> FloatArray:
        """Return the mean matrix (k, k) over the density.

        Examples
        --------
        >>> CostConstraints(["a", "b"], intervals={"b": (1, 100)}).mean().round(2)
        array([[ 0. ,  1. ],
               [21.5,  0. ]])
        """
        return self._mean.copy()

    @cached_property
    def _mean(self) -> FloatArray:
        return self.region.spread().mean(axis=0)

    def describe(self) -> str:
        """Return what is known in words, a line for every statement."""
        return "\n".join(self.sentences())

    def sentences(self) -> tuple[str, ...]:
        """Return what is known in words, a sentence for every statement."""
        if self.sample_cost is not None:
            return (f"costs are known for each of {len(self.sample_cost)} rows",)
        labels = self.classes.tolist()
        found = [one.words(labels) for one in self.statements]
        if len(found) > MOST_LISTED and self.is_exact:
            found = [f"the costs of {len(found)} mistakes are stated"]
        found += [text for _, text in self.answers]
        if self._parameters.has_unit:
            found.append("every other mistake costs 1" if found else "every mistake costs 1")
        found += self._open_ends()
        return tuple(found)

    def _open_ends(self) -> list[str]:
        """Return sentences about ends that are not stated."""
        found = []
        for names, high in self._parameters.open_above(self.statements, self.region, self.classes):
            found.append(
                f"{names} is taken to cost at most {all_digits(float(f'{high:.6g}'))}, for want of "
                "a stated limit"
            )
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the constraints as plain values that JSON can hold; see :meth:`from_dict`."""
        if self.density is not None:
            raise ValueError("density must be None to be written, got a function")
        return self._plain()

    def _plain(self) -> dict[str, Any]:
        """Return everything but the density."""
        return {
            "classes": self.classes.tolist(),
            "statements": [
                {
                    "left": [one.left.truth, one.left.predicted],
                    "low": one.low,
                    "high": None if one.high == np.inf else one.high,
                    "right": None if one.right is None else [one.right.truth, one.right.predicted],
                    "text": one.text,
                }
                for one in self.statements
            ],
            "answers": [
                {"coefficients": array.tolist(), "text": text} for array, text in self.answers
            ],
            "sample_cost": None if self.sample_cost is None else self.sample_cost.tolist(),
            "span": self.span,
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Read what :meth:`to_dict` has written.

        Examples
        --------
        >>> constraints = CostConstraints.from_sentences("ill->well > well->ill")
        >>> CostConstraints.from_dict(constraints.to_dict()) == constraints
        True
        """
        try:
            statements, answers = _read_plain(stored)
            labels, rows, span = (stored[name] for name in ("classes", "sample_cost", "span"))
        except (KeyError, TypeError) as error:
            raise ValueError(
                "cost constraints must be stated in full, as to_dict writes them, got a fault at "
                f"{error}"
            ) from error
        return cls.from_statements(
            _checked_classes(labels), statements, answers=answers, sample_cost=rows, span=span
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**self._plain(), "dtype": self.classes.dtype.str, "density": self.density}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        labels = np.asarray(state["classes"], dtype=state["dtype"])
        self._set(
            labels, *_read_plain(state), state["sample_cost"], state["density"], state["span"]
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CostConstraints):
            return NotImplemented
        return (
            self.classes.tolist() == other.classes.tolist()
            and self.statements == other.statements
            and len(self.answers) == len(other.answers)
            and all(
                np.array_equal(one[0], two[0])
                for one, two in zip(self.answers, other.answers, strict=True)
            )
            and np.array_equal(_rows_of(self), _rows_of(other))
            and (self.density, self.span) == (other.density, other.span)
        )

    def __hash__(self) -> int:
        return hash((tuple(self.classes.tolist()), self.statements, self.span))

    def __repr__(self) -> str:
        labels = self.classes.tolist()
        if self.sample_cost is not None:
            return f"CostConstraints({labels}, sample_cost=<{self.sample_cost.shape}>)"
        found = [as_sentence(one, labels) for one in self.statements]
        shown = found if len(found) <= MOST_LISTED else [*found[:MOST_LISTED], "..."]
        given = [(array.tolist(), text) for array, text in self.answers]
        more = f", answers={given}" if given else ""
        more += f", span={self.span:g}" if self.span != SPAN else ""
        more += ", density=<function>" if self.density is not None else ""
        return f"CostConstraints.from_sentences({shown}, classes={labels}{more})"


def _is_number(statement: Statement) -> bool:
    """Return whether a statement gives the cost of one confusion."""
    known = statement.right is None and statement.left.predicted is not None
    return known and statement.low == statement.high


def _checked_classes(classes: Any) -> AnyArray:
    labels: AnyArray = np.array(classes)  # a copy: the value must not change with the argument
    if labels.ndim != 1 or len(labels) < 2:
        raise ValueError(f"classes must be a list of at least two labels, got {classes!r}")
    if len(set(labels.tolist())) < len(labels):
        raise ValueError(f"classes must hold every label once, got {labels.tolist()}")
    labels.setflags(write=False)
    return labels


def _checked_answer(answer: Any, n_classes: int) -> tuple[FloatArray, str]:
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise ValueError(f"answers must be pairs of coefficients and a text, got {answer!r}")
    values = numbers(answer[0], "answers").copy()
    if values.shape != (n_classes, n_classes):
        raise ValueError(
            f"answers must have coefficients of the shape ({n_classes}, {n_classes}), got "
            f"{values.shape}"
        )
    values.setflags(write=False)
    return values, str(answer[1])


def _checked_rows(sample_cost: Any, classes: AnyArray) -> FloatArray:
    """Return the costs of rows (N, k, k) with zero diagonals."""
    values, k = numbers(sample_cost, "sample_cost"), len(classes)
    if not values.size or values.shape[1:] not in {(), (k, k)}:
        raise ValueError(
            f"sample_cost must have the shape (N, {k}, {k}), a matrix per row, or (N,), the cost "
            f"of any mistake on a row, got {values.shape}"
        )
    rows = row_matrices(len(values), classes, sample_cost=values)
    assert rows is not None  # noqa: S101  only without any costs
    rows.setflags(write=False)
    return rows


@dataclass(frozen=True, slots=True)
class _ReorderedDensity:
    """A density of matrices whose classes stand in another order."""

    density: Callable[[FloatArray], FloatArray]
    codes: tuple[int, ...]  # positions of the classes for which the density was made

    def __call__(self, matrices: FloatArray) -> FloatArray:
        """Return the densities (n,) of matrices (n, k, k)."""
        back = np.argsort(self.codes)
        return self.density(matrices[:, back][:, :, back])


def _reordered(density: Any, codes: list[int], n_classes: int) -> Any:
    """Return the density for the classes at ``codes``."""
    if density is None:
        return None
    if len(codes) < n_classes:
        raise ValueError(
            f"density must be None where y lacks classes, got a function for {n_classes} classes "
            f"and {len(codes)} in y"
        )
    if isinstance(density, _ReorderedDensity):
        density, codes = density.density, [density.codes[code] for code in codes]
    in_order = codes == list(range(n_classes))
    return density if in_order else _ReorderedDensity(density, tuple(codes))


def _read_plain(
    stored: Mapping[str, Any],
) -> tuple[list[Statement], list[tuple[Any, str]]]:
    """Return the statements and answers of plain values."""
    statements = [
        Statement(
            Mistake(*one["left"]),
            float(one["low"]),
            np.inf if one["high"] is None else float(one["high"]),
            None if one["right"] is None else Mistake(*one["right"]),
            str(one["text"]),
        )
        for one in stored["statements"]
    ]
    return statements, [(one["coefficients"], one["text"]) for one in stored["answers"]]


def _rows_of(constraints: CostConstraints) -> FloatArray:
    rows = constraints.sample_cost
    return np.zeros(0) if rows is None else rows


def _once(statements: Iterable[Statement]) -> list[Statement]:
    return list(dict.fromkeys(statements))


def _moved(statement: Statement, place: dict[int, int]) -> Statement | None:
    """Return a statement with other positions of the classes, None if one is missing."""
    moved: list[Mistake | None] = []
    for one in (statement.left, statement.right):
        if one is None:
            moved.append(None)
            continue
        if one.truth not in place or (one.predicted is not None and one.predicted not in place):
            return None
        predicted = None if one.predicted is None else place[one.predicted]
        moved.append(Mistake(place[one.truth], predicted))
    left, right = moved
    if left is None:
        return None
    return replace(statement, left=left, right=right)


def _codes(labels: list[Any], known: list[Any]) -> list[int]:
    """Return the positions of labels among the known, -1 for others.

    A label is known as it is, or else as the text or the number that looks like it.
    """
    exact = {label: code for code, label in enumerate(known)}
    texts = {str(label): code for code, label in enumerate(known)}
    found = []
    for label in labels:
        code = exact.get(label, texts.get(str(label), -1))
        if code < 0:  # a text for a number, or a number for a text
            is_text = isinstance(label, str)
            values = {
                _value(one): i for i, one in enumerate(known) if is_text != isinstance(one, str)
            }
            code = values.get(_value(label), -1)
        found.append(code)
    return found


def _value(label: Any) -> float:
    try:
        return float(label)
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def _is_sentences(cost: Any) -> bool:
    return isinstance(cost, list | tuple) and bool(cost) and all(isinstance(c, str) for c in cost)


def _shape(cost: Any) -> tuple[int, ...]:
    """Return the shape of an array or of nested lists, nothing if they are ragged."""
    try:
        return np.shape(cost)
    except ValueError:
        return ()


def _frame_cells(frame: Any, classes: AnyArray) -> Any:
    """Return the cells of a frame as a dict if any is an interval, else the frame."""
    cells = np.asarray(frame.to_numpy())
    if cells.dtype != object or not any(_is_interval(cell) for cell in cells.ravel()):
        return frame
    labels = classes.tolist()
    rows, columns = frame_codes(frame, classes)
    return {
        (labels[i], labels[j]): cells[place]
        for place, (i, j) in zip(np.ndindex(cells.shape), product(rows, columns), strict=True)
    }


def _is_interval(cell: Any) -> bool:
    return isinstance(cell, tuple | list | np.ndarray) or (isinstance(cell, str) and ".." in cell)


def _mistakes_only(costs: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return costs by confusion without those of right answers, which must be 0."""
    kept = {}
    for key, value in costs.items():
        if not (isinstance(key, tuple) and len(key) == 2 and key[0] == key[1]):
            kept[key] = value
        elif not np.all(np.asarray(value) == 0):
            raise ValueError(
                f"cost must be 0 for right answers where other costs are intervals, got {value!r} "
                f"for {key!r}"
            )
    return kept


def _ends(value: Any) -> Any:
    """Return a value of a dict: a pair, or the number as it is."""
    if isinstance(value, str):
        low, dots, high = value.partition("..")
        try:
            return (float(low or 0.0), float(high or np.inf)) if dots else float(value)
        except ValueError:
            return value
    return tuple(value) if isinstance(value, list | tuple | np.ndarray) else value


def numbers_or_inf(values: Any) -> FloatArray:
    """Return floats that may be infinite, but not NaN."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"cost must hold numbers only, got {values!r}") from error
    if np.isnan(array).any():
        raise ValueError("cost must hold numbers, got nan")
    return array


def _array_cells(values: FloatArray, classes: AnyArray) -> dict[Any, tuple[float, float]]:
    """Return bounds (k, k, 2) by confusion; the diagonal has no meaning."""
    labels = classes.tolist()
    return {
        (labels[i], labels[j]): (float(values[i, j, 0]), float(values[i, j, 1]))
        for i, j in np.ndindex(values.shape[:2])
        if i != j
    }
