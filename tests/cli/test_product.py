"""The command as a person uses it: from a table to a model, answers, a page and a graph."""

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

from ecselm.cli import main
from ecselm.saving import load_model
from ecselm.study import Card
from tests.cli.terminal import CTRL_C, Terminal

SMALL = ["--hidden", "10", "--epochs", "1", "--population", "4"]


@pytest.fixture(scope="module")
def tumours(tmp_path_factory):
    """Return a folder with tumours in words, and a model of them."""
    folder = tmp_path_factory.mktemp("tumours")
    data = load_breast_cancer(as_frame=True)
    frame = data.data.iloc[:, :6].assign(diagnosis=data.target_names[data.target])
    frame.iloc[:400].to_csv(folder / "known.csv", index=False)
    frame.iloc[400:].to_csv(folder / "new.csv", index=False)
    worse = "malignant->benign > benign->malignant"
    arguments = [folder / "known.csv", "--target", "diagnosis", "--metric", "gmean"]
    arguments += ["--worse", worse, "-o", folder / "model.skops", *SMALL]
    assert main(["fit", *map(str, arguments)]) == 0
    return folder


@pytest.fixture
def here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ran(capsys, *arguments):
    """Return the exit code, and what was printed and complained about."""
    code = main([str(argument) for argument in arguments])
    told = capsys.readouterr()
    return code, told.out, told.err


def refused(capsys, *arguments):
    """Return the one sentence of a refusal."""
    code, out, err = ran(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("ecselm: ")
    return err


# From file to page.


def test_fit_tells_of_rows_held_out_and_saves_what_it_told(tumours, capsys, here):
    arguments = [tumours / "known.csv", "--target", "diagnosis", *SMALL, "-o", here / "m.skops"]
    code, out, _ = ran(capsys, "fit", *arguments, "--report", here / "page.html")
    assert code == 0
    assert "rows held out" in out
    assert "W1-ELM" in out
    assert "taken for malignant" in out
    assert "<!doctype html>" in (here / "page.html").read_text(encoding="utf-8").lower()
    saved = load_model(here / "m.skops")
    card = Card.from_json(saved.card)
    assert card.asked.metric == "balanced_accuracy"
    assert card.data.n_train + card.data.n_held_out == 400


def test_json_is_the_card(tumours, capsys, here):
    arguments = [tumours / "known.csv", "--target", "diagnosis", *SMALL, "--json"]
    code, out, _ = ran(capsys, "fit", *arguments)
    assert code == 0
    saved = load_model(here / "model.skops")
    assert json.loads(out) == json.loads(saved.card)


def test_order_alone_is_kept(tumours):
    card = Card.from_json(load_model(tumours / "model.skops").card)
    benign, malignant = card.learned.class_costs
    assert malignant > benign
    assert "worse" in card.asked.knowledge[0]


def test_predictions_are_those_of_the_model(tumours, capsys, here):
    code, _, _ = ran(
        capsys, "predict", tumours / "model.skops", tumours / "new.csv", "-o", "answers.csv"
    )
    assert code == 0
    answers = pd.read_csv(here / "answers.csv")
    model = load_model(tumours / "model.skops").model
    rows = pd.read_csv(tumours / "new.csv")
    assert answers["prediction"].tolist() == model.predict(rows).tolist()
    P = answers[["probability of benign", "probability of malignant"]]
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    right = (answers["prediction"] == rows["diagnosis"]).mean()
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
    assert card.asked.metric == "mean_cost"
    assert card.held_out.stated_costs == ((0.0, 6.0, 5.0), (4.0, 0.0, 3.0), (2.0, 1.0, 0.0))


def test_an_interval_is_kept(capsys, here):
    card = costs_of(here, capsys, "--cost-between", "weiß=2..3", "--cost", "rot=1")
    names = [one.name for one in card.data.classes]
    costs = dict(zip(names, card.learned.class_costs, strict=True))
    assert costs["rot"] == 1.0
    assert 2.0 <= costs["weiß"] <= 3.0


def test_one_confusion_may_be_stated(capsys, here):
    card = costs_of(here, capsys, "--worse", "weiß->rot > rot->weiß")
    names = [one.name for one in card.data.classes]
    red, white = names.index("rot"), names.index("weiß")
    assert card.learned.matrix[white][red] > card.learned.matrix[red][white]


# Refusals.


def test_wrong_names_are_answered_by_the_nearest(tumours, capsys, here):
    data = tumours / "known.csv"
    assert "did you mean 'diagnosis'" in refused(capsys, "fit", data, "--target", "Diagnose")
    told = refused(capsys, "fit", data, "--target", "diagnosis", "--cost", "malignent->benign=5")
    assert "did you mean 'malignant'" in told
    told = refused(capsys, "fit", data, "--target", "diagnosis", "--metric", "g_mean")
    assert "did you mean 'gmean'" in told
    assert "known.csv" in refused(capsys, "fit", tumours / "knwon.csv", "--target", "diagnosis")
    assert not list(here.iterdir())


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "must hold a table"),
        (b"a,diagnosis\n", "row"),
        (b"\x00\x01\x02\xff\xfe" * 100, "a.csv"),
        (b"a,diagnosis\n1,x\n2,x\n3,x\n", "two"),
    ],
    ids=["empty", "header only", "no text", "one class"],
)
def test_files_without_a_table_are_refused(capsys, here, content, sentence):
    (here / "a.csv").write_bytes(content)
    assert sentence in refused(capsys, "fit", "a.csv", "--target", "diagnosis")
    assert [path.name for path in here.iterdir()] == ["a.csv"]


def test_a_folder_that_cannot_be_written_to_is_refused_before_any_work(tumours, capsys, here):
    arguments = [tumours / "known.csv", "--target", "diagnosis", "-o"]
    assert "folder that is there" in refused(capsys, "fit", *arguments, here / "no" / "m.skops")
    closed = here / "closed"
    closed.mkdir(mode=0o555)
    if os.access(closed, os.W_OK):
        pytest.skip("whoever runs this may write everywhere")
    assert "can be written to" in refused(capsys, "fit", *arguments, closed / "m.skops")


def test_a_model_is_not_written_over_its_data(tumours, capsys, here):
    data = tumours / "known.csv"
    before = data.read_bytes()
    assert "same file" in refused(capsys, "fit", data, "--target", "diagnosis", "-o", data)
    assert data.read_bytes() == before


def test_hostile_models_are_refused(tumours, capsys, here):
    import pickle

    class Hostile:
        def __reduce__(self):
            return open, ("ran", "w")

    (here / "m.skops").write_bytes(pickle.dumps(Hostile()))
    refused(capsys, "predict", "m.skops", tumours / "new.csv")
    content = (tumours / "model.skops").read_bytes()
    (here / "cut.skops").write_bytes(content[: len(content) // 2])
    refused(capsys, "report", "cut.skops")
    assert sorted(path.name for path in here.iterdir()) == ["cut.skops", "m.skops"]


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


# A terminal.


def test_ctrl_c_keeps_the_best_so_far(tumours, here):
    arguments = ["fit", tumours / "known.csv", "--target", "diagnosis", "--hidden", "10"]
    with Terminal(*arguments, "--epochs", "1000000", folder=here) as terminal:
        terminal.wait_for("generation")
        terminal.wait_for("best fitness")
        terminal.type(CTRL_C)
        assert terminal.end() == 0, terminal.text
        assert "interrupted" in terminal.text
        assert "Traceback" not in terminal.text
    card = Card.from_json(load_model(here / "model.skops").card)
    assert card.progress.interrupted


def test_a_search_goes_on_with_its_checkpoint(tumours, capsys, here):
    arguments = ["fit", tumours / "known.csv", "--target", "diagnosis", *SMALL, "--json"]
    arguments += ["--checkpoint", "search.npz"]
    first, second = (json.loads(ran(capsys, *arguments)[1]) for _ in range(2))
    assert (here / "search.npz").exists()
    assert first["learned"] == second["learned"]


def test_nobody_reads_on(tumours, here):
    command = [sys.executable, "-m", "ecselm", "predict"]
    command += [tumours / "model.skops", tumours / "new.csv"]
    with subprocess.Popen(  # noqa: S603
        [*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=here
    ) as process:
        process.stdout.close()
        complaint = process.stderr.read()
    assert process.returncode == 141
    assert complaint == b""


def test_demo_writes_table_model_and_report(capsys, here):
    code, out, _ = ran(capsys, "demo", "--output", "made")
    assert code == 0
    assert {path.name for path in (here / "made").iterdir()} == {
        "tumours.csv",
        "model.skops",
        "report.html",
    }
    assert "W2-ELM" in out
