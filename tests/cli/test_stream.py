"""The command on files that are read in blocks."""

import numpy as np
import pandas as pd
import pytest

from ecselm.cli import main
from ecselm.saving import load_model
from ecselm.study import Card
from tests.cli.terminal import CTRL_C, Terminal

SMALL = ["--hidden", "10", "--epochs", "1", "--population", "4"]
STREAM = ["--stream", "--block-rows", "200", "--sample", "300"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a table and a model of it, read in blocks."""
    folder, rng = tmp_path_factory.mktemp("big"), np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((1200, 3)), columns=list("abc"))
    frame["ill"] = np.where(frame["a"] + frame["b"] ** 2 > 1, "yes", "no")
    frame.to_parquet(folder / "big.parquet")
    frame.to_csv(folder / "big.csv", index=False)
    arguments = [folder / "big.parquet", "--target", "ill", "-o", folder / "m.skops"]
    assert main(["fit", *map(str, arguments), *SMALL, *STREAM]) == 0
    return folder


def ran(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_fit_tells_passes_and_writes_card_and_report(folder, capsys, tmp_path):
    arguments = [folder / "big.csv", "--target", "ill", "-o", tmp_path / "m.skops"]
    report = tmp_path / "r.html"
    code, out, _ = ran(capsys, "fit", *arguments, *SMALL, *STREAM, "--report", report)
    assert code == 0
    assert "Read in blocks, in 2 passes over 1200 rows." in out
    assert "in 2 passes" in report.read_text(encoding="utf-8")
    card = Card.from_json(load_model(tmp_path / "m.skops").card)
    assert card.data.file == "big.csv"
    assert "--stream" in card.command


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("table", ["big.csv", "big.parquet"])
def test_predictions_in_blocks_are_those_of_the_table(folder, capsys, tmp_path, table, ending):
    whole, parts = tmp_path / f"whole.{ending}", tmp_path / f"parts.{ending}"
    verb = ["predict", folder / "m.skops", folder / table]
    assert ran(capsys, *verb, "-o", whole)[0] == 0
    code, _, err = ran(capsys, *verb, "--stream", "--block-rows", "70", "-o", parts)
    assert code == 0
    assert "1200 predictions" in err
    read = pd.read_csv if ending == "csv" else pd.read_parquet
    pd.testing.assert_frame_equal(read(parts), read(whole))
    assert sorted(one.name for one in tmp_path.iterdir()) == [parts.name, whole.name]


def test_large_files_are_predicted_in_blocks_by_default(folder, capsys, monkeypatch):
    verb = ["predict", folder / "m.skops", folder / "big.parquet"]
    _, whole, _ = ran(capsys, *verb)
    monkeypatch.setattr("ecselm.cli.predict.LARGE", 1000)
    monkeypatch.setattr("ecselm.cli.predict.read_table", lambda _: pytest.fail("read whole"))
    _, parts, _ = ran(capsys, *verb)
    assert parts == whole


def test_a_stranger_in_a_late_block_leaves_no_file(folder, capsys, tmp_path):
    rows = pd.DataFrame(np.ones((300, 3)), columns=list("abc")).astype(object)
    rows.loc[250, "b"] = "many"
    rows.to_csv(tmp_path / "new.csv", index=False)
    verb = ["predict", folder / "m.skops", tmp_path / "new.csv", "--stream", "--block-rows", "100"]
    code, _, err = ran(capsys, *verb, "-o", tmp_path / "predictions.csv")
    assert code == 2
    assert "block 3, which is rows 201 to 300: column 'b' must hold numbers" in err
    assert [one.name for one in tmp_path.iterdir()] == ["new.csv"]


@pytest.mark.parametrize("option", ["--block-rows", "--sample"])
def test_sizes_need_blocks(folder, capsys, option):
    code, _, err = ran(capsys, "fit", folder / "big.csv", "--target", "ill", option, "9")
    assert code == 2
    assert err == f"ecselm: {option} must go with --stream\n"


def test_passes_are_shown_and_ctrl_c_leaves_nothing(folder, tmp_path):
    arguments = ["--target", "ill", "--stream", "--block-rows", "1", *SMALL]
    with Terminal("fit", folder / "big.parquet", *arguments, folder=tmp_path) as terminal:
        terminal.wait_for("pass 1 of 3: columns and samples")
        terminal.type(CTRL_C)
        assert terminal.end() == 130
        assert "ecselm: interrupted" in terminal.text
    assert not list(tmp_path.iterdir())
