"""The command from a table to a model, predictions, a report and a graph."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from ecselm.saving import load_model
from ecselm.study import Card, predicted_rows, read_table
from ecselm.tables.cells import read_days
from tests.cli.conftest import SMALL, ran

# From file to page.


def test_fit_prints_results_on_test_rows_and_saves_the_card(tumours, capsys, here):
    arguments = [tumours / "known.csv", "--target", "diagnosis", *SMALL, "-o", here / "m.skops"]
    code, out, _ = ran(capsys, "fit", *arguments, "--report", here / "page.html")
    assert code == 0
    assert "test rows" in out
    assert "W1-ELM" in out
    assert "taken for malignant" in out
    assert "<!doctype html>" in (here / "page.html").read_text(encoding="utf-8").lower()
    saved = load_model(here / "m.skops")
    card = Card.from_json(saved.card)
    assert card.request.metric == "balanced_accuracy"
    assert card.data.n_train + card.data.n_test == 400


def test_json_is_the_card(tumours, capsys, here):
    arguments = [tumours / "known.csv", "--target", "diagnosis", *SMALL, "--json"]
    code, out, _ = ran(capsys, "fit", *arguments)
    assert code == 0
    saved = load_model(here / "model.skops")
    stored = json.loads(saved.card)
    assert len(stored["rows"]["codes"]) == stored["data"]["n_test"]
    assert json.loads(out) == {**stored, "rows": None}  # what is of single rows is not printed


def test_order_alone_is_kept(tumours):
    card = Card.from_json(load_model(tumours / "model.skops").card)
    benign, malignant = card.learned.class_costs
    assert malignant > benign
    assert "worse" in card.request.cost_constraints[0]


def test_predictions_are_those_of_the_model(tumours, capsys, here):
    code, _, _ = ran(
        capsys, "predict", tumours / "model.skops", tumours / "new.csv", "-o", "predictions.csv"
    )
    assert code == 0
    predictions = pd.read_csv(here / "predictions.csv")
    model = load_model(tumours / "model.skops").model
    rows = pd.read_csv(tumours / "new.csv")
    assert predictions["prediction"].tolist() == model.predict(rows).tolist()
    P = predictions[["probability of benign", "probability of malignant"]]
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    right = (predictions["prediction"] == rows["diagnosis"]).mean()
    assert right > 0.8


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_dates_survive_in_a_model(capsys, here, ending):
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(60) % 30, "D")
    frame = pd.DataFrame({"seen": days, "late": np.where(days.day > 15, "yes", "no")})
    if ending == "csv":
        frame.to_csv("a.csv", index=False)
    else:
        frame.to_parquet("a.parquet")
    assert ran(capsys, "fit", f"a.{ending}", "--target", "late", *SMALL)[0] == 0
    card = Card.from_json(load_model("model.skops").card)
    assert [column.kind for column in card.data.columns] == ["dates"]
    code, out, _ = ran(capsys, "predict", "model.skops", f"a.{ending}")
    assert code == 0
    assert out.count("\nyes,") > 20


def test_columns_are_found_by_name_whatever_their_order(tumours, capsys, here):
    rows = pd.read_csv(tumours / "new.csv")
    rows.assign(more="x")[["more", *rows.columns[::-1]]].to_csv("turned.csv", index=False)
    _, straight, _ = ran(capsys, "predict", tumours / "model.skops", tumours / "new.csv")
    _, turned, _ = ran(capsys, "predict", tumours / "model.skops", "turned.csv")
    assert straight == turned


def test_evaluation_counts_what_predictions_say(tumours, capsys, here):
    code, out, _ = ran(capsys, "evaluate", tumours / "model.skops", tumours / "new.csv", "--json")
    assert code == 0
    found = json.loads(out)
    assert np.sum(found["confusion"]) == 169
    right = np.trace(found["confusion"]) / 169
    assert found["scores"]["accuracy"] == pytest.approx(right)
    code, out, _ = ran(capsys, "evaluate", tumours / "model.skops", tumours / "new.csv")
    assert f"{found['scores']['gmean']:.4g}" in out


def test_report_and_export_need_the_file_alone(tumours, capsys, here):
    pytest.importorskip("onnxruntime")
    assert ran(capsys, "report", tumours / "model.skops", "-o", "page.html")[0] == 0
    assert ran(capsys, "export", tumours / "model.skops", "model.onnx")[0] == 0
    assert (here / "page.html").stat().st_size < 2e6
    assert (here / "model.onnx").stat().st_size > 0


def test_methods_are_listed(capsys):
    code, out, _ = ran(capsys, "methods", "--json")
    assert code == 0
    names = {one["method"] for one in json.loads(out)}
    assert {"ECSELM", "KELM", "CSLDA-NN", "SILD"} <= names
    assert "CISVM" in ran(capsys, "methods", "classification")[1]


def test_numbers_are_predicted_too(capsys, here):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(120, 3)), columns=list("abc"))
    frame.assign(age=50 + 10 * frame["a"] + rng.normal(size=120)).to_csv("ages.csv", index=False)
    code, out, _ = ran(capsys, "fit", "ages.csv", "--target", "age", *SMALL)
    assert code == 0
    assert "mae" in out
    assert ran(capsys, "evaluate", "model.skops", "ages.csv")[0] == 0


# Costs as a person has them.


def costs_of(folder, capsys, *said, target="kind"):
    data = load_wine(as_frame=True)
    names = np.array(["rot", "weiß", "rosé"])[data.target]
    data.data.iloc[:, :4].assign(kind=names).to_csv(folder / "wein.csv", index=False)
    code, _, err = ran(capsys, "fit", "wein.csv", "--target", target, *SMALL, *said)
    assert code == 0, err
    return Card.from_json(load_model(folder / "model.skops").card)


def test_costs_of_all_mistakes_are_counted(capsys, here):
    table = pd.DataFrame(
        [[0, 1, 2], [3, 0, 4], [5, 6, 0]],
        index=["weiß", "rot", "rosé"],
        columns=["weiß", "rot", "rosé"],
    )
    table.to_csv(here / "kosten.csv")
    card = costs_of(here, capsys, "--cost", "kosten.csv")
    assert card.request.metric == "mean_cost"
    assert card.test.cost_matrix == ((0.0, 6.0, 5.0), (4.0, 0.0, 3.0), (2.0, 1.0, 0.0))


def test_an_interval_is_kept(capsys, here):
    card = costs_of(here, capsys, "--cost-between", "weiß=2..3", "--cost", "rot=1")
    names = [one.name for one in card.data.classes]
    costs = dict(zip(names, card.learned.class_costs, strict=True))
    assert costs["rot"] == 1.0
    assert 2.0 <= costs["weiß"] <= 3.0


def test_a_number_is_a_multiple_of_the_other_mistakes(tumours, capsys, here):
    arguments = [tumours / "known.csv", "--target", "diagnosis", *SMALL, "--json"]
    said = json.loads(ran(capsys, "fit", *arguments, "--cost", "malignant->benign=5")[1])
    assert said["test"]["cost_matrix"] == [[0.0, 1.0], [5.0, 0.0]]
    assert said["request"]["metric"] == "mean_cost"
    between = "malignant->benign=4..20"
    benign, malignant = json.loads(ran(capsys, "fit", *arguments, "--cost-between", between)[1])[
        "learned"
    ]["class_costs"]
    assert 4 <= malignant / benign <= 20


def test_one_confusion_may_be_stated(capsys, here):
    card = costs_of(here, capsys, "--worse", "weiß->rot > rot->weiß")
    names = [one.name for one in card.data.classes]
    red, white = names.index("rot"), names.index("weiß")
    assert card.learned.matrix[white][red] > card.learned.matrix[red][white]


# Tables as they come.


def test_semicolons_and_decimal_commas(tumours, capsys, here):
    pd.read_csv(tumours / "known.csv").to_csv("deutsch.csv", sep=";", decimal=",", index=False)
    code, out, _ = ran(capsys, "fit", "deutsch.csv", "--target", "diagnosis", *SMALL)
    assert code == 0
    assert "decimal" in out
    assert ran(capsys, "evaluate", "model.skops", tumours / "new.csv")[0] == 0


def test_two_hundred_columns_and_a_class_of_one_row(capsys, here):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(80, 200))).rename(columns=str)
    frame["<b>klasse</b>"] = np.where(frame["0"] > 0, "ja", "nein")
    frame.loc[5, "<b>klasse</b>"] = "selten"
    frame.to_csv("breit.csv", index=False)
    code, _, err = ran(
        capsys, "fit", "breit.csv", "--target", "<b>klasse</b>", *SMALL, "--report", "page.html"
    )
    assert code == 0, err
    page = (here / "page.html").read_text(encoding="utf-8")
    assert "<b>klasse" not in page
    assert "&lt;b&gt;klasse" in page


def visits(n):
    """Return a table with dates, places, gaps and yes or no."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "seen": pd.date_range("2024-01-01", periods=n).strftime("%Y-%m-%d"),
            "place": rng.choice(["Köln", "日本", "Paris"], n),
            "age": rng.integers(1, 90, n).astype(float),
            "smokes": rng.choice(["yes", "no", ""], n),
        }
    )
    frame["state"] = np.where(frame["age"] + rng.normal(size=n) * 9 > 60, "krank", "gesund")
    frame.loc[::7, "age"] = np.nan
    return frame


def test_dates_places_and_gaps_live_in_the_model(capsys, here):
    runtime = pytest.importorskip("onnxruntime")
    visits(200).to_csv("visits.csv", index=False)
    code, out, err = ran(capsys, "fit", "visits.csv", "--target", "state", *SMALL)
    assert code == 0, err
    assert "1 of dates, days since 1970: seen" in out
    new = visits(30).drop(columns="state")
    new.loc[0, "place"] = "Berlin"
    new.loc[1, ["seen", "place", "smokes"]] = ""
    new.to_csv("new.csv", index=False)
    code, predictions, err = ran(capsys, "predict", "model.skops", "new.csv")
    assert code == 0, err
    assert ran(capsys, "export", "model.skops", "model.onnx")[0] == 0
    saved = load_model(here / "model.skops")
    rows = predicted_rows(Card.from_json(saved.card), read_table(here / "new.csv"))
    rows["seen"] = read_days(rows["seen"]).values
    session = runtime.InferenceSession(here / "model.onnx")
    given = {
        one.name: rows[[one.name]].to_numpy(object if "string" in one.type else np.float64)
        for one in session.get_inputs()
    }
    label, _, P = session.run(None, given)
    printed = pd.read_csv(io.StringIO(predictions))
    assert label.tolist() == printed["prediction"].tolist()
    np.testing.assert_allclose(P, printed.iloc[:, 1:], atol=1e-5)


@pytest.mark.parametrize("names", [(0, 1), (False, True)], ids=str)
def test_classes_need_no_names(tumours, capsys, here, names):
    frame = pd.read_csv(tumours / "known.csv")
    frame["diagnosis"] = np.where(frame["diagnosis"] == "malignant", *names[::-1])
    frame.to_csv("known.csv", index=False)
    worse = f"{names[1]}->{names[0]} > {names[0]}->{names[1]}"
    code, _, err = ran(
        capsys, "fit", "known.csv", "--target", "diagnosis", "--worse", worse, *SMALL
    )
    assert code == 0, err
    assert ran(capsys, "evaluate", "model.skops", "known.csv")[0] == 0
    predictions = pd.read_csv(io.StringIO(ran(capsys, "predict", "model.skops", "known.csv")[1]))
    assert set(predictions["prediction"]) == set(names)


def test_rows_of_one_class_are_evaluated(tumours, capsys, here):
    rows = pd.read_csv(tumours / "new.csv")
    rows[rows["diagnosis"] == "malignant"].to_csv("one.csv", index=False)
    code, out, err = ran(capsys, "evaluate", tumours / "model.skops", "one.csv", "--json")
    assert code == 0, err
    assert [one["name"] for one in json.loads(out)["recalls"]] == ["malignant"]


def test_demo_writes_table_model_and_report(capsys, here):
    code, out, _ = ran(capsys, "demo", "--output", "made")
    assert code == 0
    assert {path.name for path in (here / "made").iterdir()} == {
        "tumours.csv",
        "model.skops",
        "report.html",
    }
    assert "boosting" in out
