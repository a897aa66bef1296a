import sys

import pandas as pd
import pytest

from ecselm import __version__
from ecselm.cli import main
from ecselm.paper.audit import Effort, report


@pytest.fixture(autouse=True)
def nowhere(monkeypatch, tmp_path):
    monkeypatch.delenv("ECSELM_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_missing_verb_prints_help(capsys):
    assert main([]) == 0
    assert "reproduce" in capsys.readouterr().out


def test_version_is_that_of_the_package(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"ecselm {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["reproduce", "table-15"], "item must be one of"),
        (["reproduce", "table-11", "--jobs", "0"], "n_jobs must be at least 1, got 0"),
        (["reproduce", "table-11", "--seed", "-1"], "seed must be at least 0, got -1"),
        (["reproduce", "all", "--jobs", "0"], "n_jobs must be at least 1, got 0"),
        (["bench", "keel", "--jobs", "0"], "n_jobs must be at least 1, got 0"),
        (["bench", "keel", "--methods", "ELM,ELMO"], "methods must be of the bench"),
        (["bench", "keel", "--sets", "no-such-set"], "sets must match data there are"),
        (["bench", "minority", "--jobs", "0"], "n_jobs must be at least 1, got 0"),
        (["bench", "minority", "--methods", "ELM"], "methods must be left out for minority"),
        (["bench", "minority", "--half", "development"], "half must be all for minority"),
        (["audit", "--jobs", "0", "--output", "new"], "jobs must be at least 1, got 0"),
        (["audit", "--seed", "-1"], "seed must be at least 0, got -1"),
        (["audit", "--data", "scut"], "ECSELM_DATA"),
    ],
)
def test_errors_are_one_sentence_and_leave_nothing_behind(capsys, nowhere, arguments, sentence):
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert sentence in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""
    assert not list(nowhere.iterdir())


def test_missing_pyarrow_is_said_before_any_work(capsys, monkeypatch, nowhere):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert main(["reproduce", "table-11", "--quick"]) == 2
    assert 'install the extra "reproduce"' in capsys.readouterr().err
    assert not list(nowhere.iterdir())


@pytest.mark.parametrize("item", ["table-11", "all"])
def test_a_variable_that_names_no_folder_is_one_error(capsys, monkeypatch, nowhere, item):
    monkeypatch.setenv("ECSELM_DATA", str(nowhere / "none"))
    assert main(["reproduce", item, "--quick"]) == 2
    printed = capsys.readouterr().err
    assert "ECSELM_DATA must name a folder" in printed
    assert printed.count("\n") == 1
    assert not list(nowhere.iterdir())


def test_output_that_is_a_file_is_an_error(capsys, nowhere):
    (nowhere / "file").write_text("mine")
    assert main(["reproduce", "table-11", "--quick", "--output", "file"]) == 2
    assert (nowhere / "file").read_text() == "mine"


def test_quick_item_prints_its_table_and_where_its_files_are(capsys, nowhere):
    assert main(["reproduce", "figure-9", "--quick"]) == 0
    out = capsys.readouterr().out
    assert "figure-9: Confusion of gases" in out
    assert "files: reproduced-quick/figure-9" in out
    assert (nowhere / "reproduced-quick" / "figure-9" / "results.parquet").exists()


def test_ctrl_c_says_that_the_run_can_go_on(capsys, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("ecselm.cli.reproduce.reproduce_item", interrupted)
    assert main(["reproduce", "table-1"]) == 130
    assert "the same command resumes the run" in capsys.readouterr().err
    monkeypatch.setattr("ecselm.cli.bench.run_bench", interrupted)
    assert main(["bench", "keel"]) == 130
    assert "the same command resumes the run" in capsys.readouterr().err
    monkeypatch.setattr("ecselm.cli.audit.run_audit", interrupted)
    assert main(["audit"]) == 130
    assert capsys.readouterr().err == "ecselm: interrupted\n"


def test_all_names_what_failed_and_goes_on(capsys, monkeypatch):
    def run(name, *args, **kwargs):
        raise {"table-2": FileNotFoundError, "table-3": ValueError}.get(name, KeyError)("no luck")

    monkeypatch.setattr("ecselm.cli.reproduce.ITEMS", ["table-2", "table-3", "table-3"])
    monkeypatch.setattr("ecselm.cli.reproduce.reproduce_item", run)
    assert main(["reproduce", "all"]) == 2
    printed = capsys.readouterr()
    assert "table-2: skipped, no luck" in printed.out
    assert "2 of 3 items failed: table-3, table-3" in printed.err


def test_all_runs_every_item(monkeypatch, capsys):
    from ecselm.paper.protocols import ITEMS

    given = []

    class Done:
        def text(self):
            return "done"

    monkeypatch.setattr(
        "ecselm.cli.reproduce.reproduce_item", lambda name, *a, **k: given.append(name) or Done()
    )
    assert main(["reproduce", "all", "--quick"]) == 0
    assert given == list(ITEMS)


def test_bench_hands_its_options_on(monkeypatch, capsys):
    given = {}

    class Done:
        def text(self):
            return "done"

    def run(output, **options):
        given.update(options, output=output)
        return Done()

    monkeypatch.setattr("ecselm.cli.bench.run_bench", run)
    assert main(["bench", "keel", "--sets", "glass*, pima", "--methods", "ELM", "--quick"]) == 0
    assert (given["sets"], given["methods"]) == (["glass*", "pima"], ["ELM"])
    assert (given["output"], given["half"], given["run"]) == ("benched-quick", "all", True)
    assert "not conclusive" in capsys.readouterr().out
    assert main(["bench", "keel", "--show", "--half", "confirmation"]) == 0
    assert (given["output"], given["half"], given["run"]) == ("benched", "confirmation", False)
    assert capsys.readouterr().out == "done\n"
    monkeypatch.setattr("ecselm.cli.bench.run_uci", run)
    assert main(["bench", "uci", "--half", "confirmation", "--methods", "SVC"]) == 0
    assert (given["output"], given["half"], given["methods"]) == (
        "benched-uci",
        "confirmation",
        ["SVC"],
    )
    given.clear()
    monkeypatch.setattr("ecselm.cli.bench.run_minority", run)
    assert main(["bench", "minority", "--sets", "pima", "--jobs", "2", "--show"]) == 0
    assert (given["output"], given["sets"], given["n_jobs"]) == ("benched-minority", ["pima"], 2)
    assert not given["run"]
    assert "half" not in given


def test_audit_prints_its_report_and_keeps_every_split(monkeypatch, capsys, nowhere):
    monkeypatch.setattr(report, "Effort", lambda *args, **kwargs: Effort(2, 6, 1))
    assert main(["audit", "--quick", "--output", "kept"]) == 0
    printed = capsys.readouterr().out
    assert printed == (nowhere / "kept" / "audit.txt").read_text()
    assert "(d) The same on random labels" in printed
    frame = pd.read_csv(nowhere / "kept" / "audit.csv")
    assert frame.groupby(["labels", "split"]).size().tolist() == [7, 7, 7, 7]
    oracle = frame[frame["fitness_on"] == "ORACLE: test rows"]
    assert (oracle["fitness"] == oracle["accuracy"]).all()
