"""The test rows of a run as pages need them: probabilities, true classes, and cells.

The server decides by other costs on these alone; it needs neither the model nor the table.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ecselm._files import replacing
from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.costs import CostConstraints
from ecselm.costs.policy import DecisionPolicy
from ecselm.costs.region import CostRegion
from ecselm.estimators._policy import Decisions
from ecselm.study import FitRequest, OperatingPoints, Table, plan_columns, training_rows
from ecselm.study.decisions import operating_points, split_column
from ecselm.study.rows import read_rows, split_rows
from ecselm.tables.schema import target_rows

ARRAYS, CELLS = "cases.npz", "cases.csv"
MAX_CELL = 500  # characters of a cell that a page shows


@dataclass(frozen=True, slots=True)
class Cases:
    """Test rows: their place in the table, true classes, probabilities and costs."""

    positions: IntArray  # (n,) in the table
    codes: IntArray  # (n,) true classes
    probabilities: FloatArray  # (n, k)
    matrix: FloatArray  # (k, k) by which the model decided when it was trained
    shares: FloatArray  # (k,) of the classes among training rows
    by_row: FloatArray | None = None  # (n, k, k)

    def save(self, folder: Path) -> None:
        """Write the arrays."""
        given = {name: getattr(self, name) for name in self.__slots__}
        with replacing(folder / ARRAYS) as part, part.open("wb") as file:
            np.savez(file, **{name: one for name, one in given.items() if one is not None})

    @classmethod
    def load(cls, folder: Path) -> Cases:
        """Read the arrays."""
        with np.load(folder / ARRAYS, allow_pickle=False) as stored:
            return cls(**stored)

    def decisions(self, constraints: CostConstraints | None) -> Decisions:
        """Return the decisions by costs, None for those of the training."""
        if constraints is None:
            region = CostRegion.of_point(self.matrix)
            policy = DecisionPolicy(region, self.matrix, self.matrix)
        else:
            policy = DecisionPolicy.of_costs(constraints.region, self.shares)
        P = self.probabilities
        return Decisions(policy, P, policy.answers(P, self.by_row), self.by_row)

    def points(
        self, constraints: CostConstraints | None, labels: Any, *, are_stated: bool
    ) -> OperatingPoints:
        """Return the operating points by costs."""
        return operating_points(
            self.decisions(constraints), self.codes, labels, are_stated=are_stated
        )


def positions_of_tests(table: Table, request: FitRequest) -> tuple[IntArray, IntArray, AnyArray]:
    """Return places of the test rows in the table, their classes by position, and the classes.

    The split is the one of :func:`ecselm.study.study`, drawn again.
    """
    frame = table.frame
    known = target_rows(frame, request.target)
    groups = None
    if request.groups is not None:
        groups = frame.loc[known, request.groups].astype(str).to_numpy()
        frame = frame.drop(columns=request.groups)
    names = [name for name in frame.columns if name not in _cost_names(request, frame)]
    plan = plan_columns(frame[names], request.target)
    rows = training_rows(frame[names], plan, request.task)
    found = read_rows(rows.X, rows.y, rows.task, groups)
    (rng,) = np.random.default_rng(request.seed).spawn(1)
    split = split_rows(
        rows.X, found.codes, found.classes, share=request.test_share, rng=rng, groups=groups
    )
    return np.flatnonzero(known)[split.test], found.codes[split.test], found.classes


def _cost_names(request: FitRequest, frame: Any) -> set[str]:
    names = [*map(str, frame.columns)]
    return {split_column(text, names)[1] for text in request.costs.columns}


def save_cells(table: Table, positions: IntArray, folder: Path) -> None:
    """Write the cells of test rows as text, in the order of the positions."""
    with (
        replacing(folder / CELLS) as part,
        part.open("w", encoding="utf-8", newline="") as file,
    ):
        table.frame.iloc[positions].to_csv(file, index=False, lineterminator="\n")


def read_cells(folder: Path, wanted: list[int]) -> dict[int, dict[str, str]]:
    """Return the cells of some test rows by column, reading no more than one row at a time."""
    found, last = {}, max(wanted, default=-1)
    with (folder / CELLS).open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        names = next(rows)
        chosen = set(wanted)
        for place, row in enumerate(rows):
            if place in chosen:
                cells = [one if len(one) <= MAX_CELL else f"{one[:MAX_CELL]}…" for one in row]
                found[place] = dict(zip(names, cells, strict=True))
            if place >= last:
                break
    return found
