"""Pages and forms without a network: what they take, refuse and show."""

import html
import io
import json
import re
import shlex

import numpy as np
import pandas as pd
import pytest

from ecselm.cli import main
from ecselm.elicitation import CostElicitor
from ecselm.saving import load_model
from ecselm.studio.cases import Cases
from ecselm.studio.training import Trainer
from ecselm.study import Card
from tests.studio.conftest import awaited, choose, trained


def alert(page):
    found = re.search(r'role="alert">(.*?)</p>', page.text, re.DOTALL)
    return html.unescape(found[1]) if found else ""


def uploaded(client, name, content):
    return client.post("/projects", files={"table": (name, io.BytesIO(content))})


def latest(workspace):
    return workspace.projects()[0]


@pytest.fixture
def project(workspace, tables):
    return workspace.add(tables[2])


def test_an_upload_becomes_a_project(client, workspace, tables):
    page = uploaded(client, "../../my patients.csv", tables[2].read_bytes())
    assert page.status_code == 200
    assert page.url.path.endswith("/data")
    project = latest(workspace)
    assert project.name == "my_patients.csv"
    assert project.file == str(workspace.folder / project.id / "my_patients.csv")
    assert [one.name[0] for one in workspace.folder.iterdir()] == ["m"]  # no part is left


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.exe", b"MZ", "must end in .csv"),
        ("a.csv", b"", "cannot be used"),
        ("a.csv", b"\x00\x01\x02\x03" * 99, "cannot be used"),
        ("a.parquet", b"nothing", "cannot be used"),
        ("a.csv.gz", b"not packed", "cannot be used"),
        ("", b"x", "must be chosen"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_bad_file_is_refused_in_a_sentence(client, workspace, name, content, words):
    page = uploaded(client, name, content)
    assert page.status_code == 422
    assert words in alert(page)
    assert list(workspace.folder.iterdir()) == []


def test_a_form_without_a_file_is_refused(client):
    page = client.post("/projects", data={"table": "text"})
    assert page.status_code == 422


def test_markup_in_names_is_escaped(client, workspace):
    nasty = "<script>alert(1)</script>\"'"
    frame = pd.DataFrame({nasty: range(40), "y": ["<b>a</b>", "it's"] * 20})
    uploaded(client, "nasty.csv", frame.to_csv(index=False).encode())
    page = choose(client, latest(workspace), "y")
    for path in ("data", "costs", "training"):
        page = client.get(f"/p/{latest(workspace).id}/{path}")
        assert page.status_code == 200
        assert "<script>alert" not in page.text
        assert "<b>a</b>" not in page.text
    assert "&lt;b&gt;a&lt;/b&gt;" in client.get(f"/p/{latest(workspace).id}/costs").text


@pytest.mark.parametrize("step", ["costs", "training", "tradeoff", "questions", "rows", "report"])
def test_a_step_that_is_not_open_leads_to_the_one_before(client, project, step):
    page = client.get(f"/p/{project.id}/{step}")
    assert page.status_code == 200
    assert page.url.path == f"/p/{project.id}/data"


def test_columns_are_chosen_by_a_form(client, workspace, project):
    page = choose(
        client, project, left_out=["measure 1", "loss"], groups="patient", by="ward"
    )  # fmt: skip
    assert page.url.path.endswith("/costs")
    settings = workspace.get(project.id).settings
    assert settings.left_out == ("measure 1", "loss")
    assert (settings.groups, settings.by) == ("patient", "ward")
    assert 'value="7" selected' in client.get(f"/p/{project.id}/data").text


@pytest.mark.parametrize("target", ["", "99", "-1", "x"])
def test_a_target_that_is_not_there_is_refused(client, project, target):
    page = client.post(f"/p/{project.id}/data", data={"target": target})
    assert page.status_code == 422
    assert "column" in alert(page)


def test_costs_are_stated_by_a_form(client, workspace, project):
    choose(client, project)
    page = client.post(
        f"/p/{project.id}/costs",
        data={
            "low-0-1": "3", "high-0-1": "20", "worse-0": "0-1", "than-0": "1-0",
            "sentences": "well->ill = 1\n\n", "unit": "2,5", "currency": "EUR", "metric": "",
        },
    )  # fmt: skip
    assert page.url.path.endswith("/training")
    assert "An ill case taken for well costs between 3 and 20." in page.text
    settings = workspace.get(project.id).settings
    assert settings.unit == 2.5
    again = client.get(f"/p/{project.id}/costs").text
    assert 'name="high-0-1" value="20"' in again
    assert "well-&gt;ill = 1</textarea>" in again


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"low-0-1": "many"}, "must be a number of at least 0, got 'many'"),
        ({"low-0-1": "5", "high-0-1": "2"}, "must be at least the lowest"),
        ({"low-0-1": "-1"}, "must be a number"),
        ({"low-0-1": "nan"}, "must be a number"),
        ({"worse-0": "0-1"}, "two mistakes, got one"),
        ({"worse-0": "0-9", "than-0": "1-0"}, "one of those listed"),
        ({"sentences": "sick->well = 3"}, "must name classes of the data"),
        ({"sentences": "x" * 30_000}, "at most 20000 characters"),
        ({"metric": "beauty"}, "one of those listed"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_costs_that_cannot_be_read_are_refused_and_shown_again(client, project, fields, words):
    choose(client, project)
    page = client.post(f"/p/{project.id}/costs", data={"currency": "EUR", **fields})
    assert page.status_code == 422
    assert words in alert(page)
    assert 'value="EUR"' in page.text


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"epochs": "2.5"}, "whole number"),
        ({"test_percent": "95"}, "at most 90"),
        ({"model_name": "magic"}, "one of those listed"),
        ({"max_time": "0"}, "at least 0.1"),
    ],
    ids=str,
)
def test_options_that_cannot_be_are_refused(client, project, fields, words):
    choose(client, project)
    page = client.post(f"/p/{project.id}/training", data=fields)
    assert page.status_code == 422
    assert words in alert(page)


def test_deleting_a_project_leaves_a_table_that_was_not_uploaded(client, workspace, tables):
    project = workspace.add(tables[2])
    page = client.post(f"/p/{project.id}/delete")
    assert page.url.path == "/"
    assert workspace.projects() == []
    assert tables[2].exists()


def test_a_training_that_fails_says_why(client, workspace, tmp_path):
    lost = tmp_path / "lost.csv"
    lost.write_text("a,y\n" + "1,p\n2,q\n" * 20)
    project = workspace.add(lost)
    choose(client, project, "y")
    lost.unlink()
    found = trained(client, project)
    assert found["state"] == "failed"
    assert "lost.csv is not there" in client.get(f"/p/{project.id}/training").text


def test_one_training_runs_at_a_time_and_can_be_cancelled(client, workspace, tables):
    first, second = workspace.add(tables[2]), workspace.add(tables[5])
    for project in (first, second):
        choose(client, project)
        client.post(f"/p/{project.id}/costs", data={"metric": "gmean"})
    client.post(f"/p/{first.id}/training", data={"epochs": "200000"})
    page = client.post(f"/p/{second.id}/training", data={"epochs": "1"})
    assert "one training runs at a time" in alert(page).lower()
    page = client.post(f"/p/{first.id}/training/cancel")
    assert "The training was cancelled." in page.text
    assert client.get(f"/p/{first.id}/training/progress").json()["state"] == "cancelled"


def test_a_training_whose_server_is_gone_is_interrupted(client, workspace, project):
    choose(client, project)
    client.post(f"/p/{project.id}/costs", data={"metric": "gmean"})
    client.post(f"/p/{project.id}/training", data={"epochs": "200000"})
    other = Trainer(workspace)  # as after a restart
    _, progress = other.current(workspace.get(project.id))
    assert progress.state == "interrupted"
    client.post(f"/p/{project.id}/training/cancel")


@pytest.fixture(scope="module")
def finished(tmp_path_factory, tables):
    """Return a client and a project whose model was trained, with columns left out."""
    from ecselm.studio import Workspace, create_app
    from tests.studio.conftest import BASE, PORT, TOKEN, TestClient

    workspace = Workspace(tmp_path_factory.mktemp("studio"))
    app = create_app(workspace, port=PORT, token=TOKEN)
    with TestClient(app, base_url=BASE, headers={"origin": BASE}) as client:
        client.get(f"/?token={TOKEN}")
        project = workspace.add(tables[2])
        choose(client, project, left_out=["loss", "patient"], by="ward")
        client.post(f"/p/{project.id}/costs", data={"unit": "40", "currency": "EUR"})
        assert trained(client, project)["state"] == "done"
        yield client, workspace, project.id


def run_of(finished):
    _, workspace, project_id = finished
    return Trainer(workspace).result(workspace.get(project_id))


def downloaded(finished, name):
    client, _, project_id = finished
    answer = client.get(f"/p/{project_id}/files/{name}")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"].startswith("attachment")
    return answer.content


def test_test_rows_of_the_pages_are_those_of_the_card(finished, tables):
    run = run_of(finished)
    card, cases = run.card(), Cases.load(run.folder)
    decided = cases.decisions(run.constraints()).classes()
    counts = np.zeros((2, 2), dtype=int)
    np.add.at(counts, (cases.codes, decided), 1)
    assert counts.tolist() == [list(row) for row in card.test.confusion]
    truth = pd.read_csv(tables[2])["state"].to_numpy()[cases.positions]
    assert truth.tolist() == np.array(run.settings().labels)[cases.codes].tolist()


def test_the_command_on_the_page_trains_the_same_model(finished, tmp_path, monkeypatch, capsys):
    client, _, project_id = finished
    page = html.unescape(client.get(f"/p/{project_id}/report").text)
    arguments = shlex.split(re.search(r"<code>(ecselm fit .*?)</code>", page)[1])[1:]
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 0
    capsys.readouterr()
    mine, theirs = (
        json.loads(load_model(path).card)
        for path in (run_of(finished).folder / "trained" / "model.skops", "model.skops")
    )
    assert mine["test"] == theirs["test"]
    assert mine["learned"] == theirs["learned"]


def test_every_row_has_a_prediction(finished, tables):
    found = pd.read_csv(io.BytesIO(downloaded(finished, "predictions.csv")))
    assert len(found) == len(pd.read_csv(tables[2]))
    assert set(found["prediction"]) <= {"ill", "well"}


def test_other_files_are_not_served(finished):
    client, _, project_id = finished
    for name in ("request.json", "cases.npz", "..%2frequest.json", "log.txt"):
        assert client.get(f"/p/{project_id}/files/{name}").status_code == 404


def test_the_report_is_shown_apart(finished):
    client, _, project_id = finished
    page = client.get(f"/p/{project_id}/report/view")
    assert "sandbox allow-scripts" in page.headers["content-security-policy"]
    assert "A model that predicts" in page.text


def test_rows_are_listed_and_explained(finished):
    client, _, project_id = finished
    cases = Cases.load(run_of(finished).folder)
    page = client.get(f"/p/{project_id}/rows?show=all")
    assert f"all test rows ({len(cases.codes)})" in page.text
    for place in (0, len(cases.codes) - 1):
        page = client.get(f"/p/{project_id}/rows/{place}").text
        assert f"Row {cases.positions[place] + 1}" in page
        assert "measure 0" in page
        assert "loss" not in page  # was left out
    assert client.get(f"/p/{project_id}/rows/{len(cases.codes)}").status_code == 404
    assert client.get(f"/p/{project_id}/rows?show=no&page=zero").status_code == 200


def test_a_point_of_the_trade_off_decides(finished, tmp_path, monkeypatch, capsys):
    client, _, project_id = finished
    before = client.get(f"/p/{project_id}/tradeoff").text
    n = len(re.findall(r"<circle", before))
    page = client.post(f"/p/{project_id}/tradeoff", data={"point": str(n - 1)})
    assert "Costs in use: mistakes on" in page.text
    run = run_of(finished)
    card = run.card()
    walk = json.loads((run.folder / "trained" / "card.json").read_text())["test"]["operating"]
    own = card.test.operating.points[0]
    assert own.n_caught == walk["walk"][-1]["n_caught"]
    assert own.n_alarms == walk["walk"][-1]["n_alarms"]
    assert card.request.metric == "mean_cost"
    report = html.unescape(client.get(f"/p/{project_id}/report").text)
    predicted_by_commands(finished, report, tmp_path, monkeypatch, capsys)
    page = client.post(f"/p/{project_id}/report/reset")
    assert run.in_use().source == ""
    assert run.card() == Card.from_json((run.folder / "trained" / "card.json").read_text())


def test_money_can_be_stated_after_the_training(finished):
    client, _, project_id = finished
    client.post(f"/p/{project_id}/tradeoff", data={"point": "12"})  # by which costs are counted
    before = client.get(f"/p/{project_id}/tradeoff").text
    client.post(f"/p/{project_id}/costs", data={"unit": "400", "currency": "CHF"})
    after = client.get(f"/p/{project_id}/tradeoff").text
    assert ">EUR</th>" in before
    assert ">CHF</th>" in after
    cost = r'<th scope="row">this model</th>.*?(?:<td class="number">([\d,.]+)</td>\s*){5}'
    first, second = (
        float(re.search(cost, page, re.DOTALL)[1].replace(",", "")) for page in (before, after)
    )
    assert second == pytest.approx(10 * first, rel=0.01)
    assert "The settings have changed" not in client.get(f"/p/{project_id}/training").text
    client.post(f"/p/{project_id}/costs", data={"unit": "40", "currency": "EUR"})
    client.post(f"/p/{project_id}/report/reset")


@pytest.mark.parametrize("point", ["", "99", "x"])
def test_a_point_that_is_not_there_is_refused(finished, point):
    client, _, project_id = finished
    assert client.post(f"/p/{project_id}/tradeoff", data={"point": point}).status_code == 422


def predicted_by_commands(finished, report, folder, monkeypatch, capsys):
    """Run the commands of a page after the first one, and compare their predictions."""
    model = run_of(finished).folder / "trained" / "model.skops"
    (folder / "model.skops").write_bytes(model.read_bytes())
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    commands = re.findall(r"<code>(ecselm .*?)</code>", report)
    for command in commands[1:]:
        assert main(shlex.split(command)[1:]) == 0, command
    capsys.readouterr()
    mine = pd.read_csv(io.BytesIO(downloaded(finished, "predictions.csv")))
    assert mine["prediction"].tolist() == pd.read_csv("predictions.csv")["prediction"].tolist()
    return mine


def test_answers_to_questions_decide_and_survive(finished, tmp_path, monkeypatch, capsys):
    client, _, project_id = finished
    questions = f"/p/{project_id}/questions"
    true_costs = np.array([[0.0, 6.0], [1.0, 0.0]])
    run = run_of(finished)
    P = Cases.load(run.folder).probabilities
    for n in range(20):
        page = client.get(questions).text
        if "Nothing is left to ask" in page:
            break
        if n == 1:  # as after a restart of the server
            from ecselm.studio import questions as module

            module._latest.clear()
            assert client.get(questions).text == page
        known = run.folder / "answers.json"
        elicitor = CostElicitor.load(known, P) if known.exists() else None
        key = "first" if elicitor is None else elicitor.ask().answer_for(true_costs)
        if elicitor is None:
            keys = re.findall(r'name="choice" value="([^"]+)"', page)
            key = keys[1]
        page = client.post(questions, data={"choice": key, "question": str(n), "by": "Ann <i>"})
        assert page.status_code == 200
        # Sent twice, it counts once.
        client.post(questions, data={"choice": key, "question": str(n), "by": "Ann <i>"})
        assert len(CostElicitor.load(known, P).history) == n + 1
    assert n > 0
    assert "Ann &lt;i&gt;" in client.get(questions).text
    page = client.post(f"{questions}/use")
    assert f"Costs in use: {n} answer" in page.text
    report = html.unescape(client.get(f"/p/{project_id}/report").text)
    assert "Why these costs" in report

    # The commands that the page shows predict what the file of the page holds.
    (tmp_path / "answers.json").write_bytes(downloaded(finished, "answers.json"))
    mine = predicted_by_commands(finished, report, tmp_path, monkeypatch, capsys)
    moved = load_model(run.file("model.skops")).model
    rows = run.table().frame
    assert moved.predict(rows).tolist() == mine["prediction"].tolist()

    page = client.post(f"{questions}/undo")
    assert len(CostElicitor.load(run.folder / "answers.json", P).history) == n - 1
    client.post(f"/p/{project_id}/report/reset")


def test_an_answer_that_is_none_is_refused(finished):
    client, _, project_id = finished
    run = run_of(finished)
    P = Cases.load(run.folder).probabilities
    file = run.folder / "answers.json"
    n = len(CostElicitor.load(file, P).history) if file.exists() else 0
    fields = {"choice": "whatever", "question": str(n)}
    assert client.post(f"/p/{project_id}/questions", data=fields).status_code == 422


@pytest.mark.slow
def test_costs_by_row_leave_nothing_to_ask(client, workspace, project):
    choose(client, project, cost_column="loss", left_out=["patient"])
    client.post(f"/p/{project.id}/costs", data={"cost_mistake": "0-1"})
    assert trained(client, project)["state"] == "done"
    assert "Costs are known by row" in client.get(f"/p/{project.id}/questions").text
    page = client.get(f"/p/{project.id}/tradeoff")
    assert page.status_code == 200
    assert "Decide at this point" not in page.text
    assert client.get(f"/p/{project.id}/rows/0").status_code == 200


@pytest.mark.slow
def test_numbers_are_predicted_without_costs(client, workspace, project):
    page = choose(client, project, "measure 0", left_out=["patient"])
    assert "there are no classes to confuse" in page.text
    assert trained(client, project)["state"] == "done"
    assert client.get(f"/p/{project.id}/tradeoff").url.path.endswith("/report")
    assert client.get(f"/p/{project.id}/files/predictions.csv").status_code == 200


@pytest.mark.slow
def test_a_result_stays_while_another_training_is_cancelled(client, workspace, project):
    choose(client, project)
    client.post(f"/p/{project.id}/costs", data={"metric": "gmean"})
    assert trained(client, project)["state"] == "done"
    client.post(f"/p/{project.id}/training", data={"epochs": "200000"})
    client.post(f"/p/{project.id}/training/cancel")
    page = client.get(f"/p/{project.id}/training")
    assert "Look at the trade-off" in page.text
    assert "The settings have changed" in page.text
    assert client.get(f"/p/{project.id}/tradeoff").status_code == 200
    assert trained(client, project)["state"] == "done"
    assert awaited(client, project)["state"] == "done"
    assert len(list(workspace.place(project.id).glob("run-*"))) <= 2
