"""What is computed on one block of rows in every pass, and how it adds up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Protocol

import numpy as np

from ecselm._threads import one_blas_thread
from ecselm._typing import AnyArray, BoolArray, FloatArray, IntArray
from ecselm.costs import CostTerms
from ecselm.estimators._base import class_codes, class_targets
from ecselm.estimators._training import Rows
from ecselm.estimators.ecselm_regressor import level_edges, level_position
from ecselm.fitness.folds import (
    N_FOLDS,
    N_LISTED,
    FoldAssignment,
    drawn_salt,
    hash_numbers,
    mixed,
    row_hashes,
)
from ecselm.fitness.sampling import RowSample, fair_quotas
from ecselm.layers import HiddenLayer, ScaleSum
from ecselm.linalg import GramBlocks
from ecselm.outofcore.blocks import RowBlock

HEAD = 16  # rows of every block that are shown to a layer, to warn if it is blind to them
MAX_HEAD = 1024
NOWHERE = np.iinfo(np.intp).max  # the position of a row that does not exist
ALL_DRAWS = 2.0**64


# Targets: classes and their sizes, or ranges.


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """Sizes of the classes."""

    classes: AnyArray  # (k,) in ascending order
    masses: FloatArray  # (k,) sums of weights
    counts: IntArray  # (k,) rows of positive weight

    @classmethod
    def of(cls, labels: AnyArray, weight: FloatArray | None) -> LabelCounts:
        """Count the labels of one block."""
        classes, codes = np.unique(labels, return_inverse=True)
        masses = np.bincount(codes, weight, len(classes)).astype(np.float64)
        used = codes if weight is None else codes[weight > 0]
        return cls(classes, masses, np.bincount(used, minlength=len(classes)))

    def __add__(self, other: LabelCounts) -> LabelCounts:
        """Return the sizes of the classes of both."""
        if not len(self.classes) or not len(other.classes):  # labels of no rows have no type
            return other if len(other.classes) else self
        classes = np.unique(np.concatenate([self.classes, other.classes]))
        masses, counts = np.zeros(len(classes)), np.zeros(len(classes), dtype=np.intp)
        for one in (self, other):
            place = np.searchsorted(classes, one.classes)
            masses[place] += one.masses
            counts[place] += one.counts
        return LabelCounts(classes, masses, counts)

    def at(self, n_groups: int) -> LabelCounts:
        """Return the sizes of all groups 0 to ``n_groups - 1``, also of those without rows."""
        every = LabelCounts(np.arange(n_groups), np.zeros(n_groups), np.zeros(n_groups, np.intp))
        return every + self

    def check(self) -> None:
        """Refuse labels of fewer than two classes, or that are no classes."""
        # Several of each: labels that are all different would be taken for real numbers.
        class_codes(np.repeat(self.classes, 4), np.repeat(self.masses, 4))


@dataclass(frozen=True, slots=True)
class TargetRange:
    """Ranges of real targets among the rows of positive weight."""

    low: FloatArray  # (m,)
    high: FloatArray  # (m,)

    @classmethod
    def of(cls, block: RowBlock) -> TargetRange:
        """Return the ranges in one block."""
        T = block.of_weight().targets
        return cls(T.min(axis=0, initial=np.inf), T.max(axis=0, initial=-np.inf))

    def __add__(self, other: TargetRange) -> TargetRange:
        """Return the ranges in both."""
        return TargetRange(np.minimum(self.low, other.low), np.maximum(self.high, other.high))


@dataclass(frozen=True, slots=True)
class PositionRange:
    """The range of positions of several targets, which levels divide."""

    targets: TargetRange

    def __call__(self, block: RowBlock) -> TargetRange:
        """Return the range in one block."""
        position = level_position(block.of_weight().targets, self.targets.low, self.targets.high)
        column = position[:, np.newaxis]
        return TargetRange(column.min(axis=0, initial=np.inf), column.max(axis=0, initial=-np.inf))


class Grouping(Protocol):
    """Groups of rows that have costs of their own, and folds of equal size."""

    @property
    def n_groups(self) -> int:
        """Return g."""

    def codes(self, block: RowBlock) -> IntArray:
        """Return the group (N,) of every row."""

    def targets(self, block: RowBlock) -> FloatArray:
        """Return T (N, m)."""


@dataclass(frozen=True, slots=True)
class ClassGroups:
    """Rows by class."""

    classes: AnyArray  # (k,)

    @property
    def n_groups(self) -> int:
        """Return k."""
        return len(self.classes)

    def codes(self, block: RowBlock) -> IntArray:
        """Return class codes, or refuse labels of no known class."""
        codes = np.minimum(np.searchsorted(self.classes, block.y), self.n_groups - 1)
        unknown = self.classes[codes] != block.y
        if unknown.any():
            raise ValueError(
                f"y must hold only the classes {self.classes.tolist()}, got "
                f"{np.unique(block.y[unknown]).tolist()}"
            )
        return codes

    def targets(self, block: RowBlock) -> FloatArray:
        """Return one column for two classes, else one for each."""
        return class_targets(self.n_groups)[self.codes(block)]


@dataclass(frozen=True, slots=True)
class LevelGroups:
    """Rows by levels of equal width over the range of their targets.

    The range is found again in any sample that has its ends.
    """

    low: FloatArray  # (m,)
    high: FloatArray  # (m,)
    span: tuple[float, float]  # of positions
    edges: FloatArray  # (g - 1,)

    @classmethod
    def within(cls, targets: TargetRange, positions: TargetRange, n_levels: int) -> LevelGroups:
        """Return levels over these ranges."""
        span = float(positions.low[0]), float(positions.high[0])
        return cls(targets.low, targets.high, span, level_edges(*span, n_levels))

    @classmethod
    def at(cls, edges: FloatArray) -> LevelGroups:
        """Return the levels of a single target between these edges, whatever its range."""
        return cls(np.zeros(1), np.ones(1), (-np.inf, np.inf), edges)

    @property
    def n_groups(self) -> int:
        """Return the number of levels."""
        return len(self.edges) + 1

    def codes(self, block: RowBlock) -> IntArray:
        """Return levels."""
        return np.digitize(self._position(block), self.edges, right=True)

    def targets(self, block: RowBlock) -> FloatArray:
        """Return the targets."""
        return block.targets

    def ends(self, block: RowBlock) -> list[BoolArray]:
        """Return the rows at either end of every target, and of their positions."""
        T, position = block.targets, self._position(block)
        return [*(self.low == T).T, *(self.high == T).T, *(position == end for end in self.span)]

    def _position(self, block: RowBlock) -> FloatArray:
        return level_position(block.targets, self.low, self.high)


def count_targets(block: RowBlock, levels: LevelGroups | None) -> LabelCounts:
    """Count the classes of one block, or its levels."""
    if levels is None:
        return LabelCounts.of(block.y, block.weight)
    used = block.of_weight()
    return LabelCounts.of(levels.codes(used), used.weight)


# The first pass over the inputs: their scale, and single rows.


@dataclass(frozen=True, slots=True)
class SampleRule:
    """How validation rows are drawn: by numbers that look random at their positions."""

    most: int  # validation rows
    salt: int
    levels: LevelGroups | None = None  # None for classes
    shares: tuple[AnyArray, FloatArray] | None = None  # of the draws to look at, by class
    searches: bool = True  # whether rows of weight 0 are dropped, and hashes listed

    @classmethod
    def drawn(
        cls,
        most: int,
        rng: np.random.Generator,
        *,
        levels: LevelGroups | None = None,
        known: LabelCounts | None = None,
        searches: bool = True,
    ) -> SampleRule:
        """Draw the salt; where sizes of classes are known, far fewer rows have to be moved.

        Examples
        --------
        >>> known = LabelCounts.of(np.repeat([0, 1], [1000, 3]), None)
        >>> rule = SampleRule.drawn(100, np.random.default_rng(0), known=known)
        >>> rule.shares[1].round(2)
        array([0.18, 1.  ])
        """
        salt = drawn_salt(rng)
        if known is None:
            return cls(most, salt, levels, None, searches)
        quotas = fair_quotas(known.counts, most)
        enough = quotas + 8.0 * np.sqrt(quotas) + 8.0  # fewer are as good as impossible
        shares = np.where(quotas < known.counts, enough / np.maximum(known.counts, 1), 1.0)
        known_shares = known.classes, np.minimum(shares, 1.0)
        return cls(most, salt, levels, known_shares, searches)

    def labels(self, rows: RowBlock) -> AnyArray:
        """Return the class or level (N,) of every row."""
        return rows.y if self.levels is None else self.levels.codes(rows)

    def sample(self, rows: RowBlock, labels: AnyArray) -> RowSample:
        """Return the sample of the rows of one block."""
        draws = mixed(_places(rows), self.salt)
        eligible = None
        if self.shares is not None:
            classes, shares = self.shares
            eligible = draws <= ALL_DRAWS * shares[np.searchsorted(classes, labels)]
        return RowSample.of(rows, draws, self.most, labels, rows.weight, eligible)


def _places(rows: RowBlock) -> IntArray:
    if rows.places is None:
        raise TypeError("rows must have places to be drawn by")
    return rows.places


def smallest_hashes(hashes: AnyArray) -> AnyArray:
    """Return the distinct hashes in ascending order; one more than are enumerated is enough."""
    return np.unique(hashes)[: N_LISTED + 1]


@dataclass(frozen=True, slots=True)
class RowListing:
    """What is known of single rows of positive weight."""

    sample: RowSample
    hashes: dict[Any, AnyArray]  # smallest distinct hashes by class or level
    fingerprints: dict[Any, int]  # of all rows of a class or level, in any order
    ends: RowBlock | None  # rows that the sample must have besides
    end_places: IntArray  # (e,) of the first row of every kind

    @classmethod
    def of(cls, block: RowBlock, rule: SampleRule) -> RowListing:
        """List the rows of one block."""
        if not rule.searches:
            sample = rule.sample(block, rule.labels(block))
            return cls(sample, {}, {}, None, np.zeros(0, dtype=np.intp))
        rows = block.of_weight()
        hashes, labels = row_hashes(rows.X), rule.labels(rows)
        found, codes = np.unique(labels, return_inverse=True)
        members = {label: np.flatnonzero(codes == c) for c, label in enumerate(found.tolist())}
        numbers = _numbers(hashes, rows, rule)
        ends, end_places = None, np.zeros(0, dtype=np.intp)
        if rule.levels is not None:
            kinds, places = rule.levels.ends(rows), _places(rows)
            firsts = [int(mask.argmax()) if mask.any() else None for mask in kinds]
            end_places = np.array([NOWHERE if i is None else places[i] for i in firsts])
            ends = rows.taken(np.unique([i for i in firsts if i is not None]).astype(np.intp))
        return cls(
            rule.sample(rows, labels),
            {label: smallest_hashes(hashes[own]) for label, own in members.items()},
            {label: int(numbers[own].sum()) for label, own in members.items()},
            ends,
            end_places,
        )

    def __add__(self, other: RowListing) -> RowListing:
        """Return what is known of the rows of both, these first."""
        hashes, fingerprints = dict(self.hashes), dict(self.fingerprints)
        for label, more in other.hashes.items():
            known = hashes.get(label)
            hashes[label] = (
                more if known is None else smallest_hashes(np.concatenate([known, more]))
            )
            number = fingerprints.get(label, 0) + other.fingerprints[label]
            fingerprints[label] = number % (1 << 64)
        ends = self.ends
        end_places = np.minimum(self.end_places, other.end_places)
        if ends is not None and other.ends is not None:
            ends = ends.joined(other.ends)
            ends = ends.taken(np.flatnonzero(np.isin(_places(ends), end_places)))
        return RowListing(self.sample + other.sample, hashes, fingerprints, ends, end_places)

    def sampled(self) -> RowBlock:
        """Return the validation rows, in the order of all rows."""
        rows: RowBlock = self.sample.rows
        if self.ends is None:
            return rows
        lacking = ~np.isin(_places(self.ends), _places(rows))
        both = rows.joined(self.ends.taken(np.flatnonzero(lacking)))
        return both.taken(np.argsort(_places(both)))


def _numbers(hashes: AnyArray, rows: RowBlock, rule: SampleRule) -> AnyArray:
    """Return numbers (N,) of rows that other inputs, targets or weights would change."""
    columns = [] if rule.levels is None else list(rows.targets.T)
    columns += [] if rows.weight is None else [rows.weight]
    number = hash_numbers(hashes)
    for column in columns:
        number = mixed(number ^ column.astype(np.float64).view(np.uint64), 0)
    return number


@dataclass(frozen=True, slots=True)
class RowSummary:
    """What must be known of all rows before any of them can be summed."""

    n_rows: int
    scale: ScaleSum
    head: RowBlock  # a few rows
    labels: LabelCounts | None  # None for real targets
    listing: RowListing | None  # None where no row is sampled

    @classmethod
    def of(cls, block: RowBlock, has_labels: bool, rule: SampleRule | None) -> RowSummary:
        """Summarise one block."""
        return cls(
            len(block),
            ScaleSum.of(block.X, block.weight),
            block.head(HEAD),
            LabelCounts.of(block.y, block.weight) if has_labels else None,
            RowListing.of(block, rule) if rule is not None and len(block) else None,
        )

    def __add__(self, other: RowSummary) -> RowSummary:
        """Return what is known of the rows of both, these first."""
        if not self.n_rows or not other.n_rows:
            return self if self.n_rows else other
        both_labels = self.labels is not None and other.labels is not None
        both_listed = self.listing is not None and other.listing is not None
        full = len(self.head) >= MAX_HEAD
        return RowSummary(
            self.n_rows + other.n_rows,
            self.scale + other.scale,
            self.head if full else self.head.joined(other.head),
            self.labels + other.labels if both_labels else None,  # type: ignore[operator]
            self.listing + other.listing if both_listed else None,  # type: ignore[operator]
        )


# Folds of all rows.


@dataclass(frozen=True, slots=True)
class FoldPlan:
    """Folds of all rows, and for each split the folds it trains on and the one it validates."""

    assignment: FoldAssignment
    fraction: float | None  # of validation rows; None for folds of equal size
    train: BoolArray  # (n_splits, n_folds)
    validation: IntArray  # (n_splits,)

    @classmethod
    def of_fitness(cls, fitness: Any, assignment: FoldAssignment, fraction: float) -> FoldPlan:
        """Return the folds that a ``fitness`` asks for.

        Examples
        --------
        >>> from ecselm.fitness.folds import row_hashes
        >>> X, y = np.array([[1.0], [2.0], [3.0], [4.0]]), np.zeros(4, dtype=int)
        >>> rng = np.random.default_rng(0)
        >>> assignment = FoldAssignment.drawn({0: np.sort(row_hashes(X))}, rng, 4)
        >>> plan = FoldPlan.of_fitness(2, assignment, 0.25)
        >>> sorted(plan.folds(X, y).tolist()), plan.train.tolist()
        ([0, 0, 1, 1], [[False, True], [True, False]])
        """
        if fitness == "train":
            return cls(assignment, None, np.array([[True]]), np.array([0]))
        if fitness == "holdout":
            n_folds = 2 if assignment.has_holdout(fraction) else 1
            plan = cls(assignment, fraction, np.array([[True, False]]), np.array([1]))
        else:
            n_folds = assignment.n_folds(int(fitness) if isinstance(fitness, Integral) else N_FOLDS)
            plan = cls(assignment, None, ~np.eye(n_folds, dtype=bool), np.arange(n_folds))
        if n_folds < 2:
            raise ValueError(
                "some rows must be left to train on and others to validate by, got too few "
                "distinct rows of a class for that"
            )
        return plan

    @property
    def n_folds(self) -> int:
        """Return the number of folds."""
        return int(self.train.shape[1])

    def folds(self, X: Any, codes: IntArray) -> IntArray:
        """Return the fold (N,) of every row, by its inputs and its class."""
        if self.n_folds == 1:
            return np.zeros(len(codes), dtype=np.intp)
        hashes = row_hashes(X)
        if self.fraction is None:
            return self.assignment.folds(hashes, codes, self.n_folds)
        return self.assignment.holdout(hashes, codes, self.fraction).astype(np.intp)


# The last pass: sums of (15).


@dataclass(frozen=True, slots=True)
class RowReader:
    """Rows of a block with targets, and the costs that an estimator states for them."""

    model: Any
    classes: AnyArray | None  # None for real targets

    @property
    def n_classes(self) -> int:
        """Return k, or 1."""
        return 1 if self.classes is None else len(self.classes)

    def __call__(self, block: RowBlock) -> Rows:
        """Return the rows of a block."""
        X, dtype = block.X, block.X.dtype
        if self.classes is None:
            codes = np.zeros(len(block), dtype=np.intp)
            terms = self.model._row_costs(block.y, block.cost).terms(codes)
            return Rows(X, block.targets.astype(dtype), codes, terms, block.weight)
        codes = np.searchsorted(self.classes, block.y)
        T = class_targets(self.n_classes).astype(dtype)[codes]
        return Rows(X, T, codes, self.costs(codes, block.cost).terms(codes), block.weight)

    def costs(self, codes: IntArray, by_row: Any) -> Any:
        """Return the costs of rows of these classes."""
        return self.model._read_costs(codes, self.classes, sample_cost=by_row)


@dataclass(frozen=True, slots=True)
class CostSums:
    """Normal equations by cost group, counts, and rows that were picked out."""

    blocks: GramBlocks
    counts: FloatArray  # (k,) weighted
    masses: FloatArray  # (g,) weighted
    picked: Rows

    @classmethod
    def of(
        cls, block: RowBlock, reader: RowReader, layer: HiddenLayer, places: IntArray | None
    ) -> CostSums:
        """Sum over one block; rows at ``places`` among all rows, in order, are picked out."""
        rows = reader(block)
        picked: IntArray = np.arange(0)
        if places is not None and len(block):
            first = int(_places(block)[0])
            start, end = np.searchsorted(places, [first, first + len(block)])
            picked = places[start:end] - first
        with one_blas_thread():
            sums = rows.blocks(layer)
        return cls(sums, rows.counts(reader.n_classes), rows.masses(), rows.taken(picked))

    def __add__(self, other: CostSums) -> CostSums:
        """Return the sums over the rows of both."""
        return CostSums(
            self.blocks + other.blocks,
            self.counts + other.counts,
            self.masses + other.masses,
            self.picked.joined(other.picked),
        )


@dataclass(frozen=True, slots=True)
class LayerSums:
    """Normal equations by fold and group of rows, behind one layer after the other."""

    behind: list[GramBlocks]

    @classmethod
    def of(
        cls,
        block: RowBlock,
        layers: Sequence[HiddenLayer],
        grouping: Grouping,
        plan: FoldPlan | None = None,
    ) -> LayerSums:
        """Sum over the rows of one block; without a plan there is one fold."""
        rows = block if plan is None else block.of_weight()  # others have no fold
        codes, g = grouping.codes(rows), grouping.n_groups
        n_folds = 1
        if plan is not None:
            codes, n_folds = plan.folds(rows.X, codes) * g + codes, plan.n_folds
        return cls._summed(rows, layers, grouping, codes, n_folds * g, rows.weight)

    @classmethod
    def weighted(
        cls,
        block: RowBlock,
        layers: Sequence[HiddenLayer],
        grouping: Grouping,
        costs: FloatArray,
    ) -> LayerSums:
        """Sum over the rows of one block, weighted by costs (g,) > 0 of their groups.

        That is one sum behind every layer: sums by group of many classes would not fit.
        """
        weight = costs[grouping.codes(block)]
        weight = weight if block.weight is None else weight * block.weight
        codes = np.zeros(len(block), dtype=np.intp)
        return cls._summed(block, layers, grouping, codes, 1, weight)

    @classmethod
    def _summed(
        cls,
        rows: RowBlock,
        layers: Sequence[HiddenLayer],
        grouping: Grouping,
        codes: IntArray,
        n_groups: int,
        weight: FloatArray | None,
    ) -> LayerSums:
        terms = CostTerms(
            codes[:, np.newaxis], np.ones((len(codes), 1)), n_groups, "fold and group"
        )
        targeted = Rows(rows.X, grouping.targets(rows), codes, terms, weight)
        with one_blas_thread():
            return cls([targeted.blocks(layer) for layer in layers])

    def __add__(self, other: LayerSums) -> LayerSums:
        """Return the sums over the rows of both."""
        return LayerSums([a + b for a, b in zip(self.behind, other.behind, strict=True)])
