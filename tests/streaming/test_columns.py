"""Types of columns are the same from blocks as from a whole table."""

import numpy as np
import pandas as pd
import pytest

from ecselm.study import plan_columns, task_of, training_rows
from ecselm.tables.blocks import TableTally
from ecselm.tables.schema import KEPT, MOST_WORDS, ColumnTally, DistinctCount
from ecselm.tables.target import target_of

N = 400


def looked_at(frame, target, block_rows, groups=None, task=None):
    tally = TableTally(frame.columns, target, groups)
    for start in range(0, len(frame), block_rows):
        tally.add(frame.iloc[start : start + block_rows].reset_index(drop=True))
    return tally.plan(), tally.target(task)


@pytest.fixture
def messy(rng):
    """Return a table with a column for every rule."""
    words = rng.choice(["f", "m", "?", "rare"], N, p=[0.5, 0.4, 0.095, 0.005])
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 99, N), "D")
    return pd.DataFrame(
        {
            "size": np.where(rng.random(N) < 0.1, np.nan, rng.standard_normal(N)),
            "whole": rng.integers(0, 5, N),
            "nr": np.arange(N) + 7,
            "patient id": rng.permutation(N) * 3,
            "same": 1,
            "nothing": [None] * N,
            "sex": words,
            "smokes": rng.choice(["Yes", "no", ""], N),
            "member": rng.choice([True, False], N),
            "seen": days,
            "written": days.strftime("%Y-%m-%d"),
            "as text": rng.integers(0, 50, N).astype(str),
            "nearly": np.where(np.arange(N) == 8, "lots", rng.integers(0, 50, N).astype(str)),
            "key": [f"k{i}" for i in range(N)],
            "prose": rng.choice([f"word {i}" for i in range(150)], N),
            "kind": pd.Categorical(rng.choice(["u", "v"], N)),
            "y": np.where(rng.random(N) < 0.02, None, rng.choice(["ill", "well"], N)),
        }
    )


@pytest.mark.parametrize("block_rows", [50, 133, N])
def test_any_blocks_give_the_plan_of_the_table(messy, block_rows):
    plan, target = looked_at(messy, "y", block_rows)
    whole = plan_columns(messy, "y")
    assert list(plan.columns) == list(whole.columns)
    assert plan == whole
    assert target.classes.tolist() == ["ill", "well"]
    assert sum(target.counts.values()) == int(messy["y"].notna().sum())


@pytest.mark.parametrize(
    "values",
    [
        ["ill", "well"] * 50,
        [0, 1, 2, 2] * 30,
        [0.5, 1.0, 2.5] * 30,
        [True, False] * 30,
        np.arange(60) % 51,
        np.arange(200) / 7,
        ["1", "2", "x"] * 20,
        [1.0, None, 2.0] * 20,
    ],
    ids=str,
)
def test_targets_are_those_of_the_table(values):
    frame = pd.DataFrame({"x": np.arange(len(values)) % 7, "y": values})
    whole = training_rows(frame, plan_columns(frame, "y"))
    _, target = looked_at(frame, "y", 9)
    assert target.task == whole.task == task_of(frame["y"].dropna())
    known = frame["y"].dropna()
    assert target.values(known).tolist() == whole.y.tolist()
    if target.task == "classes":
        assert target.classes.tolist() == np.unique(whole.y).tolist()
        assert target.classes.dtype.kind == whole.y.dtype.kind


def test_a_fraction_in_the_last_block_makes_classes_of_words():
    frame = pd.DataFrame({"x": np.arange(40) % 7, "y": [1.0, 2.0] * 19 + [1.5, 1.5]})
    _, target = looked_at(frame, "y", 10)
    assert target.classes.tolist() == ["1", "1.5", "2"]
    assert target.values(frame["y"][:2]).tolist() == ["1", "2"]


def test_memory_of_words_is_bounded(rng):
    tally = ColumnTally()
    for i in range(6):
        tally.add(pd.Series([f"{i} {j}" for j in range(MOST_WORDS // 2)]))
    assert len(tally.counts) <= MOST_WORDS + 1
    assert not tally.has_all_words
    planned = tally.planned("key")
    assert (planned.note.kind, planned.names) == ("identifier", ())


def test_many_distinct_values_are_counted_nearly(rng):
    count = DistinctCount()
    values = rng.permutation(np.repeat(np.arange(100_000.0), 2))
    for part in np.array_split(values, 7):
        count.add(part)
    assert len(count._hashes) == KEPT
    assert abs(count.number / 100_000 - 1) < count.tolerance
    whole = DistinctCount()
    whole.add(values)
    assert whole.number == count.number


def test_numbers_of_many_rows_are_not_used():
    frame = pd.DataFrame({"row": np.arange(20_000), "x": np.arange(20_000) % 9 / 2})
    frame["y"] = np.where(frame["x"] > 2, "a", "b")
    plan, _ = looked_at(frame, "y", 3000)
    assert [column.kind for column in plan.columns] == ["identifier", "numbers"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"target": "Y"}, "target must be a column of the table, got 'Y'; did you mean 'y'"),
        ({"target": "nothing"}, "target must hold something, the column 'nothing' is empty"),
        ({"target": "same"}, "the target must have at least two values, got 1"),
        ({"target": "y", "groups": "grp"}, "groups must be a column of the table, got 'grp'"),
        ({"target": "y", "groups": "y"}, "groups must not be the target, got 'y'"),
        ({"target": "y", "task": "numbers"}, "task must be 'classes' where the target holds words"),
    ],
)
def test_bad_questions_are_refused(messy, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        looked_at(messy, block_rows=100, **options)


def test_too_many_classes_are_refused():
    tally = ColumnTally(counts_numbers=True)
    tally.add(pd.Series([f"c{i}" for i in range(MOST_WORDS + 1)]))
    with pytest.raises(ValueError, match="at most 1000 classes"):
        target_of(tally, "classes")
