"""Projects on disk, settings, and the command that does the same."""

import argparse
import json
import shlex
from dataclasses import replace

import pytest

from ecselm.cli import fit
from ecselm.studio import Project, Workspace
from ecselm.studio.project import ClassRows, CostRange, Settings, Worse
from ecselm.studio.runs import Run

ODD = ["<b>a->b</b>", 'it\'s "c"', "c"]


def parsed(command):
    """Return the request that the command line makes of a command."""
    program, name, *arguments = shlex.split(command)
    assert (program, name) == ("ecselm", "fit")
    parser = argparse.ArgumentParser()
    fit.add_parser(parser.add_subparsers(), "")
    args = parser.parse_args(["fit", *arguments])
    return args.data, fit._request(args)


def settings_of(labels, **more):
    classes = tuple(ClassRows(label, 10) for label in labels)
    return Settings(target="state", task="classes", classes=classes, **more)


@pytest.mark.parametrize("labels", [["ill", "well"], [0, 1, 2], ODD], ids=str)
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"metric": "gmean", "groups": "patient", "by": "ward", "seed": 3, "epochs": 7},
        {"model_name": "auto", "max_time": 12.5, "test_share": 0.4},
        {"ranges": (CostRange(0, 1, 3.0, 20.0), CostRange(1, 0, 2.0, 2.0))},
        {"worse": (Worse(0, 1, 1, 0),), "ranges": (CostRange(1, None, 0.5, 4.0),)},
        {"cost_column": "loss"},
        {"cost_column": "loss", "cost_truth": 0, "cost_predicted": 1},
    ],
    ids=lambda more: "-".join(more) or "default",
)
def test_the_command_states_the_same_request(workspace, tables, labels, more):
    project = replace(workspace.add(tables[2]), settings=settings_of(labels, **more))
    project.settings.check_costs()
    run = Run.create(workspace.place(project.id) / "run-1", project)
    file, request = parsed(run.command())
    assert file == tables[2].resolve()
    assert request == project.settings.request()
    stated = request.costs.constraints(labels)
    assert stated == project.settings.costs().constraints(labels)


def test_costs_on_the_page_are_the_constraints(workspace):
    settings = settings_of(
        ["ill", "well"], ranges=(CostRange(0, 1, 3.0, 20.0),), sentences=("well->ill = 2",)
    )
    known = settings.costs().constraints(settings.labels)
    assert known.low[0, 1] == 3
    assert known.high[0, 1] == 20
    assert known.mean()[1, 0] == 2


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"sentences": ("ill->wel = 3",)}, "did you mean 'well'"),
        ({"sentences": ("/etc/passwd",)}, "must read like"),
        ({"sentences": ("ill->well > well->ill", "well->ill > ill->well")}, "contradict"),
        ({"ranges": (CostRange(0, 1, 1.0, 2.0),), "cost_column": "loss"}, "the column of costs"),
    ],
    ids=str,
)
def test_costs_that_cannot_be_are_refused_in_words_of_the_page(more, message):
    with pytest.raises(ValueError, match=message) as refused:
        settings_of(["ill", "well"], **more).check_costs()
    assert "--" not in str(refused.value)


def test_a_project_survives_as_json(workspace, tables):
    added = workspace.add(tables[2])
    settings = settings_of(
        ODD, ranges=(CostRange(0, 1, 3.0, float("inf")),), worse=(Worse(0, 1, 2, None),)
    )
    changed = workspace.change(added.id, settings=settings, runs=("run-1",))
    again = Workspace(workspace.folder).get(added.id)
    assert again == changed
    assert again.settings == settings
    assert again.columns == added.columns
    assert workspace.of_file(tables[2]) == again


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": 99}', '{"format": 1, "x": 2}'])
def test_a_file_of_something_else_is_refused(workspace, text):
    with pytest.raises(ValueError, match="cannot be read"):
        Project.from_json(text)
    folder = workspace.folder / "strange-1"
    folder.mkdir()
    (folder / "project.json").write_text(text)
    assert workspace.projects() == []


def test_an_unknown_setting_is_refused(workspace, tables):
    stored = json.loads(workspace.add(tables[2]).to_json())
    stored["settings"]["colour"] = "red"
    with pytest.raises(ValueError, match="unknown colour"):
        Project.from_json(json.dumps(stored))


def test_columns_have_kinds_and_examples(workspace, tables):
    columns = {one.name: one for one in workspace.add(tables[5]).columns}
    assert columns["ward"].kind == "names"
    assert columns["ward"].examples == ("south", "north")
    assert columns["measure 0"].kind == "numbers"
    assert columns["state"].n_values == 5


def test_a_table_that_cannot_be_read_leaves_nothing(workspace, tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_bytes(b"\x00\x01\x02" * 50)
    with pytest.raises((ValueError, OSError)):
        workspace.add(bad)
    assert list(workspace.folder.iterdir()) == []
    assert bad.exists()


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"target": None}, "must be chosen"),
        ({"target": "state", "groups": "state"}, "must not be the column to predict as well"),
        ({"target": "state", "left_out": ("state",)}, "must not be left out"),
        ({"target": "state", "by": "ward", "left_out": ("ward",)}, "neither left out"),
        ({"target": "state", "cost_column": "patient", "groups": "patient"}, "as well"),
        ({"target": "measure 0", "by": "ward"}, "where numbers are predicted"),
    ],
    ids=str,
)
def test_a_column_has_one_purpose(workspace, tables, chosen, message):
    project = workspace.add(tables[2])
    with pytest.raises(ValueError, match=message):
        project.with_target(**chosen)


def test_costs_stay_as_long_as_the_classes_do(workspace, tables):
    project = workspace.add(tables[2]).with_target(target="state")
    assert project.settings.labels == ["ill", "well"]
    stated = replace(project.settings, sentences=("ill->well = 3",))
    project = replace(project, settings=stated)
    kept = project.with_target(target="state", left_out=("ward",))
    assert kept.settings.sentences == ("ill->well = 3",)
    assert kept.with_target(target="ward", left_out=()).settings.sentences == ()
