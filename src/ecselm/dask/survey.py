"""The first pass: what must be known of all rows before any of them can be summed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import dask
import numpy as np
from distributed import Client

from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.dask.blocks import Block, read_block
from ecselm.dask.cluster import computed
from ecselm.dask.table import Form, Table
from ecselm.elm.labels import class_codes
from ecselm.hidden import ScaleSum

HEAD = 16  # rows of every partition that are shown to a layer, to warn if it is blind to them


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
