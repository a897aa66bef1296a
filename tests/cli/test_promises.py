"""The command with promises: options, output, report and evaluation of other rows."""

import json

import pytest

from ecselm.saving import load_model
from ecselm.study import Card
from tests.cli.conftest import SMALL, ran, refused


def fit(folder, *options):
    return ["fit", folder / "known.csv", "--target", "diagnosis", *SMALL, *options]


@pytest.fixture(scope="module")
def promised(tumours, tmp_path_factory):
    """Return a folder, and a model that promises a recall."""
    from ecselm.cli import main

    folder = tmp_path_factory.mktemp("promised")
    options = ["--promise", "malignant=0.9", "--confidence", "0.8", "--cost", "malignant->benign=3"]
    files = ["-o", folder / "model.skops", "--report", folder / "report.html"]
    assert main([str(one) for one in fit(tumours, *options, *files)]) == 0
    return folder


def test_the_card_and_the_report_have_the_promise(promised):
    card = Card.from_json(load_model(promised / "model.skops").card)
    (one,) = card.test.promises
    assert (one.truth, one.asked, one.confidence, one.kept) == ("malignant", 0.9, 0.8, True)
    assert card.settings["promise"] == "{'malignant': 0.9}"
    page = (promised / "report.html").read_text()
    assert '<section id="promises"' in page
    assert 'data-card="/test/promises/0/n_cases"' in page


def test_the_terminal_shows_the_promise(tumours, capsys, here):
    code, out, _ = ran(
        capsys, *fit(tumours, "--model", "logistic", "--promise", "benign->malignant<=0.2")
    )
    assert code == 0
    assert "Promised: a rate of benign taken for malignant of at most 0.2" in out
    assert "exact 95 % interval" in out


def test_other_rows_are_checked(promised, tumours, capsys):
    files = promised / "model.skops", tumours / "new.csv"
    code, out, _ = ran(capsys, "evaluate", *files, "--json")
    assert code == 0
    found = json.loads(out)
    (one,) = found["promises"]
    recall = next(one for one in found["recalls"] if one["name"] == "malignant")
    assert one["observed"]["value"] == recall["value"]
    # By other costs nothing is promised.
    _, out, _ = ran(capsys, "evaluate", *files, "--cost", "malignant->benign=1", "--json")
    assert json.loads(out)["promises"] == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--promise", "malignan=0.9"], "did you mean 'malignant'?"),
        (["--promise", "malignant=0.999"], "--promise must be about a class with enough cases"),
        (["--promise", "malignant=0.9", "--stream"], "--promise must be left out with --stream"),
        (["--confidence", "0.9"], "--confidence must go with --promise"),
    ],
)
def test_refusals_name_the_option(tumours, capsys, here, options, message):
    assert message in refused(capsys, *fit(tumours, *options))
