"""What a search must know of single rows: those of the least keys, and a sample to judge by.

Both are found where the rows are, by numbers that rows alone decide, and are of one size
however many rows there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import dask
import numpy as np
from distributed import Client

from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.dask.blocks import Block, read_block
from ecselm.dask.cluster import computed, tree_sum
from ecselm.dask.grouping import Grouped, Grouping
from ecselm.dask.table import Form, Table
from ecselm.elm.sample import fair_quotas
from ecselm.objectives.keys import drawn_salt, key_numbers, mixed, row_keys

NOWHERE = np.iinfo(np.intp).max  # the place of a row that there is not
ALL = 2.0**64  # numbers that a row may draw


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
