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
from ecselm.objectives.folds import row_keys

HEAD = 16  # rows of every partition that are shown to a layer, to warn if it is blind to them


@dataclass(frozen=True, slots=True)
class Surveyed:
    """What there is to know of one partition."""

    n_rows: int
    scale: ScaleSum
    head: Block
    labels: AnyArray  # (k,) distinct; none of real targets
    counts: FloatArray  # (k,) weighted
    keys: AnyArray  # (n, 2) of the rows of positive weight, if asked for
    y: AnyArray  # (n,) positions among the labels, or targets, of the same rows
    weight: FloatArray | None  # (n,)


@dataclass(frozen=True, slots=True)
class Survey:
    """What there is to know of all partitions."""

    sizes: IntArray  # (p,) rows of every partition
    used: IntArray  # (p,) rows of positive weight, where keys were asked for
    scale: ScaleSum
    head: Block
    classes: AnyArray  # (k,)
    counts: FloatArray  # (k,) weighted
    keys: AnyArray  # (N, 2)
    y: AnyArray  # (N,) class codes, or targets (N,) or (N, m)
    weight: FloatArray | None  # (N,)


def survey(client: Client, table: Table, *, labels: bool, keys: bool = False) -> Survey:
    """Read every partition once; refuse the first that is not as it should be.

    Parameters
    ----------
    client : distributed.Client
    table : Table
    labels : bool
        Whether ``y`` holds labels of classes, not real targets.
    keys : bool, default=False
        Whether keys and targets of all rows are wanted, some 24 bytes per row.
    """
    look = dask.delayed(_surveyed, pure=False)
    found = computed(client, [look(part, table.form, labels, keys) for part in table.parts])
    faults = [f"{one}, in partition {i}" for i, one in enumerate(found) if isinstance(one, str)]
    if faults:
        raise ValueError(faults[0])
    parts = [one for one in found if one.n_rows]
    if not parts:
        raise ValueError("X must have at least one row, got none in any partition")
    if not any(one.scale.weight for one in parts):
        raise ValueError("sample_weight must be > 0 for some row, got 0 for every row")
    return _merged(found, parts, labels)


def _surveyed(part: dict[str, Any], form: Form, labels: bool, keys: bool) -> Surveyed | str:
    """Return what is known of a partition, or what is wrong with it.

    What is wrong is told, not raised: which of several bad partitions is the first to be
    refused must not depend on who was faster.
    """
    try:
        block = read_block(part, form, labels=labels)
        distinct, codes = np.unique(block.y, return_inverse=True) if labels else (block.y[:0], None)
    except (TypeError, ValueError) as error:
        return str(error)
    used = block.used()
    counts = np.zeros(0)
    if codes is not None:
        counts = np.bincount(codes, block.weight, len(distinct)).astype(np.float64)
    y = block.y if codes is None else codes.astype(np.min_scalar_type(len(distinct)))
    return Surveyed(
        len(block),
        ScaleSum.of(block.X, block.weight),
        block.taken(np.arange(min(HEAD, len(block)))),
        distinct,
        counts,
        _compact(row_keys(block.X[used])) if keys and len(used) else np.zeros((0, 2), np.uint64),
        y[used] if keys else y[:0],
        None if block.weight is None else block.weight[used if keys else used[:0]],
    )


def _compact(keys: AnyArray) -> AnyArray:
    """Return keys of 32 hexadecimal digits as pairs of numbers (n, 2) of the same order."""
    digits = bytes.fromhex("".join(keys.tolist()))
    return np.frombuffer(digits, dtype=">u8").astype(np.uint64).reshape(-1, 2)


def _merged(found: list[Surveyed], parts: list[Surveyed], labels: bool) -> Survey:
    classes, counts, y = np.zeros(0), np.zeros(0), [one.y for one in parts]
    if labels:
        classes = np.unique(np.concatenate([one.labels for one in parts]))
        counts = np.zeros(len(classes))
        places = [np.searchsorted(classes, one.labels) for one in parts]
        for place, one in zip(places, parts, strict=True):
            counts[place] += one.counts
        small = np.min_scalar_type(len(classes))
        y = [place.astype(small)[one.y] for place, one in zip(places, parts, strict=True)]
        _check_classes(classes, counts)
    weights = [one.weight for one in parts if one.weight is not None]
    return Survey(
        np.array([one.n_rows for one in found]),
        np.array([len(one.keys) for one in found]),
        reduce(ScaleSum.__add__, [one.scale for one in parts]),
        Block.joined([one.head for one in parts]),
        classes,
        counts,
        np.concatenate([one.keys for one in parts]),
        np.concatenate(y),
        np.concatenate(weights) if weights else None,
    )


def _check_classes(classes: AnyArray, counts: FloatArray) -> None:
    # Several of each: labels that are all different would be taken for real numbers.
    class_codes(np.repeat(classes, 4), np.repeat(counts, 4))
