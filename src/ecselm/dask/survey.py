"""The first pass: what must be known of all rows before any of them can be summed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from numbers import Integral
from typing import Any, Protocol

import dask
import numpy as np
from distributed import Client

from ecselm._typing import AnyArray, BoolArray, FloatArray, IntArray
from ecselm.dask.cluster import computed, tree_sum
from ecselm.dask.table import Block, Form, Table, read_block
from ecselm.estimators._base import class_codes, class_targets
from ecselm.estimators._training import fair_quotas
from ecselm.estimators.ecselm import level_edges, level_position
from ecselm.fitness.folds import N_FOLDS, Dealing
from ecselm.fitness.hashing import drawn_salt, key_numbers, mixed, row_keys
from ecselm.layers import ScaleSum

HEAD = 16  # rows of every partition that are shown to a layer, to warn if it is blind to them
NOWHERE = np.iinfo(np.intp).max  # the place of a row that there is not
ALL = 2.0**64  # numbers that a row may draw


class Grouping(Protocol):
    """What tells the groups of rows."""

    @property
    def labels(self) -> bool:
        """Tell whether targets are labels of classes."""

    @property
    def n_groups(self) -> int:
        """Return g."""

    def codes(self, block: Block) -> IntArray:
        """Return the group (N,) of every row."""

    def targets(self, block: Block) -> FloatArray:
        """Return T (N, m)."""

    def ends(self, block: Block) -> list[IntArray]:
        """Return the rows of which any sample must have the first: each of a kind of its own."""


@dataclass(frozen=True, slots=True)
class ClassGroups:
    """Rows by class."""

    classes: AnyArray  # (k,)

    @property
    def labels(self) -> bool:
        """Tell that targets are labels."""
        return True

    @property
    def n_groups(self) -> int:
        """Return k."""
        return len(self.classes)

    def codes(self, block: Block) -> IntArray:
        """Return classes."""
        return np.searchsorted(self.classes, block.y)

    def targets(self, block: Block) -> FloatArray:
        """Return one column for two classes, else one for each."""
        return class_targets(self.n_groups)[self.codes(block)]

    def ends(self, block: Block) -> list[IntArray]:
        """Return none: any rows of a class will do."""
        return []


@dataclass(frozen=True, slots=True)
class LevelGroups:
    """Rows by levels of equal width over the range of their targets.

    The range is found again in any sample that has its ends.
    """

    low: FloatArray  # (m,)
    high: FloatArray  # (m,)
    span: tuple[float, float]  # of positions
    edges: FloatArray  # (g - 1,)

    @property
    def labels(self) -> bool:
        """Tell that targets are no labels."""
        return False

    @property
    def n_groups(self) -> int:
        """Return the number of levels."""
        return len(self.edges) + 1

    def codes(self, block: Block) -> IntArray:
        """Return levels."""
        return np.digitize(self._position(block), self.edges, right=True)

    def targets(self, block: Block) -> FloatArray:
        """Return the targets."""
        return block.targets()

    def ends(self, block: Block) -> list[IntArray]:
        """Return the rows at either end of every target, and of their positions."""
        T, position = block.targets(), self._position(block)
        at_ends = [*(self.low == T).T, *(self.high == T).T, *(position == end for end in self.span)]
        return [np.flatnonzero(mask) for mask in at_ends]

    def _position(self, block: Block) -> FloatArray:
        return level_position(block.targets(), self.low, self.high)


@dataclass(frozen=True, slots=True)
class Grouped:
    """Groups, and how many rows of positive weight they have."""

    grouping: Grouping
    counts: IntArray  # (g,)
    masses: FloatArray  # (g,) weighted


def by_class(known: Survey) -> Grouped:
    """Return the classes that a survey has found."""
    return Grouped(ClassGroups(known.classes), known.rows, known.counts)


def by_level(client: Client, table: Table, known: Survey, n_levels: int) -> Grouped:
    """Count levels in a pass over the targets; of several targets another comes before it."""
    low, high = known.low, known.high
    span = (float(low[0]), float(high[0]))
    if len(low) > 1:
        look = dask.delayed(_span, pure=False)
        found = [one for one in computed(client, _of_targets(look, table, low, high)) if one]
        span = min(one[0] for one in found), max(one[1] for one in found)
    grouping = LevelGroups(low, high, span, level_edges(*span, n_levels))
    counts = computed(client, _of_targets(dask.delayed(_counted, pure=False), table, grouping))
    n_rows, masses = reduce(np.add, counts)
    return Grouped(grouping, n_rows.astype(np.intp), masses)


def _of_targets(task: Any, table: Table, *given: Any) -> list[Any]:
    """Return a task for every partition, which sees all but the inputs."""
    return [
        task({name: part[name] for name in part if name != "X"}, table.form, *given)
        for part in table.parts
    ]


def _span(
    part: dict[str, Any], form: Form, low: FloatArray, high: FloatArray
) -> tuple[float, float] | None:
    block = read_block(part, form, labels=False).of_weight()
    if not len(block):
        return None
    position = level_position(block.targets(), low, high)
    return float(position.min()), float(position.max())


def _counted(part: dict[str, Any], form: Form, grouping: LevelGroups) -> FloatArray:
    block = read_block(part, form, labels=False).of_weight()
    codes, g = grouping.codes(block), grouping.n_groups
    return np.array([np.bincount(codes, minlength=g), np.bincount(codes, block.weight, g)])


@dataclass(frozen=True, slots=True)
class Surveyed:
    """What there is to know of one partition."""

    n_rows: int
    scale: ScaleSum
    head: Block
    labels: AnyArray  # (k,) distinct; none of real targets
    counts: FloatArray  # (k,) weighted
    rows: IntArray  # (k,) of positive weight
    low: FloatArray  # (m,) of real targets, of rows of positive weight
    high: FloatArray  # (m,)


@dataclass(frozen=True, slots=True)
class Survey:
    """What there is to know of all partitions."""

    sizes: IntArray  # (p,) rows of every partition
    scale: ScaleSum
    head: Block
    classes: AnyArray  # (k,)
    counts: FloatArray  # (k,) weighted
    rows: IntArray  # (k,) of positive weight
    low: FloatArray  # (m,)
    high: FloatArray  # (m,)


def survey(client: Client, table: Table, *, labels: bool) -> Survey:
    """Read every partition once; refuse the first that is not as it should be.

    Parameters
    ----------
    client : distributed.Client
    table : Table
    labels : bool
        Whether ``y`` holds labels of classes, not real targets.
    """
    look = dask.delayed(_surveyed, pure=False)
    found = computed(client, [look(part, table.form, labels) for part in table.parts])
    faults = [f"{one}, in partition {i}" for i, one in enumerate(found) if isinstance(one, str)]
    if faults:
        raise ValueError(faults[0])
    parts = [one for one in found if one.n_rows]
    if not parts:
        raise ValueError("X must have at least one row, got none in any partition")
    if not any(one.scale.weight for one in parts):
        raise ValueError("sample_weight must be > 0 for some row, got 0 for every row")
    return _merged(found, parts, labels)


def _surveyed(part: dict[str, Any], form: Form, labels: bool) -> Surveyed | str:
    """Return what is known of a partition, or what is wrong with it.

    What is wrong is told, not raised: which of several bad partitions is the first to be
    refused must not depend on who was faster.
    """
    try:
        block = read_block(part, form, labels=labels)
        distinct, codes = np.unique(block.y, return_inverse=True) if labels else (block.y[:0], None)
    except (TypeError, ValueError) as error:
        return str(error)
    counts, rows = np.zeros(0), np.zeros(0, dtype=np.intp)
    T: FloatArray = np.empty((0, 0))
    if codes is None:
        T = block.of_weight().targets()
    else:
        counts = np.bincount(codes, block.weight, len(distinct)).astype(np.float64)
        rows = np.bincount(codes[block.used()], minlength=len(distinct))
    return Surveyed(
        len(block),
        ScaleSum.of(block.X, block.weight),
        block.taken(np.arange(min(HEAD, len(block)))),
        distinct,
        counts,
        rows,
        T.min(axis=0, initial=np.inf),
        T.max(axis=0, initial=-np.inf),
    )


def _merged(found: list[Surveyed], parts: list[Surveyed], labels: bool) -> Survey:
    classes, counts, rows = np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.intp)
    if labels:
        classes = np.unique(np.concatenate([one.labels for one in parts]))
        counts, rows = np.zeros(len(classes)), np.zeros(len(classes), dtype=np.intp)
        for one in parts:
            place = np.searchsorted(classes, one.labels)
            counts[place] += one.counts
            rows[place] += one.rows
        _check_classes(classes, counts)
    return Survey(
        np.array([one.n_rows for one in found]),
        reduce(ScaleSum.__add__, [one.scale for one in parts]),
        Block.joined([one.head for one in parts]),
        classes,
        counts,
        rows,
        np.min([one.low for one in parts], axis=0),
        np.max([one.high for one in parts], axis=0),
    )


def _check_classes(classes: AnyArray, counts: FloatArray) -> None:
    # Several of each: labels that are all different would be taken for real numbers.
    class_codes(np.repeat(classes, 4), np.repeat(counts, 4))


@dataclass(frozen=True, slots=True)
class LeastKeys:
    """The least keys among distinct rows, and where each stands first."""

    keys: AnyArray  # (d,) ascending
    places: IntArray  # (d,)

    @classmethod
    def among(cls, keys: AnyArray, places: IntArray, most: int) -> LeastKeys:
        """Return at most so many; of equal rows the first is given first."""
        least, first = np.unique(keys, return_index=True)
        return cls(least[:most], places[first[:most]])

    def joined(self, other: LeastKeys, most: int) -> LeastKeys:
        """Return the least of both; places of the other come after."""
        both = np.concatenate([self.keys, other.keys])
        return LeastKeys.among(both, np.concatenate([self.places, other.places]), most)


@dataclass(frozen=True, slots=True)
class SampleRule:
    """Which rows may be in the sample: those that draw a small number at their place."""

    quotas: IntArray  # (g,) rows to take of each group
    shares: FloatArray  # (g,) of all numbers, a few more than are needed
    salt: int

    @classmethod
    def drawn(cls, counts: IntArray, most: int, rng: np.random.Generator) -> SampleRule:
        """Take all rows, or about ``most``: of every group as many, or all that it has.

        Mistakes on rare classes are judged as well as on frequent ones.

        Examples
        --------
        >>> SampleRule.drawn(np.array([1000, 3]), 100, np.random.default_rng(0)).quotas
        array([97,  3])
        """
        quotas = counts if counts.sum() <= most else fair_quotas(counts, most)
        enough = quotas + 8.0 * np.sqrt(quotas) + 8.0  # that fewer come is as good as impossible
        shares = np.where(quotas < counts, enough / np.maximum(counts, 1), 1.0)
        return cls(quotas, np.minimum(shares, 1.0), drawn_salt(rng))

    def draws(self, places: IntArray) -> AnyArray:
        """Return the numbers (N,) of rows at places among all."""
        return mixed(places, self.salt)

    def may_be_taken(self, draws: AnyArray, codes: IntArray) -> AnyArray:
        """Return whether rows (N,) of these groups have a chance."""
        return draws.astype(np.float64) <= ALL * self.shares[codes]

    def taken(self, draws: AnyArray, codes: IntArray) -> IntArray:
        """Return which of the rows (n,) are in the sample."""
        order = np.lexsort((draws, codes))
        ranks = np.arange(len(order)) - np.searchsorted(codes[order], codes[order])
        return order[ranks < self.quotas[codes[order]]]


@dataclass(frozen=True, slots=True)
class Roll:
    """What is known of single rows of positive weight."""

    n_listed: int
    least: list[LeastKeys]  # by group
    mark: int  # of all rows: that of others is another
    rows: Block  # that may be in the sample
    places: IntArray  # (n,) of these
    ends: IntArray  # (e,) places of rows that must be

    def __add__(self, other: Roll) -> Roll:
        """Return what is known of the rows of both, those of the other coming after."""
        return Roll(
            self.n_listed,
            [a.joined(b, self.n_listed) for a, b in zip(self.least, other.least, strict=True)],
            (self.mark + other.mark) % (1 << 64),
            Block.joined([self.rows, other.rows]),
            np.concatenate([self.places, other.places]),
            np.minimum(self.ends, other.ends),
        )

    def sampled(self, rule: SampleRule, grouping: Grouping) -> tuple[Block, IntArray]:
        """Return the rows of the sample and their places, in order."""
        chosen = rule.taken(rule.draws(self.places), grouping.codes(self.rows))
        ends = np.searchsorted(self.places, self.ends[self.ends < NOWHERE])
        kept = np.union1d(chosen, ends)
        return self.rows.taken(kept), self.places[kept]

    def least_of_all(self) -> LeastKeys:
        """Return the least keys, whatever the group; of equal rows the first."""
        keys = np.concatenate([one.keys for one in self.least])
        places = np.concatenate([one.places for one in self.least])
        order = np.argsort(places)
        return LeastKeys.among(keys[order], places[order], self.n_listed)


def call_roll(
    client: Client, table: Table, sizes: IntArray, grouped: Grouped, rule: SampleRule, n_listed: int
) -> Roll:
    """Read every partition, of which ``sizes`` are known, and list ``n_listed`` keys per group."""
    call = dask.delayed(call_part, pure=False)
    given = dask.delayed((table.form, grouped.grouping, rule, n_listed), pure=False, traverse=False)
    starts = (np.cumsum(sizes) - sizes).tolist()
    parts = [call(part, given, start) for part, start in zip(table.parts, starts, strict=True)]
    (roll,) = computed(client, [tree_sum(parts, Roll.__add__)])
    return roll


def call_part(
    part: dict[str, Any], given: tuple[Form, Grouping, SampleRule, int], start: int
) -> Roll:
    """Return what is known of the rows of a partition whose first row is at ``start``."""
    form, grouping, rule, n_listed = given
    block = read_block(part, form, labels=grouping.labels)
    places, rows = start + block.used(), block.of_weight()
    codes, keys = grouping.codes(rows), row_keys(rows.X)
    members = [np.flatnonzero(codes == group) for group in range(grouping.n_groups)]
    columns = [codes] if grouping.labels else list(rows.targets().T)
    columns += [] if rows.weight is None else [rows.weight]
    ends = [own[:1] for own in grouping.ends(rows)]
    chance = np.flatnonzero(rule.may_be_taken(rule.draws(places), codes))
    chance = np.unique(np.concatenate([chance, *ends]))
    return Roll(
        n_listed,
        [LeastKeys.among(keys[own], places[own], n_listed) for own in members],
        _mark(keys, columns),
        rows.taken(chance),
        places[chance],
        np.array([places[own[0]] if len(own) else NOWHERE for own in ends], dtype=np.intp),
    )


def _mark(keys: AnyArray, columns: list[AnyArray]) -> int:
    """Return a number of rows in any order that other keys or columns would change."""
    number = key_numbers(keys)
    for column in columns:
        number = mixed(number ^ column.astype(np.float64).view(np.uint64), 0)
    return int(number.sum())


@dataclass(frozen=True, slots=True)
class Cells:
    """Cells of rows, and for each split the cells it trains on and the one it judges by."""

    dealing: Dealing
    fraction: float | None  # None for folds
    trained: BoolArray  # (n_splits, n_cells)
    judged: IntArray  # (n_splits,)

    @classmethod
    def made(cls, fitness: Any, dealing: Dealing, fraction: float) -> Cells:
        """Return the cells that a ``fitness`` asks for.

        Examples
        --------
        >>> from ecselm.fitness.hashing import row_keys
        >>> X, y = np.array([[1.0], [2.0], [3.0], [4.0]]), np.zeros(4, dtype=int)
        >>> rng = np.random.default_rng(0)
        >>> cells = Cells.made(2, Dealing.drawn({0: np.sort(row_keys(X))}, rng, 4), 0.25)
        >>> sorted(cells.of(X, y).tolist()), cells.trained.tolist()
        ([0, 0, 1, 1], [[False, True], [True, False]])
        """
        if fitness == "train":
            return cls(dealing, None, np.array([[True]]), np.array([0]))
        if fitness == "holdout":
            n_cells = 2 if dealing.sets_aside(fraction) else 1
            made = cls(dealing, fraction, np.array([[True, False]]), np.array([1]))
        else:
            n_cells = dealing.n_parts(int(fitness) if isinstance(fitness, Integral) else N_FOLDS)
            made = cls(dealing, None, ~np.eye(n_cells, dtype=bool), np.arange(n_cells))
        if n_cells < 2:
            raise ValueError(
                "some rows must be left to train on and others to judge by, got too few distinct "
                "rows of a class for that"
            )
        return made

    @property
    def n_cells(self) -> int:
        """Return the number of cells."""
        return int(self.trained.shape[1])

    def of(self, X: FloatArray, codes: IntArray) -> IntArray:
        """Return the cell (N,) of every row, by its inputs and its class."""
        if self.n_cells == 1:
            return np.zeros(len(codes), dtype=np.intp)
        keys = row_keys(X)
        if self.fraction is None:
            return self.dealing.parts(keys, codes, self.n_cells)
        return self.dealing.set_aside(keys, codes, self.fraction).astype(np.intp)
