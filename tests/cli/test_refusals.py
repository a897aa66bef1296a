"""What a person gets wrong: one sentence in the words of the command line, before any work."""

import os
import pickle
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ecselm.cli import main
from tests.cli.conftest import SMALL, ran, refused
from tests.saving.forged import node, put, tuple_node

NOBODY = 65534  # who may write nowhere, where all are allowed everything


def test_help_waits_for_no_library():
    code = "import sys; from ecselm.cli import main; main([]); print(sorted(sys.modules))"
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "reproduce" in done.stdout
    for library in ("numpy", "pandas", "sklearn", "rich"):
        assert f"'{library}'" not in done.stdout


@pytest.mark.parametrize("verb", ["demo", "fit", "predict", "evaluate", "report", "export"])
def test_every_verb_has_help(capsys, verb):
    with pytest.raises(SystemExit) as ended:
        main([verb, "--help"])
    assert ended.value.code == 0
    assert f"ecselm {verb}" in capsys.readouterr().out


def test_a_wrong_verb_is_answered_by_the_nearest(capsys):
    assert "did you mean 'predict'" in refused(capsys, "predit", "model.skops")


@pytest.mark.parametrize(
    ("option", "value", "sentence"),
    [
        ("--hidden", 0, "hidden must be at least 1, got 0"),
        ("--epochs", -1, "epochs must be at least 0, got -1"),
        ("--population", 0, "population must be at least 1, got 0"),
        ("--seed", -1, "seed must be at least 0, got -1"),
        ("--max-time", 0, "max-time must be more than 0 seconds, got 0"),
        ("--max-time", "nan", "max-time must be more than 0 seconds, got nan"),
        ("--jobs", 0, "jobs must be a number of threads"),
        ("--held-out", 1, "held-out must be a share between 0 and 1"),
        ("--metric", "recall", "got 'recall'; did you mean 'recall_macro'"),
        ("--metric", "r2", "metric must be able to score the target, got 'r2'"),
        ("--checkpoint", "no/c.npz", "--checkpoint must be in a folder that is there"),
        ("--checkpoint", "model.skops", "--checkpoint must not be the same file as --output"),
    ],
)
def test_options_are_refused_by_name(tumours, capsys, here, option, value, sentence):
    arguments = [tumours / "known.csv", "--target", "diagnosis", *SMALL, option, value]
    assert sentence in refused(capsys, "fit", *arguments)
    assert not list(here.iterdir())


def test_hidden_units_are_a_number_or_auto(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["fit", "rows.csv", "--target", "kind", "--hidden", "many"])
    assert ended.value.code == 2
    assert "--hidden: must be a number or auto, got 'many'" in capsys.readouterr().err


def test_names_of_rows_are_no_classes(capsys, here):
    rows = [f"{i},p{i},{'ab'[i % 2]}" for i in range(30)]
    Path("rows.csv").write_text("\n".join(["size,name,kind", *rows]))
    printed = refused(capsys, "fit", "rows.csv", "--target", "name")
    assert "got 'name' with 30 values in 30 rows" in printed
    printed = refused(capsys, "fit", "rows.csv", "--target", "size", "--task", "classes")
    assert "got 'size' with 30 values" in printed


def test_devices_stay_devices(tumours, capsys, here):
    for arguments in (
        ["fit", tumours / "known.csv", "--target", "diagnosis", "-o", "/dev/null"],
        ["report", tumours / "model.skops", "-o", "/dev/null"],
        ["predict", tumours / "model.skops", tumours / "new.csv", "-o", "/dev/null"],
    ):
        assert "--output must name a file, got the device /dev/null" in refused(capsys, *arguments)
    assert Path("/dev/null").is_char_device()


def test_a_table_of_costs_is_not_written_over(tumours, capsys, here):
    Path("costs.csv").write_text(",benign,malignant\nbenign,0,1\nmalignant,10,0\n")
    arguments = [tumours / "known.csv", "--target", "diagnosis", "--cost", "costs.csv"]
    printed = refused(capsys, "fit", *arguments, "-o", "costs.csv")
    assert "--output must not be the same file as --cost costs.csv" in printed


def test_a_model_that_is_not_there_is_answered_by_the_nearest(tumours, capsys, here):
    printed = refused(capsys, "report", tumours / "modle.skops")
    assert "did you mean 'model.skops'" in printed
    assert "MODEL must be a model" in refused(capsys, "report", tumours / "new.csv")


def test_predictions_go_to_files_of_known_kinds(tumours, capsys, here, monkeypatch):
    arguments = ["predict", tumours / "model.skops", tumours / "new.csv", "-o"]
    assert "must end in .csv or .parquet" in refused(capsys, *arguments, "predictions.xlsx")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert 'the extra "parquet"' in refused(capsys, *arguments, "predictions.parquet")
    assert not list(here.iterdir())


@pytest.mark.filterwarnings("default::ecselm.saving.UntrustedFileWarning")
def test_pickles_need_their_option(tumours, capsys, here):
    arguments = [tumours / "known.csv", "--target", "diagnosis", *SMALL, "-o", "m.pickle"]
    warning = "ecselm: warning: reading a pickle executes"
    assert ran(capsys, "fit", *arguments, "--pickle")[2].startswith(warning)
    for verb, *more in (["report"], ["predict", tumours / "new.csv"], ["export", "m.onnx"]):
        assert "by --pickle" in refused(capsys, verb, "m.pickle", *more)
    code, _, err = ran(capsys, "report", "m.pickle", "--pickle")
    assert (code, err.count("\n")) == (0, 1)
    assert err.startswith(warning)


def test_wrong_names_are_answered_by_the_nearest(tumours, capsys, here):
    data = tumours / "known.csv"
    assert "did you mean 'diagnosis'" in refused(capsys, "fit", data, "--target", "Diagnose")
    printed = refused(capsys, "fit", data, "--target", "diagnosis", "--cost", "malignent->benign=5")
    assert "did you mean 'malignant'" in printed
    printed = refused(capsys, "fit", data, "--target", "diagnosis", "--metric", "g_mean")
    assert "did you mean 'gmean'" in printed
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


@contextmanager
def unprivileged():
    """Drop the right of root to write everywhere."""
    if os.geteuid() != 0:
        yield
        return
    os.setresuid(NOBODY, NOBODY, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


def test_a_read_only_folder_is_refused_before_any_work(tumours, capsys, monkeypatch):
    with TemporaryDirectory() as made:  # which others may enter, unlike folders of pytest
        shutil.copy(tumours / "known.csv", made)
        Path(made).chmod(0o555)
        monkeypatch.chdir(made)
        with unprivileged():
            printed = refused(capsys, "fit", "known.csv", "--target", "diagnosis")
        monkeypatch.undo()
        Path(made).chmod(0o755)
        left = [path.name for path in Path(made).iterdir()]
    assert "--output must be in a folder that can be written to, got model.skops" in printed
    assert left == ["known.csv"]


def test_a_model_is_not_written_over_its_data(tumours, capsys, here):
    data = tumours / "known.csv"
    before = data.read_bytes()
    assert "same file" in refused(capsys, "fit", data, "--target", "diagnosis", "-o", data)
    assert data.read_bytes() == before


def test_hostile_models_are_refused(tumours, capsys, here):
    class Hostile:
        def __reduce__(self):
            return open, ("ran", "w")

    (here / "m.skops").write_bytes(pickle.dumps(Hostile()))
    refused(capsys, "predict", "m.skops", tumours / "new.csv")
    content = (tumours / "model.skops").read_bytes()
    (here / "cut.skops").write_bytes(content[: len(content) // 2])
    refused(capsys, "report", "cut.skops")
    shutil.copy(tumours / "model.skops", here / "asks.skops")
    asks = node("ConstructorFromReduceNode", "os.system", content=tuple_node("touch ran"))
    put(here / "asks.skops", asks, "steps")
    for verb in (["report"], ["evaluate", tumours / "new.csv"], ["export", "m.onnx"]):
        assert "os.system" in refused(capsys, verb[0], "asks.skops", *verb[1:])
    names = sorted(path.name for path in here.iterdir())
    assert names == ["asks.skops", "cut.skops", "m.skops"]
