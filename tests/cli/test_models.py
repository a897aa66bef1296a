"""The command with other models than ECSELM, and with the best of several."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest

from ecselm import CostDecisionClassifier
from ecselm.report import report_html
from ecselm.saving import load_model
from ecselm.study import Card
from tests.cli.conftest import SMALL, ran, refused

RATIO = "malignant->benign = 3..20 * benign->malignant"


@pytest.fixture(scope="module")
def folder(tumours, tmp_path_factory):
    """Return a folder with tables of tumours."""
    folder = tmp_path_factory.mktemp("models")
    for name in ("known.csv", "new.csv"):
        shutil.copy(tumours / name, folder / name)
        frame = pd.read_csv(folder / name)
        frame["loss"] = 1.0 + np.arange(len(frame)) % 30
        frame.to_csv(folder / f"loss_{name}", index=False)
    return folder


def fit(capsys, folder, *options, table="known.csv", target="diagnosis"):
    """Return what is printed, the card and the model."""
    path = folder / "model.skops"
    arguments = ["fit", folder / table, "--target", target, *SMALL, "-o", path, *options]
    code, out, err = ran(capsys, *arguments)
    assert code == 0, err
    saved = load_model(path)
    return out, Card.from_json(saved.card), saved.model


@pytest.mark.parametrize("name", ["logistic", "boosting"])
def test_a_model_by_name_is_fitted_evaluated_and_exported(folder, capsys, here, name):
    _out, card, model = fit(capsys, folder, "--model", name)
    assert isinstance(model[-1], CostDecisionClassifier)
    assert card.settings["model name"] == name
    assert card.test.scores["balanced_accuracy"] > 0.85
    assert card.test.cost_matrix is None
    assert len(card.baselines) == 4
    own = {"logistic": "logistic regression"}.get(name, name)
    assert own not in [one.name for one in card.baselines]
    # A metric in which all classes count the same implies costs by the sizes of the classes.
    n = [one.n_train for one in card.data.classes]
    np.testing.assert_allclose(
        card.learned.class_costs[1] / card.learned.class_costs[0], n[0] / n[1]
    )
    assert not any("Learned costs" in one for one in card.warnings)
    assert card.request.target in report_html(card)
    files = folder / "model.skops", folder / "new.csv"
    assert ran(capsys, "predict", *files, "-o", "p.csv")[0] == 0
    found, rows = pd.read_csv("p.csv"), pd.read_csv(folder / "new.csv")
    assert found["prediction"].tolist() == model.predict(rows.drop(columns="diagnosis")).tolist()
    code, out, _ = ran(capsys, "evaluate", *files, "--json")
    assert code == 0
    assert "mean_cost" not in json.loads(out)["scores"]
    onnxruntime = pytest.importorskip("onnxruntime")
    assert ran(capsys, "export", files[0], "graph.onnx")[0] == 0
    session = onnxruntime.InferenceSession("graph.onnx")
    inputs = {one.name: rows[[one.name]].to_numpy(np.float64) for one in session.get_inputs()}
    answers = np.ravel(session.run(None, inputs)[0])
    assert (answers == found["prediction"].to_numpy()).all()


@pytest.mark.parametrize("name", ["logistic", "boosting", "elm", "w1-elm"])
def test_half_known_costs_decide_in_any_model(folder, capsys, here, name):
    _out, card, model = fit(capsys, folder, "--model", name, "--cost", RATIO)
    assert card.request.metric == "mean_cost"
    assert 0 < card.test.unknown.n_settled <= card.test.unknown.n
    assert card.test.unknown.sentence in report_html(card)
    files = folder / "model.skops", folder / "new.csv"
    assert ran(capsys, "predict", *files, "-o", "p.csv", "--explain", "e.csv")[0] == 0
    found, rows = pd.read_csv("p.csv"), pd.read_csv("e.csv")
    assert (rows["row"] - 1).tolist() == np.flatnonzero(~found["settled"]).tolist()
    assert model[-1].constraints_.is_exact is False


@pytest.mark.parametrize("name", ["logistic", "boosting"])
def test_rows_are_left_to_a_person_by_any_model(folder, capsys, here, name):
    _out, card, _ = fit(capsys, folder, "--model", name, "--cost", RATIO, "--reject-cost", "0.2")
    assert 0 < card.test.asking.n_asked < card.test.asking.n
    assert card.test.asking.sentence in report_html(card)
    files = folder / "model.skops", folder / "new.csv"
    assert ran(capsys, "predict", *files, "-o", "p.csv")[0] == 0
    assert (pd.read_csv("p.csv")["prediction"] == "reject").any()


def test_costs_by_row_decide_in_any_model(folder, capsys, here):
    options = ["--model", "logistic", "--cost-column", "malignant->benign=loss"]
    out, card, _ = fit(capsys, folder, *options, table="loss_known.csv")
    assert "decisions are made by the costs of each row" in out
    assert card.test.unknown.n_settled == card.data.n_test
    path = folder / "model.skops"
    assert ran(capsys, "predict", path, folder / "loss_new.csv", "-o", "p.csv")[0] == 0
    found, rows = pd.read_csv("p.csv"), pd.read_csv(folder / "loss_new.csv")
    miss, alarm = found["probability of malignant"] * rows["loss"], found["probability of benign"]
    assert found["prediction"].tolist() == np.where(alarm < miss, "malignant", "benign").tolist()


@pytest.mark.parametrize("options", [[], ["--cost", RATIO]])
def test_the_best_on_validation_rows_is_chosen_and_named(folder, capsys, here, options):
    out, card, _ = fit(capsys, folder, "--model", "auto", *options)
    name = card.settings["model name"]
    chosen = card.settings["chosen by validation"]
    assert name in {"ecselm", "logistic", "boosting"}
    assert chosen.startswith(f"{name} ")
    assert chosen.endswith(f"({card.request.metric})")
    scores = [float(one.split()[1]) for one in chosen.rpartition(" (")[0].split(", ")]
    assert len(scores) == 3
    assert scores == sorted(scores, reverse=not options)
    (note,) = [one for one in card.data.notes if one.startswith("The model is")]
    assert note.startswith(f"The model is {name}, chosen by cross-validation")
    assert note in out
    assert fit(capsys, folder, "--model", "auto", *options)[1].test == card.test


def test_groups_are_not_split_in_validation(folder, capsys, here):
    frame = pd.read_csv(folder / "known.csv").assign(patient=np.arange(400) // 4)
    frame.to_csv(folder / "patients.csv", index=False)
    options = ["--model", "auto", "--groups", "patient"]
    assert "chosen by validation" in fit(capsys, folder, *options, table="patients.csv")[1].settings


@pytest.mark.parametrize("name", ["ridge", "boosting", "auto", "elm"])
def test_numbers_have_models_too(folder, capsys, here, name):
    _out, card, model = fit(capsys, folder, "--model", name, target="mean radius")
    assert card.test.scores["r2"] > 0.5
    assert len(model.predict(pd.read_csv(folder / "new.csv"))) == 169


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--model", "bosting"], "did you mean 'boosting'?"),
        (["--model", "ridge"], "to predict classes, got 'ridge'"),
        (["--model", "boosting", "--stream"], "--model must be ecselm with --stream"),
    ],
)
def test_models_that_cannot_be_meant_are_refused(folder, capsys, here, options, sentence):
    arguments = ["fit", folder / "known.csv", "--target", "diagnosis", *SMALL, *options]
    assert sentence in refused(capsys, *arguments)
