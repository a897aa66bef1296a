"""The command with costs that are half known, known by row, and rows left to a person."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest

from ecselm import CostDecisionClassifier
from ecselm.costs import CostConstraints
from ecselm.report import report_html
from ecselm.saving import load_model
from ecselm.study import Card
from tests.cli.conftest import SMALL, ran, refused

RATIO = "malignant->benign = 3..20 * benign->malignant"
COSTS = ["settled", "expected_cost", "regret"]


@pytest.fixture(scope="module")
def folder(tumours, tmp_path_factory):
    """Return a folder with tables, a model of half-known costs and one that asks."""
    folder = tmp_path_factory.mktemp("half_known")
    for name in ("known.csv", "new.csv"):
        shutil.copy(tumours / name, folder / name)
        frame = pd.read_csv(folder / name)
        frame["loss"] = 1.0 + np.arange(len(frame)) % 30
        frame.to_csv(folder / f"loss_{name}", index=False)
    return folder


@pytest.fixture
def model(folder, capsys):
    path = folder / "model.skops"
    if not path.exists():
        fit(capsys, folder, "--cost", RATIO, "-o", path)
    return path


@pytest.fixture
def asking(folder, capsys):
    path = folder / "asking.skops"
    if not path.exists():
        fit(capsys, folder, "--cost", RATIO, "--reject-cost", "0.2", "-o", path)
    return path


def fit(capsys, folder, *options, table="known.csv"):
    code, out, err = ran(capsys, "fit", folder / table, "--target", "diagnosis", *SMALL, *options)
    assert code == 0, err
    return out


def card_of(path):
    return Card.from_json(load_model(path).card)


def test_half_known_costs_decide_and_say_what_depends_on_them(folder, capsys):
    out = fit(capsys, folder, "--cost", RATIO, "-o", folder / "said.skops")
    card, saved = card_of(folder / "said.skops"), load_model(folder / "said.skops").model
    assert card.request.metric == "mean_cost"
    assert card.test.unknown.n == card.data.n_test
    assert 0 < card.test.unknown.n_settled < card.test.unknown.n
    assert card.test.unknown.sentence in out
    assert "between 3 and 20 times" in out
    assert saved[-1].constraints_ == CostConstraints.from_sentences(RATIO)
    page = report_html(card)
    assert card.test.unknown.sentence in page
    assert "3 to 20" in page
    assert card.test.cost_low == ((0.0, 1.0), (3.0, 0.0))
    assert card.test.cost_high == ((0.0, 1.0), (20.0, 0.0))


def test_costs_stated_in_three_ways_make_one_model(folder, capsys):
    made = []
    for i, options in enumerate(
        (
            ["--cost", "malignant->benign=3..20"],
            ["--cost-between", "malignant->benign=3..20"],
            ["--cost", "malignant->benign >= 3", "--cost", "malignant->benign <= 20"],
        )
    ):
        fit(capsys, folder, *options, "-o", folder / f"{i}.skops")
        made.append(card_of(folder / f"{i}.skops"))
    assert made[0].test == made[1].test == made[2].test


def test_a_metric_that_counts_no_costs_learns_them_among_the_possible(folder, capsys):
    fit(capsys, folder, "--cost", RATIO, "--metric", "gmean", "-o", folder / "gmean.skops")
    last = load_model(folder / "gmean.skops").model[-1]
    assert last.scoring == "gmean"
    assert last.constraints_.contains(last.cost_matrix_)


def test_predictions_carry_what_is_open(folder, model, capsys, here):
    assert ran(capsys, "predict", model, folder / "new.csv", "-o", "p.csv")[0] == 0
    found, saved = pd.read_csv("p.csv"), load_model(model).model
    rows = pd.read_csv(folder / "new.csv").drop(columns="diagnosis")
    assert found.columns.tolist() == [
        "prediction", "probability of benign", "probability of malignant", *COSTS
    ]  # fmt: skip
    X = saved[:-1].transform(rows)
    assert found["prediction"].tolist() == saved.predict(rows).tolist()
    assert found["settled"].tolist() == saved[-1].settled(X).tolist()
    np.testing.assert_allclose(found["regret"], saved[-1].regret(X))
    np.testing.assert_allclose(found["expected_cost"], saved[-1].expected_cost(X))
    assert (found["regret"] == 0).tolist() == found["settled"].tolist()


def test_the_rows_concerned_are_exported(folder, model, capsys, here):
    code, _, err = ran(
        capsys, "predict", model, folder / "new.csv", "-o", "p.csv", "--explain", "e.csv"
    )
    assert code == 0
    predictions, rows = pd.read_csv("p.csv"), pd.read_csv("e.csv")
    assert "explanation" not in predictions
    assert (rows["row"] - 1).tolist() == np.flatnonzero(~predictions["settled"]).tolist()
    assert f"{len(rows)} explanations: e.csv" in err
    assert rows["explanation"].str.contains("times as much as").all()
    table = pd.read_csv(folder / "new.csv")
    for name in table.columns:
        assert rows[name].tolist() == table[name].iloc[rows["row"] - 1].tolist()
    code, out, _ = ran(capsys, "predict", model, folder / "new.csv", "--explain")
    assert out.splitlines()[0].endswith("regret,explanation")


def test_blocks_give_the_same_answers_and_explanations(folder, model, capsys, here):
    for name, options in (("a", []), ("b", ["--stream", "--block-rows", "50"])):
        files = ["-o", f"p{name}.csv", "--explain", f"e{name}.csv"]
        assert ran(capsys, "predict", model, folder / "new.csv", *files, *options)[0] == 0
    pd.testing.assert_frame_equal(pd.read_csv("pa.csv"), pd.read_csv("pb.csv"))
    pd.testing.assert_frame_equal(pd.read_csv("ea.csv"), pd.read_csv("eb.csv"))


def test_other_costs_decide_without_a_fit(folder, model, capsys, here):
    options = ["--cost", "malignant->benign=1", "--cost", "benign->malignant=1"]
    assert ran(capsys, "predict", model, folder / "new.csv", "-o", "p.csv", *options)[0] == 0
    found = pd.read_csv("p.csv")
    expected = np.where(found["probability of malignant"] > 0.5, "malignant", "benign")
    assert found["prediction"].tolist() == expected.tolist()
    assert found["settled"].all()
    _code, out, _ = ran(capsys, "evaluate", model, folder / "new.csv", *options, "--json")
    scores = json.loads(out)["scores"]
    assert scores["mean_cost"] == pytest.approx(1 - scores["accuracy"])


def test_rows_are_left_to_a_person_where_asking_costs_less(folder, asking, capsys, here):
    card, saved = card_of(asking), load_model(asking).model
    assert isinstance(saved[-1], CostDecisionClassifier)
    found = card.test.asking
    assert found.n_asked > 0
    assert found.saved.value == pytest.approx(found.mean_cost_without - found.mean_cost)
    assert "asking a person costs 0.2" in card.request.cost_constraints
    assert found.sentence in report_html(card)
    _code, out, _ = ran(capsys, "evaluate", asking, folder / "new.csv")
    assert "are left to a person" in out
    files = ["-o", "p.csv", "--explain", "e.csv"]
    assert ran(capsys, "predict", asking, folder / "new.csv", *files)[0] == 0
    predictions, rows = pd.read_csv("p.csv"), pd.read_csv("e.csv")
    asked = predictions["prediction"] == "reject"
    assert 0 < asked.sum() < len(asked)
    np.testing.assert_allclose(predictions["expected_cost"][asked], 0.2)
    assert set(np.flatnonzero(asked) + 1) <= set(rows["row"])


def test_a_capacity_limits_the_rows_of_a_table(folder, model, capsys, here):
    options = ["--reject-capacity", "0.1", "-o", "p.csv"]
    assert ran(capsys, "predict", model, folder / "new.csv", *options)[0] == 0
    found = pd.read_csv("p.csv")
    assert (found["prediction"] == "reject").sum() == int(0.1 * len(found))


def test_the_graph_of_a_model_that_asks_gives_its_answers(folder, asking, capsys, here):
    onnxruntime = pytest.importorskip("onnxruntime")
    assert ran(capsys, "export", asking, "graph.onnx")[0] == 0
    session = onnxruntime.InferenceSession("graph.onnx")
    rows = pd.read_csv(folder / "new.csv").drop(columns="diagnosis")
    inputs = {
        one.name: rows[[one.name]].to_numpy(np.float32 if "float)" in one.type else np.float64)
        for one in session.get_inputs()
    }
    answers = session.run(None, inputs)[0]
    assert (np.ravel(answers) == load_model(asking).model.predict(rows)).mean() > 0.98


def test_costs_by_row_decide_rows_and_count_mistakes(folder, capsys, here):
    path = folder / "rows.skops"
    options = ["--cost-column", "malignant->benign=loss", "-o", path]
    out = fit(capsys, folder, *options, table="loss_known.csv")
    card, _saved = card_of(path), load_model(path).model
    assert "what a malignant case taken for benign costs is in the column loss" in out
    assert "loss" not in [column.name for column in card.data.columns]
    assert card.request.metric == "mean_cost"
    assert "savings" in card.test.scores
    assert card.test.unknown.n_settled == card.data.n_test
    assert "By the costs of each row" in report_html(card)
    assert ran(capsys, "predict", path, folder / "loss_new.csv", "-o", "p.csv")[0] == 0
    found, rows = pd.read_csv("p.csv"), pd.read_csv(folder / "loss_new.csv")
    miss = found["probability of malignant"] * rows["loss"]
    alarm = found["probability of benign"]
    assert found["prediction"].tolist() == np.where(alarm < miss, "malignant", "benign").tolist()
    np.testing.assert_allclose(found["expected_cost"], np.minimum(alarm, miss))
    _code, out, _ = ran(capsys, "evaluate", path, folder / "loss_new.csv", "--json")
    wrong = found["prediction"] != rows["diagnosis"]
    paid = np.where(rows["diagnosis"] == "malignant", rows["loss"], 1.0)[wrong].sum()
    assert json.loads(out)["total_cost"] == pytest.approx(paid)
    assert "must have the column 'loss'" in refused(capsys, "predict", path, folder / "new.csv")
    blocks = ["--stream", "--block-rows", "40", "-o", "b.csv"]
    assert ran(capsys, "predict", path, folder / "loss_new.csv", *blocks)[0] == 0
    pd.testing.assert_frame_equal(found, pd.read_csv("b.csv"))


def test_costs_by_row_and_asking_go_together(folder, capsys, here):
    path = folder / "both.skops"
    options = ["--cost-column", "malignant=loss", "--cost", "benign=2", "--reject-cost", "0.3"]
    fit(capsys, folder, *options, "-o", path, table="loss_known.csv")
    assert card_of(path).test.asking.n_asked > 0
    assert ran(capsys, "predict", path, folder / "loss_new.csv", "-o", "p.csv")[0] == 0
    found, rows = pd.read_csv("p.csv"), pd.read_csv(folder / "loss_new.csv")
    costs = np.column_stack(
        [
            2.0 * found["probability of benign"],
            rows["loss"] * found["probability of malignant"],
            np.full(len(found), 0.3),
        ]
    )
    labels = np.array(["malignant", "benign", "reject"])
    assert found["prediction"].tolist() == labels[costs.argmin(axis=1)].tolist()


def test_without_costs_predictions_have_no_columns_about_them(folder, capsys, here):
    fit(capsys, folder, "-o", "plain.skops")
    assert ran(capsys, "predict", "plain.skops", folder / "new.csv", "-o", "p.csv")[0] == 0
    assert not set(COSTS) & set(pd.read_csv("p.csv").columns)
    assert card_of("plain.skops").test.unknown.sentence.startswith("No costs are stated.")
    said = refused(capsys, "predict", "plain.skops", folder / "new.csv", "--explain")
    assert "--explain must go with costs" in said


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--reject-capacity", "5"], "--reject-capacity must be a share between 0 and 1"),
        (["--reject-cost", "-1"], "--reject-cost must be a finite number >= 0"),
        (["--reject-cost", "0.1", "--metric", "gmean"], "metric must count costs"),
        (["--cost-column", "los"], "--cost-column must name a column"),
        (["--cost-column", "diagnosis"], "--cost-column must not be the target"),
        (["--cost-column", "malignant->bening=loss"], "did you mean 'benign'"),
        (["--cost-column", "loss", "--worse", "malignant > benign"], "known by number"),
        (["--cost", "malignant = 3..20", "--cost", "malignant = 30"], "must not contradict"),
        (["--stream", "--reject-cost", "1"], "must be left out with --stream"),
        (["--rule", "guess"], "invalid choice"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(folder, capsys, here, options, sentence):
    arguments = ["fit", folder / "loss_known.csv", "--target", "diagnosis", *SMALL, *options]
    if options[0] == "--rule":
        with pytest.raises(SystemExit):
            ran(capsys, *arguments)
        assert sentence in capsys.readouterr().err
        return
    assert sentence in refused(capsys, *arguments)
    assert not (here / "model.skops").exists()


def test_numbers_have_no_costs(folder, capsys, here):
    arguments = ["fit", folder / "known.csv", "--target", "mean radius", *SMALL]
    assert ran(capsys, *arguments)[0] == 0
    new = folder / "new.csv"
    assert "costs must be left out" in refused(capsys, *arguments, "--reject-cost", "1")
    assert "costs must be left out" in refused(
        capsys, "predict", "model.skops", new, "--cost", "a->b=1"
    )
    assert "costs must be left out" in refused(
        capsys, "evaluate", "model.skops", new, "--reject-cost", "1"
    )


def test_results_are_also_stated_by_group(folder, capsys, here):
    frame = pd.read_csv(folder / "known.csv")
    frame["site"] = np.where(np.arange(len(frame)) % 3 > 0, "north", "<b>south</b>")
    frame.to_csv("sites.csv", index=False)
    arguments = ["fit", "sites.csv", "--target", "diagnosis", *SMALL, "--cost", RATIO]
    code, out, _ = ran(capsys, *arguments, "--by", "site")
    assert code == 0
    assert "by site (95 % intervals)" in out
    card = card_of("model.skops")
    assert card.test.by == "site"
    assert sum(one.n for one in card.test.groups) == card.data.n_test
    assert "site" in [column.name for column in card.data.columns]
    assert "&lt;b&gt;south" in report_html(card)
    code, out, _ = ran(capsys, "evaluate", "model.skops", "sites.csv", "--by", "site", "--json")
    found = json.loads(out)["groups"]
    assert {one["name"]: one["n"] for one in found} == frame["site"].value_counts().to_dict()
    assert "did you mean 'site'" in refused(capsys, *arguments, "--by", "sites")
    assert "must not be the target" in refused(capsys, *arguments, "--by", "diagnosis")
    assert "with --stream" in refused(capsys, *arguments, "--by", "site", "--stream")


def test_the_sheet_is_written_beside_the_report(model, capsys, here):
    options = ["--sheet", "sheet.md", "--intended-use", "Triage"]
    assert ran(capsys, "report", model, *options)[0] == 0
    text = (here / "sheet.md").read_text(encoding="utf-8")
    assert "affected people: Triage" in text
    assert "do not depend on the costs" in text
    assert "must go with --sheet" in refused(capsys, "report", model, "--intended-use", "Triage")
    same = refused(capsys, "report", model, "-o", "x.md", "--sheet", "x.md")
    assert "must not be the same file" in same
