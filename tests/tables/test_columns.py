"""Types of columns, and rows as a model takes them."""

import numpy as np
import onnxruntime
import pandas as pd
import pytest
import skops.io
from numpy.testing import assert_array_equal
from skl2onnx import to_onnx
from skl2onnx.common.data_types import StringTensorType
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from ecselm import ECSELMClassifier
from ecselm.study import (
    ColumnNote,
    DayNumbers,
    new_rows,
    plan_columns,
    read_table,
    task_of,
    training_rows,
)

N = 120


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "patient_id": rng.permutation(10**6)[:N],
            "row": np.arange(N),
            "size": rng.standard_normal(N).round(3),
            "share": [f"{n} %" for n in rng.integers(0, 100, N)],
            "site": rng.choice(["brain", "Bläschen", "skin"], N),
            "smoker": rng.choice(["Yes", "no"], N),
            "seen": pd.date_range("2024-01-01", periods=N).strftime("%Y-%m-%d"),
            "remark": [f"remark {n}" for n in range(N)],
            "ward": "B",
            "nothing": None,
        }
    )
    table.loc[3:9, "size"] = np.nan
    table.loc[5:8, "site"] = "?"
    table.loc[0, "site"] = "toe"
    table["diagnosis"] = np.where(table["size"].fillna(0) > 0.3, "malignant", "benign")
    table.loc[N - 2 :, "diagnosis"] = ["", None]
    return table


@pytest.fixture(scope="module")
def plan(frame):
    return plan_columns(frame, "diagnosis")


def test_every_column_gets_a_kind_by_what_it_holds(plan):
    assert {column.name: column.kind for column in plan.columns} == {
        "patient_id": "identifier",
        "row": "identifier",
        "size": "numbers",
        "share": "numbers",
        "site": "names",
        "smoker": "yes or no",
        "seen": "dates",
        "remark": "identifier",
        "ward": "constant",
        "nothing": "empty",
    }


def test_every_treatment_is_described(plan):
    said = {column.name: column.treatment for column in plan.columns}
    assert said["size"] == "missing values: median, and a column that marks them"
    assert said["share"] == "written as text"
    assert said["site"] == (
        "one-hot encoded; missing values: a name of their own; rare names (1): none of the others"
    )
    assert said["smoker"] == "yes is 1, no is 0"
    assert said["remark"] == "left out: another value in nearly every row"


def test_rows_without_a_target_are_dropped_with_a_note(frame, plan):
    assert plan.notes == (f"2 of {N} rows have no diagnosis and are left out.",)
    rows = training_rows(frame, plan)
    assert len(rows.X) == len(rows.y) == N - 2
    assert set(rows.y) == {"benign", "malignant"}
    assert next(c for c in plan.columns if c.name == "size").n_missing == 7


def test_the_transformer_gives_numbers_without_gaps(frame, plan):
    X = training_rows(frame, plan).X
    made = plan.transformer().fit(X)
    values = made.transform(X)
    # size, its mark, share, smoker, the day, three sites and the missing one
    assert values.shape == (N - 2, 9)
    assert np.isfinite(values).all()
    names = made.get_feature_names_out().tolist()
    days = values[:, names.index("dates__seen")]
    assert_array_equal(np.diff(days), 1.0)
    assert_array_equal(values[:, names.index("names__site_brain")], X["site"] == "brain")


def test_words_among_numbers_are_named():
    cells = [str(n / 7) for n in range(60)]
    table = pd.DataFrame({"dose": [*cells, "unknown"], "size": range(61, 0, -1), "y": [0] * 61})
    table["size"] = table["size"] / 3
    dose = plan_columns(table, "y").columns[0]
    assert (dose.kind, dose.treatment) == ("text", "left out: numbers but for 'unknown'")


def test_too_many_words_are_text_and_not_used():
    words = [f"word {n // 2}" for n in range(400)]
    table = pd.DataFrame({"said": words, "size": np.linspace(0, 1, 400), "y": [0, 1] * 200})
    assert plan_columns(table, "y").columns[0].treatment == "left out: text of 200 values"


def test_flags_of_parquet_are_yes_or_no():
    table = pd.DataFrame({"flag": [True, False, True], "y": [0, 1, 0]})
    plan = plan_columns(table, "y")
    assert plan.columns[0].kind == "yes or no"
    assert_array_equal(new_rows(table, plan.columns)["flag"], [1, 0, 1])
    table["flag"] = table["flag"].astype("boolean")
    table.loc[1, "flag"] = pd.NA
    assert_array_equal(new_rows(table, plan.columns)["flag"], [1, np.nan, 1])


def test_a_wide_table_is_no_trouble(tmp_path):
    wide = pd.DataFrame(np.random.default_rng(0).standard_normal((30, 200)))
    wide.columns = [f"x{j}" for j in range(200)]
    wide.assign(y=[0, 1, 2] * 10).to_csv(tmp_path / "wide.csv", index=False)
    table = read_table(tmp_path / "wide.csv")
    plan = plan_columns(table.frame, "y")
    rows = training_rows(table.frame, plan)
    assert plan.transformer().fit_transform(rows.X).shape == (30, 200)
    assert rows.y.dtype == np.int64


@pytest.mark.parametrize(
    ("table", "target", "sentence"),
    [
        ({"age": [1, 2], "diagnosis": [0, 1]}, "diagnose", "got 'diagnose'; did you mean 'diag"),
        ({"age": [1, 2], "y": [None, ""]}, "y", "the column 'y' is empty"),
        ({"y": [0, 1]}, "y", "a column that 'y' can be predicted from, got none"),
        ({"age": [1, 1], "y": [0, 1]}, "y", r"got 'age \(left out: the same in all rows\)'"),
        ({5: [1, 2], "y": [0, 1]}, "y", "names of columns must be texts, got 5"),
    ],
    ids=["unknown", "empty", "alone", "useless", "number"],
)
def test_a_table_that_cannot_be_used_is_refused(table, target, sentence):
    with pytest.raises(ValueError, match=sentence):
        plan_columns(pd.DataFrame(table), target)


def test_two_columns_of_one_name_are_refused():
    twice = pd.DataFrame([[1, 2, 0], [3, 4, 1]], columns=["age", "age", "y"])
    with pytest.raises(ValueError, match="names of columns must differ, got 'age' twice"):
        plan_columns(twice, "y")


def test_new_rows_need_the_same_columns_in_any_order(frame, plan):
    known = new_rows(frame, plan.columns)
    mixed = frame[frame.columns[::-1]].drop(columns=["remark", "diagnosis"])
    pd.testing.assert_frame_equal(new_rows(mixed, plan.columns), known)
    with pytest.raises(ValueError, match="must have the column 'size'; did you mean 'Size'"):
        new_rows(frame.rename(columns={"size": "Size"}), plan.columns)
    with pytest.raises(ValueError, match=r"must have the column 'size' and 4 more$"):
        new_rows(pd.DataFrame({"q": [1]}), plan.columns)


@pytest.mark.parametrize(
    ("column", "value", "sentence"),
    [
        ("size", "large", "column 'size' must hold numbers .* got 'large' in row 5"),
        ("smoker", "perhaps", "column 'smoker' must hold yes or no .* got 'perhaps' in row 5"),
        ("seen", "1.2.2024", "column 'seen' must hold ISO dates .* got '1.2.2024' in row 5"),
    ],
)
def test_values_of_another_kind_are_refused_by_row(frame, plan, column, value, sentence):
    strange = frame.astype({column: object})
    strange.loc[4, column] = value
    with pytest.raises(ValueError, match=sentence):
        new_rows(strange, plan.columns)


def test_names_never_seen_and_new_gaps_are_fine(frame, plan):
    X = training_rows(frame, plan).X
    strange = frame.iloc[:2].copy()
    strange["site"] = ["elbow", None]
    strange["share"] = None
    values = plan.transformer().fit(X).transform(new_rows(strange, plan.columns))
    assert np.isfinite(values).all()
    assert not values[0, -4:].any()


def test_columns_not_in_a_sparse_file_hold_zeros():
    note = ColumnNote("f7", "numbers", 0, 2, "as it is")
    assert new_rows(pd.DataFrame({"f1": [1, 2]}), [note], absent=0.0)["f7"].tolist() == [0, 0]


def test_a_whole_number_among_names_is_the_same_in_every_file():
    table = pd.DataFrame({"grade": ["1", "2", "x"] * 5, "y": [0, 1, 2] * 5})
    plan = plan_columns(table, "y")
    floats = pd.DataFrame({"grade": [1.0, np.nan, 2.0]})
    assert new_rows(floats, plan.columns)["grade"].tolist() == ["1", "", "2"]


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (["a", "b", "a"], "classes"),
        ([0, 1] * 10, "classes"),
        (np.arange(26).repeat(20), "classes"),
        (np.arange(80).repeat(20), "numbers"),
        (np.linspace(0, 1, 30).repeat(5), "numbers"),
        ([0.5, 1.0, 1.5] * 10, "classes"),
        ([1.5, 2.5, 3.25, 9.0], "numbers"),
        (["1,5", "2,5", "3,25"], "numbers"),
    ],
)
def test_the_task_follows_from_the_number_of_values(y, task):
    assert task_of(y) == task
    assert task_of(y, "classes") == "classes"


def test_a_task_that_cannot_be_is_refused():
    with pytest.raises(ValueError, match=r"task must be 'classes' .* words, got 'a'"):
        task_of([1, "a"], "numbers")
    with pytest.raises(ValueError, match="task must be 'classes' or 'numbers', got 'ranks'"):
        task_of([1, 2], "ranks")
    with pytest.raises(ValueError, match="at least two values, got 1"):
        task_of(["a", "a", None])


def test_targets_are_of_the_type_their_task_needs():
    table = pd.DataFrame({"x": [1.0, 2, 3, 4], "y": [0.5, 1, 0.5, 1], "z": [1.0, None, 2, 1]})
    by_half, by_gap = plan_columns(table, "y"), plan_columns(table, "z")
    assert training_rows(table, by_half).y.tolist() == ["0.5", "1", "0.5", "1"]
    assert training_rows(table, by_half, "numbers").y.tolist() == [0.5, 1, 0.5, 1]
    assert training_rows(table, by_gap, "classes").y.tolist() == [1, 2, 1]
    assert training_rows(table, by_gap, "classes").y.dtype == np.int64


def test_a_pipeline_is_cloned_fitted_and_saved_by_skops(frame, plan):
    rows = training_rows(frame, plan)
    model = ECSELMClassifier(20, population_size=5, max_epochs=1, random_state=0)
    pipeline = clone(make_pipeline(plan.transformer(), model)).fit(rows.X, rows.y)
    assert pipeline.score(rows.X, rows.y) > 0.8
    made = pipeline[0]
    stored = skops.io.dumps(made)
    trusted = skops.io.get_untrusted_types(data=stored)
    assert set(trusted) <= {"ecselm.tables.cells.DayNumbers", "numpy.dtype"}
    again = skops.io.loads(stored, trusted=trusted)
    assert_array_equal(again.transform(rows.X), made.transform(rows.X))


def test_names_become_the_same_numbers_in_onnx(frame, plan):
    X = training_rows(frame, plan).X[["site"]].assign(site=lambda x: x["site"].replace("toe", "q"))
    one_hot = plan.transformer().fit(training_rows(frame, plan).X).named_transformers_["names"]
    graph = to_onnx(one_hot, initial_types=[("site", StringTensorType([None, 1]))])
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    (answer,) = session.run(None, {"site": X.to_numpy(dtype=object)})
    assert_array_equal(answer, one_hot.transform(X))


def test_day_numbers_refuse_other_cells():
    with pytest.raises(ValueError, match="column 'seen' must hold ISO dates, got 'May' in row 2"):
        DayNumbers().fit(pd.DataFrame({"seen": ["2024-01-01", "May"]}))
    fitted = DayNumbers().fit(pd.DataFrame({"seen": ["2024-01-01"]}))
    assert fitted.get_feature_names_out().tolist() == ["seen"]
    assert_array_equal(fitted.transform(pd.DataFrame({"seen": [5.0]})), [[5.0]])
