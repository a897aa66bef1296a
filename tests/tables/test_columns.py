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
from ecselm.tables.schema import ColumnOptions, ColumnTally, merged_labels

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


def column_of(cells, **options):
    """Return the note of a column, and the notes of its table."""
    n = len(cells)
    table = pd.DataFrame({"dose": cells, "size": np.arange(n) / 3, "y": [0] * n})
    plan = plan_columns(table, "y", ColumnOptions(**options))
    return plan.columns[0], plan.notes


NUMBERS = [str(n / 7) for n in range(60)]


def test_words_with_digits_among_numbers_are_named():
    dose, _ = column_of([*NUMBERS, "5 ml"])
    assert (dose.kind, dose.treatment) == ("text", "left out: numbers but for '5 ml'")


@pytest.mark.parametrize(
    ("cells", "missing"),
    [
        ([*NUMBERS, "unknown"], ("unknown",)),
        ([*NUMBERS, "Unknown", "n.a.", "n.a."], ("Unknown", "n.a.")),
        ([*NUMBERS, "lost"], ("lost",)),
        ([*map(float, NUMBERS), np.inf, -np.inf], ("inf", "-inf")),
        ([f"${cell}" for cell in NUMBERS] + ["unknown"], ("unknown",)),
        ([f"{1 + n % 28}.1.2024" for n in range(60)] + ["unknown"], ("unknown",)),
    ],
    ids=["unknown", "several", "any word", "infinite", "currency", "dates"],
)
def test_a_few_words_among_values_are_missing_and_said_with_their_number(cells, missing):
    dose, _ = column_of(cells)
    assert dose.kind in {"numbers", "dates"}
    assert dose.missing == missing
    assert dose.n_missing == sum(str(cell) in missing for cell in cells)
    for word in missing:
        assert f"{word!r} ({sum(str(cell) == word for cell in cells)})" in dose.treatment
    values = new_rows(pd.DataFrame({"dose": cells}), [dose])["dose"]
    assert int(values.isna().sum()) == dose.n_missing


def test_many_words_among_numbers_are_names():
    dose, _ = column_of(["1", "2", "lost"] * 20)
    assert dose.kind == "names"


def test_an_infinite_number_of_new_rows_is_refused_by_row():
    dose, _ = column_of([float(cell) for cell in NUMBERS])
    with pytest.raises(ValueError, match=r"'dose' must hold finite numbers .* got 'inf' in row 2"):
        new_rows(pd.DataFrame({"dose": [1.0, np.inf]}), [dose])
    with pytest.raises(
        ValueError, match=r"'dose' must hold numbers up to 1e\+100.*1e\+308 in row 1"
    ):
        new_rows(pd.DataFrame({"dose": [1e308, 1.0]}), [dose])


def test_a_word_for_missing_values_that_is_new_is_said():
    dose, _ = column_of(NUMBERS)
    with pytest.warns(UserWarning, match=r"column 'dose': 'Unknown' \(2\) taken as missing"):
        rows = new_rows(pd.DataFrame({"dose": ["1", "Unknown", "Unknown"]}), [dose])
    assert rows["dose"].isna().tolist() == [False, True, True]


def test_words_that_are_stated_to_be_missing_are_so_in_all_columns():
    dose, _ = column_of(["1.5", "-9", "2.5", "None given"], missing=("-9", "none given"))
    assert (dose.kind, dose.n_missing) == ("numbers", 2)
    assert new_rows(pd.DataFrame({"dose": [-9, 3]}), [dose])["dose"].isna().tolist() == [
        True,
        False,
    ]


@pytest.mark.parametrize(
    ("cells", "form", "first_day"),
    [
        (["31.12.2024", "01.02.2024"], "day first", 20088),
        (["12/31/2024", "01/02/2024"], "month first", 20088),
        (["31/12/2024", "01/02/2024"], "day first", 20088),
        (["2024/12/31", "2024/1/2"], "year first", 20088),
        (["31 Dec 2024", "2 Jan 2024"], "month by name", 20088),
        (["2024-12-31", "2024-01-02"], "", 20088),
    ],
)
def test_the_order_of_dates_is_that_of_the_whole_column(cells, form, first_day):
    dose, notes = column_of(cells * 5)
    assert (dose.kind, dose.format, notes) == ("dates", form, ())
    days = new_rows(pd.DataFrame({"dose": cells}), [dose])["dose"]
    assert days[0] == pd.Timestamp(first_day, unit="D")
    wrong = pd.DataFrame({"dose": ["99.99.2024"]})
    with pytest.raises(ValueError, match=r"column 'dose' must hold .*dates such as"):
        new_rows(wrong, [dose])


def test_dates_that_may_be_of_two_orders_are_said_and_can_be_decided():
    cells = ["05/03/2024", "06/04/2024"] * 5
    dose, notes = column_of(cells)
    assert dose.format == "month first"
    assert "Dates in 'dose' are possible with the day first and with the month first" in notes[0]
    dose, notes = column_of(cells, day_first=True)
    assert (dose.format, notes) == ("day first", ())
    assert column_of(["01/01/2024", "02/02/2024"])[1] == ()  # the same in both orders


def test_times_are_hours_and_money_is_a_number():
    visit, _ = column_of([f"{n % 24}:{n % 60:02d}" for n in range(60)])
    assert (visit.kind, visit.format) == ("numbers", "time of day")
    assert new_rows(pd.DataFrame({"dose": ["18:30"]}), [visit])["dose"].tolist() == [18.5]
    paid, _ = column_of([f"{n},000.50 €" for n in range(1, 60)])
    assert (paid.format, paid.treatment) == ("€", "written as text, in €")
    assert new_rows(pd.DataFrame({"dose": ["€2,500"]}), [paid])["dose"].tolist() == [2500.0]
    with pytest.raises(ValueError, match=r"must hold numbers .* got '\$2' in row 1"):
        new_rows(pd.DataFrame({"dose": ["$2"]}), [paid])


def test_names_that_differ_by_case_are_one_and_said():
    site, _ = column_of(["Köln", "köln", "KÖLN", "Köln", "Bonn ", "Bonn"] * 4)
    assert (site.kind, site.n_values, site.spellings) == ("names", 2, ("Bonn", "Köln"))
    assert "case ignored: 'KÖLN', 'Köln' and 'köln' as one" in site.treatment
    rows = new_rows(pd.DataFrame({"dose": ["köln", "BONN", "Rom"]}), [site])
    assert rows["dose"].tolist() == ["Köln", "Bonn", "Rom"]


def test_columns_are_dropped_and_kept_by_request():
    dose, _ = column_of(NUMBERS, drop=("dose",))
    assert (dose.kind, dose.treatment) == ("dropped", "left out as requested")
    kept, _ = column_of(NUMBERS, keep=("dose",))
    assert (kept.kind, kept.n_values) == ("kept", 60)
    for options, sentence in (
        ({"drop": ("dos",)}, "--drop must name columns of the table, got 'dos'; did you mean"),
        ({"keep": ("y",)}, "--keep must not name the target, got 'y'"),
        ({"keep": ("dose",), "drop": ("dose",)}, "--keep must not name what --drop does"),
    ):
        with pytest.raises(ValueError, match=sentence):
            column_of(NUMBERS, **options)


@pytest.mark.parametrize("name", ["patient_id", "PatientID", "customerId", "key"])
def test_keys_that_repeat_are_left_out_and_few_are_said(name):
    table = pd.DataFrame({name: np.arange(300) // 2, "size": np.arange(300) / 7, "y": [0] * 300})
    note = plan_columns(table, "y").columns[0]
    assert (note.kind, "--groups" in note.treatment) == ("identifier", True)
    plan = plan_columns(table.assign(**{name: np.arange(300) % 3}), "y")
    assert plan.columns[0].kind == "numbers"
    assert plan.notes[0].startswith(f"Named as identifiers, but inputs: {name!r}.")


def test_names_that_end_like_keys_are_none():
    for name in ("paid", "body mass index", "monkey"):
        table = pd.DataFrame({name: np.arange(300) // 2, "y": [0] * 300})
        plan = plan_columns(table, "y")
        assert (plan.columns[0].kind, plan.notes) == ("numbers", ())


def test_columns_named_as_costs_are_said():
    table = pd.DataFrame({"miss_cost": [1.0, 2, 3], "costume": [1.0, 2, 3], "y": [0, 1, 0]})
    (note,) = plan_columns(table, "y").notes
    assert "Named as costs, but inputs: 'miss_cost'." in note
    assert "--cost-column" in note


def test_stray_words_of_a_target_are_refused_by_row():
    for y in (["0", "1"] * 20, ["yes", "no"] * 20, [str(n / 7) for n in range(40)]):
        table = pd.DataFrame({"x": np.arange(41) / 7, "y": [*y[:4], "unknown", *y[4:]]})
        plan = plan_columns(table, "y")
        with pytest.raises(ValueError, match="got 'unknown' in row 5; --missing unknown leaves"):
            training_rows(table, plan)
        assert training_rows(table, plan, "classes").task == "classes"
    with pytest.raises(ValueError, match=r"--missing unknown leaves these rows out$"):
        training_rows(table, plan, "numbers")


def test_infinite_targets_are_refused_by_row():
    table = pd.DataFrame({"x": np.arange(41) / 7, "y": [*np.arange(40) / 7, np.inf]})
    with pytest.raises(ValueError, match="got 'inf' in row 41; --missing inf leaves"):
        training_rows(table, plan_columns(table, "y"))


def test_labels_that_differ_by_case_are_refused_unless_it_is_said_what_they_are():
    table = pd.DataFrame({"x": np.arange(20) / 7, "y": ["Ill", "ill", "well", "well "] * 5})
    plan = plan_columns(table, "y")
    with pytest.raises(
        ValueError, match=r"got 'Ill' \(5 rows\) and 'ill' \(5 rows\); --label-case"
    ):
        training_rows(table, plan)
    assert set(training_rows(table, plan, label_case="keep").y) == {"Ill", "ill", "well"}
    merged = merged_labels(table["y"])
    assert set(merged) == {"Ill", "well"}
    assert merged_labels(pd.Series([1, 2])).tolist() == [1, 2]


def test_blocks_find_the_same_notes_as_a_whole_column():
    cells = ["05.03.2024", "31.12.2023", "unknown", "7.7.2022"] * 30
    whole, _ = column_of(cells)
    tally = ColumnTally()
    for start in range(0, len(cells), 7):
        tally.add(pd.Series(cells[start : start + 7]))
    assert tally.planned("dose").note == whole


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
