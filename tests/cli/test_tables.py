"""Tables as people have them: options about columns and labels, and what is saved."""

import json

import numpy as np
import openpyxl
import pandas as pd
import pytest

from ecselm.saving import load_model
from ecselm.study import Card
from tests.cli.conftest import SMALL, ran, refused


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    n = 120
    ill = rng.random(n) < 0.4
    table = pd.DataFrame(
        {
            "patient_id": rng.permutation(10**5)[:n],
            "name": [f"n{i}" for i in range(n)],
            "seen": pd.date_range("2024-01-01", periods=n).strftime("%d/%m/%Y"),
            "size": (rng.normal(size=n) + 2 * ill).round(3).astype(str),
            "state": np.where(ill, "ill", "well"),
        }
    )
    table.loc[3, "name"] = "=HYPERLINK(1)"
    table.loc[7, "size"] = "unknown"
    return table


@pytest.fixture
def file(frame, here):
    frame.to_csv(here / "a.csv", index=False)
    return here / "a.csv"


def fitted(capsys, file, *options):
    """Fit, and return the card and what was printed."""
    code, out, err = ran(capsys, "fit", file, "--target", "state", *SMALL, *options)
    assert (code, err) == (0, "")
    return Card.from_json(load_model("model.skops").card), out


def test_kept_columns_are_written_beside_predictions_and_formulas_are_guarded(capsys, file):
    card, out = fitted(capsys, file, "--keep", "name", "patient_id", "--drop", "seen")
    assert card.request.keep == ("name", "patient_id")
    assert "left out as requested: seen" in out
    code, _, err = ran(capsys, "predict", "model.skops", file, "-o", "p.csv")
    assert code == 0
    assert "1 cell begins with ' in p.csv, as a spreadsheet would calculate it; --raw keeps" in err
    found = pd.read_csv("p.csv")
    assert found.columns[:3].tolist() == ["name", "patient_id", "prediction"]
    assert found["name"][3] == "'=HYPERLINK(1)"
    code, _, err = ran(capsys, "predict", "model.skops", file, "-o", "raw.csv", "--raw")
    assert "spreadsheet" not in err
    assert pd.read_csv("raw.csv")["name"][3] == "=HYPERLINK(1)"
    ran(capsys, "predict", "model.skops", file, "-o", "p.parquet")
    assert pd.read_parquet("p.parquet")["name"][3] == "=HYPERLINK(1)"
    code, out, _ = ran(capsys, "predict", "model.skops", file, "--keep", "size")
    assert out.splitlines()[0].startswith("size,prediction,")
    pd.read_csv(file).drop(columns="name").to_csv("less.csv", index=False)
    sentence = refused(capsys, "predict", "model.skops", "less.csv")
    assert "--keep must name columns of the table, got 'name'" in sentence


def test_what_a_table_holds_is_said_and_stored(capsys, file, frame):
    card, out = fitted(capsys, file)
    notes = {note.name: note for note in card.data.columns}
    assert notes["patient_id"].kind == notes["name"].kind == "identifier"
    assert notes["seen"].format == "day first"
    assert notes["size"].missing == ("unknown",)
    assert "'unknown' (1) taken as missing" in out
    assert "1 of dates, day first; days since 1970: seen" in out
    new = frame.iloc[:8].drop(columns="state")
    new.to_csv("new.csv", index=False)
    code, out, _ = ran(capsys, "predict", "model.skops", "new.csv")
    assert code == 0
    assert len(out.splitlines()) == 9


def test_labels_and_stray_words_of_the_target_are_decided_by_options(capsys, frame, here):
    table = frame.copy()
    table.loc[[4, 5], "state"] = "unknown"
    table.loc[table.index[table["state"] == "ill"][:2], "state"] = "ILL"
    table.to_csv("a.csv", index=False)
    fit = ["fit", "a.csv", "--target", "state", *SMALL]
    assert "got 'unknown' in rows 5 and 6; --missing unknown leaves" in refused(capsys, *fit)
    sentence = refused(capsys, *fit, "--missing", "unknown")
    assert "got 'ILL' (2 rows) and 'ill'" in sentence
    assert "--label-case merge makes each of these one class" in sentence
    options = ["--missing", "unknown", "--label-case", "merge", "--positive", "well"]
    card, out = fitted(capsys, "a.csv", *options)
    assert [one.name for one in card.data.classes] == ["ill", "well"]
    assert card.test.operating.class_name == "well"
    assert [curve.name for curve in card.test.roc] == ["well"]
    assert "Labels of state in another case were changed in 2 rows." in out
    assert "2 of 120 rows have no state and are left out." in out
    code, out, _ = ran(capsys, "evaluate", "model.skops", "a.csv", "--json")
    assert code == 0
    assert np.sum(json.loads(out)["confusion"]) == 118
    sentence = refused(capsys, *fit, *options[:-1], "wel")
    assert "--positive must be a class of the target, got 'wel'; did you mean 'well'?" in sentence


def test_the_saved_model_is_fitted_on_all_rows_unless_it_is_not_to_be(capsys, file):
    whole, out = fitted(capsys, file)
    assert whole.refitted
    assert "The saved model was fitted again on all 120 rows. All results" in out
    _, on_all, _ = ran(capsys, "predict", "model.skops", file)
    part, out = fitted(capsys, file, "--no-refit")
    assert not part.refitted
    assert "fitted again" not in out
    assert part.test == whole.test
    _, on_training, _ = ran(capsys, "predict", "model.skops", file)
    assert on_all != on_training


def test_a_model_with_promises_is_the_tested_one(capsys, file):
    card, out = fitted(capsys, file, "--model", "logistic", "--promise", "ill=0.5")
    assert not card.refitted
    assert "Promises were tested, and hold for no other fit" in out


def test_a_checkpoint_of_the_second_fit_is_a_file_of_its_own(capsys, file, here):
    first, _ = fitted(capsys, file, "--metric", "gmean", "--checkpoint", "search.npz")
    _, once, _ = ran(capsys, "predict", "model.skops", file)
    again, _ = fitted(capsys, file, "--metric", "gmean", "--checkpoint", "search.npz")
    _, twice, _ = ran(capsys, "predict", "model.skops", file)
    assert once == twice
    assert first.refitted
    assert again.refitted


def test_a_sheet_of_excel_is_fitted_and_predicted(capsys, frame, here):
    book = openpyxl.Workbook()
    book.active.append(["Patients"])
    book.active.append(frame.columns.tolist())
    for row in frame.itertuples(index=False):
        book.active.append([str(cell) for cell in row])
    book.save("a.xlsx")
    card, out = fitted(capsys, "a.xlsx")
    assert card.data.n_train + card.data.n_test == 120
    assert "1 row above the names of the columns left out: 'Patients'." in out
    code, out, _ = ran(capsys, "predict", "model.skops", "a.xlsx")
    assert code == 0
    assert len(out.splitlines()) == 121


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            ["--drop", "sze"],
            "--drop must name columns of the table, got 'sze'; did you mean 'size'",
        ),
        (["--keep", "state"], "--keep must not name the target, got 'state'"),
        (["-o", "a\0b.skops"], "--output must not hold the character NUL, got 'a\\x00b.skops'"),
        (["--stream", "--drop", "sze"], "--drop must name columns of the table, got 'sze'"),
        (["--stream", "--positive", "il"], "--positive must be a class of the target, got 'il'"),
    ],
)
def test_options_that_cannot_be_are_refused(capsys, file, options, sentence):
    assert sentence in refused(capsys, "fit", file, "--target", "state", *SMALL, *options)


def test_a_path_with_nul_is_refused(capsys, here):
    assert "must not hold the character NUL" in refused(capsys, "fit", "a\0.csv", "--target", "y")


def test_a_stream_solves_its_model_again_on_all_rows(capsys, file):
    card, out = fitted(capsys, file, "--stream", "--sample", "100")
    assert card.refitted
    assert "The output weights of the saved model are from all" in out
    assert not fitted(capsys, file, "--stream", "--sample", "100", "--no-refit")[0].refitted
