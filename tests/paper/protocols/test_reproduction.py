import json
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial

import pandas as pd
import pytest

from ecselm.paper.datasets import make_enose_like, make_m2b_like
from ecselm.paper.jobs import COLUMNS, Journal, read_rows
from ecselm.paper.protocols import ITEMS, QUICK, reproduce, reproduction
from ecselm.paper.protocols.beside import beside_table, published_table
from ecselm.paper.protocols.items import AS_PRINTED, ENSEMBLE, ONE_LAYER, find_item
from ecselm.paper.protocols.protocol import CaseInfo
from ecselm.paper.protocols.published import PUBLISHED
from ecselm.paper.protocols.reproduction import plan_item
from ecselm.search import BacktrackingSearch

SHORT = replace(QUICK, most_rows=60, repeats=1)
FILES = ("results.parquet", "run.json", "table.csv", "table.tex")
COMMAND = [sys.executable, "-m", "ecselm", "reproduce", "table-11", "--quick", "--output"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that nothing stopped."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ECSELM_DATA", raising=False)
        folder = tmp_path_factory.mktemp("whole")
        return reproduce("table-11", folder, budget=QUICK)


@pytest.fixture(scope="module")
def short_whole(tmp_path_factory):
    """The same of one short split."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ECSELM_DATA", raising=False)
        return reproduce("table-11", tmp_path_factory.mktemp("short"), budget=SHORT)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A folder in which items share their jobs."""
    return tmp_path_factory.mktemp("shared")


def contents(folder):
    return {name: (folder / name).read_bytes() for name in FILES}


def lines_in(journal):
    return journal.read_bytes().count(b"\n") if journal.exists() else 0


def killed_after(n_lines, output):
    """Start the command and kill it, hard, when its journal has so many lines."""
    process = subprocess.Popen(  # noqa: S603  our own command
        [*COMMAND, str(output)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    end = time.monotonic() + 120
    while lines_in(output / "journal.jsonl") < n_lines and time.monotonic() < end:
        time.sleep(0.005)
    process.kill()
    process.wait()


def test_killed_and_started_again_equals_uninterrupted_byte_for_byte(whole, tmp_path):
    output = tmp_path / "run"
    killed_after(4, output)
    assert 4 <= lines_in(output / "journal.jsonl") < 23
    assert not (output / "table-11").exists()
    with (output / "journal.jsonl").open("ab") as file:
        file.write(b'{"key": "half a li')
    again = reproduce("table-11", output, budget=QUICK)
    assert contents(again.folder) == contents(whole.folder)


def test_two_processes_equal_one_byte_for_byte(short_whole, tmp_path):
    done = reproduce("table-11", tmp_path, budget=SHORT, n_jobs=2)
    assert contents(done.folder) == contents(short_whole.folder)


def test_items_run_before_in_the_same_folder_change_nothing(short_whole, tmp_path):
    reproduce("table-10", tmp_path, budget=SHORT)
    done = reproduce("table-11", tmp_path, budget=SHORT)
    assert contents(done.folder) == contents(short_whole.folder)


def test_results_are_tidy_and_times_have_a_file_of_their_own(whole):
    frame = read_rows(whole.folder / "results.parquet")
    assert tuple(frame.columns) == COLUMNS
    assert "seconds" not in set(frame["metric"])
    assert set(read_rows(whole.folder / "seconds.parquet")["metric"]) == {"seconds"}


def test_the_record_says_what_the_data_were(whole):
    record = json.loads((whole.folder / "run.json").read_text())
    assert record["data"][0]["origin"] == "synthetic"
    assert record["seed"] == 0
    assert "SYNTHETIC stand-in" in whole.text()


def test_another_seed_in_the_same_folder_is_refused(whole):
    before = contents(whole.folder)
    with pytest.raises(ValueError, match="name another one"):
        reproduce("table-11", whole.folder.parent, budget=QUICK, seed=1)
    assert contents(whole.folder) == before


@pytest.mark.parametrize(("name", "value"), [("seed", -1), ("n_jobs", 0)])
def test_numbers_that_make_no_sense_are_refused_before_anything_is_written(tmp_path, name, value):
    with pytest.raises(ValueError, match=f"{name} must be at least"):
        reproduce("table-11", tmp_path / "new", budget=QUICK, **{name: value})
    assert not list(tmp_path.iterdir())


def test_a_second_run_in_the_same_folder_is_kept_out(whole, tmp_path):
    journal = Journal(whole.folder.parent, {})
    with journal.lock(), pytest.raises(RuntimeError, match="one run at a time"):
        reproduce("table-11", whole.folder.parent, budget=QUICK)
    assert contents(reproduce("table-11", whole.folder.parent, budget=QUICK).folder)


@pytest.mark.parametrize("name", ["keel", "credit"])
def test_what_has_no_stand_in_says_what_it_needs(tmp_path, name, monkeypatch):
    monkeypatch.setattr("ecselm.paper.protocols.imbalance.list_keel", list)
    with pytest.raises(FileNotFoundError, match=f"no data for {name}, .* ECSELM_DATA"):
        reproduce(name, tmp_path / "new", budget=QUICK)
    assert not list(tmp_path.iterdir())


def test_stand_ins_can_be_excluded(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError, match="no data for table-11"):
        reproduce("table-11", tmp_path / "new", budget=QUICK, synthetic=False)
    own = partial(make_enose_like, random_state=0)
    monkeypatch.setattr("ecselm.paper.protocols.imbalance.load_enose", own)
    done = reproduce("table-12", tmp_path, budget=SHORT, synthetic=False)
    assert [case.label for case in done.cases] == ["E-NOSE"]


def test_published_numbers_stand_beside_results_on_the_data_of_the_paper(tmp_path, monkeypatch):
    monkeypatch.setattr(
        "ecselm.paper.protocols.imbalance.load_enose", partial(make_enose_like, random_state=0)
    )
    done = reproduce("table-11", tmp_path, budget=SHORT)
    own, printed = done.text().split("Gases, other classifiers, as published\n")
    assert "E-NOSE, TRR" in own
    assert printed.splitlines()[0].split()[:3] == ["data", "SVM", "PCA-SVM"]
    assert "E-NOSE: the paper's data" in printed
    frame = pd.read_csv(done.folder / "published.csv")
    trr = frame[frame["data"] == "TRR"].set_index("method")
    assert trr["mean"]["KPLS-DA"] == pytest.approx(0.9321)
    ours = {setting.name for setting in done.item.parts[0].settings}
    assert set(trr.index) == ours - {"kernel ECSELM", ONE_LAYER, ENSEMBLE}  # not in the paper


def test_only_rows_on_the_data_of_the_paper_are_put_beside(tmp_path, monkeypatch):
    def eastern(features, culture, target):
        if culture == "W":
            raise FileNotFoundError
        return make_m2b_like(features, culture, target, random_state=0)

    monkeypatch.setattr("ecselm.paper.protocols.beauty.load_m2b", eastern)
    done = reproduce("table-3", tmp_path, budget=SHORT)
    names = [row[0] for row in done.published.rows]
    assert names == ["Facial (A), E", "Dressing, E", "Vocal, E"]
    assert done.published.rows[0][-1] == "50.45 ± 0.81"


def test_there_are_no_published_numbers_on_other_data(whole):
    assert whole.published is None


def test_a_figure_is_drawn_in_two_formats(tmp_path, monkeypatch):
    done = reproduce("figure-9", tmp_path, budget=SHORT)
    assert (done.folder / "figure-9.png").read_bytes()[1:4] == b"PNG"
    assert "<svg" in (done.folder / "figure-9.svg").read_text()
    assert "not drawn" not in done.text()
    monkeypatch.setattr(reproduction, "find_spec", lambda name: None)
    assert 'install the extra "plot"' in done.text()


def test_numbers_on_other_data_than_the_run_had_are_not_put_beside():
    """One set of the paper's must not bring what is printed about the others."""
    cases = tuple(
        CaseInfo(label, origin, "", "", "", 1)
        for label, origin in (("E-NOSE", "paper"), ("LFW, LBP", "public"), ("AR", "synthetic"))
    )
    beside = {name: published_table(find_item(name), cases) for name in ITEMS}
    assert {name for name, table in beside.items() if table is not None} == {
        "table-10",
        "table-11",
        "table-12",
    }
    assert [row[0] for row in beside["table-12"].rows] == ["E-NOSE"]
    assert published_table(find_item("table-13"), cases[:1]).rows[0][1] == "0.0062"


def test_other_splits_of_the_same_rows_are_not_taken_from_the_journal():
    one, other = (plan_item(find_item("table-11"), QUICK, seed)[0] for seed in (0, 1))
    assert one.info.checksum == other.info.checksum
    assert one.key != other.key


def test_an_interrupted_search_is_no_result(tmp_path, monkeypatch):
    """Ctrl-C within a search ends the run: what was cut short is not in the journal."""
    calls = []

    def interrupted(self):
        calls.append(self)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return ask(self)

    ask = BacktrackingSearch.ask
    monkeypatch.setattr(BacktrackingSearch, "ask", interrupted)
    with pytest.raises(KeyboardInterrupt):
        reproduce("table-11", tmp_path, budget=SHORT)
    assert len(calls) == 3
    done = Journal(tmp_path, {}).folder.joinpath("journal.jsonl").read_text().splitlines()[1:]
    assert "|ECSELM|" not in "".join(done)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["table-3", "table-7", "table-9", "table-11", "table-12"])
def test_numbers_of_the_paper_stand_beside_ours_whatever_the_data(shared, name):
    done = reproduce(name, shared, budget=SHORT)
    assert done.published is None
    frame = pd.read_csv(done.folder / "beside.csv")
    assert set(frame["method"]) == {
        setting.name for part in done.item.parts for setting in part.settings
    }
    measures = {"arr", "trr"} if name == "table-11" else set(frame["measure"])
    mine = frame[frame["measure"].isin(measures)].set_index("method")
    assert mine.loc[[AS_PRINTED], "paper"].notna().all()
    assert mine.loc[[ENSEMBLE, ONE_LAYER], "paper"].isna().all()
    text = done.text(beside=True)
    assert "ours, and the paper's on its own data" in text
    assert "ours, and the paper's on its own data" not in done.text()
    assert text.count("\n") > len(frame)  # none is left out


def test_a_number_beside_ours_is_that_of_the_same_row_and_method(shared):
    done = reproduce("table-3", shared, budget=SHORT)
    frame = pd.read_csv(done.folder / "beside.csv")
    printed = PUBLISHED["table-3"]
    for row, ours, theirs in (("Dressing, W", "kNN", "KNN"), ("Vocal, E", AS_PRINTED, "ECSELM")):
        mine = frame[frame["data"].str.startswith(f"{row}:") & (frame["method"] == ours)]
        place = printed.rows.index(row)
        assert mine["paper"].item() == pytest.approx(printed.column(theirs)[place] / 100)


def test_p_values_and_seconds_stand_beside_those_of_the_paper(shared):
    p = reproduce("table-13", shared, budget=SHORT).beside.numbers.set_index("method")["paper"]
    assert p["ELM"] == 0.0030
    assert p[[ONE_LAYER, ENSEMBLE]].isna().all()
    times = reproduce("table-14", shared, budget=SHORT).beside.numbers.set_index("method")
    assert times["paper"][AS_PRINTED] == 237.81


def test_figures_have_no_numbers_to_stand_beside(whole):
    assert beside_table(find_item("figure-9"), whole.table) is None
    figure = replace(whole, item=find_item("figure-9"), beside=None)
    assert "the paper prints no numbers of figure-9" in figure.text(beside=True)


def test_columns_that_are_another_column_are_named(whole):
    gases = reproduction.column_notes(find_item("table-10"))
    assert "CSPCA-NN: the same as PCA-NN (equal costs) on E-NOSE" in gases
    assert not any("CSPCA-NN" in note for note in reproduction.column_notes(find_item("table-2")))
    assert all(note in whole.text() for note in whole.notes)


def test_results_of_other_code_in_the_same_folder_are_refused(whole, monkeypatch):
    monkeypatch.setattr(reproduction, "code_digest", lambda: "another")
    with pytest.raises(ValueError, match="name another one"):
        reproduce("table-11", whole.folder.parent, budget=QUICK)


def test_the_digest_of_the_code_follows_every_module_that_results_depend_on(tmp_path, monkeypatch):
    digest = reproduction.code_digest.__wrapped__
    monkeypatch.setattr(reproduction.ecselm, "__file__", str(tmp_path / "__init__.py"))
    (tmp_path / "search").mkdir()
    (tmp_path / "report").mkdir()
    seen = [digest()]
    for name in ("search/one.py", "search/one.c", "report/page.py", "search/notes.txt"):
        (tmp_path / name).write_text("1")
        seen.append(digest())
    assert seen[0] != seen[1] != seen[2]
    assert seen[2] == seen[3] == seen[4]


def test_own_data_in_the_layout_of_the_paper_are_called_what_they_are(tmp_path, monkeypatch):
    def own():
        data = make_enose_like(random_state=0)
        return replace(data, X=data.X[::2], y=data.y[::2], synthetic=False, own=True)

    monkeypatch.setattr("ecselm.paper.protocols.imbalance.load_enose", own)
    done = reproduce("table-11", tmp_path, budget=SHORT, synthetic=False)
    label = "E-NOSE: own data (241 rows, 6 features, 6 classes)"
    assert [(case.label, case.origin) for case in done.cases] == [(label, "own")]
    assert f"{label}: own data in the paper's layout, not the paper's" in done.text()
    assert done.published is None
    assert done.beside is not None
