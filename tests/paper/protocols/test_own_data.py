"""Own data in the layouts of the paper: what they are called, and that items run on them."""

import json
from dataclasses import replace

import numpy as np
import pytest

from ecselm.cli.main import main
from ecselm.paper.datasets import load_ar, make_enose_like, make_lfw_like, make_m2b_like
from ecselm.paper.datasets.beauty import WIDTHS
from ecselm.paper.datasets.gases import GASES
from ecselm.paper.protocols import QUICK
from ecselm.paper.protocols.beauty import both_cultures, m2b_case
from ecselm.paper.protocols.faces import FACES, pair_cases
from ecselm.paper.protocols.imbalance import gas_cases
from ecselm.paper.protocols.protocol import ORIGINS, case_info, first_available


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with tiny own data in every layout of the paper, and nothing else."""
    rng = np.random.default_rng(0)
    for name in ("m2b", "ar", "lfw", "enose"):
        (tmp_path / name).mkdir()
    culture = np.tile(["E", "W"], 30)
    quality = rng.uniform(1, 10, 60)
    rated = {f"{name}_score": quality for name in ("facial", "dressing", "vocal")}
    features = {
        name: rng.standard_normal((60, 4)) + np.outer(quality, [1, 0, 0, 0]) for name in WIDTHS
    }
    np.savez(tmp_path / "m2b" / "m2b.npz", culture=culture, **features, **rated)
    person = np.tile(np.repeat([3, 5, 8, 9, 11, 20], 3), 2)
    faces = rng.standard_normal((6 * 3 * 2, 8)) + 4 * rng.standard_normal((21, 8))[person]
    np.savez(tmp_path / "ar" / "ar.npz", X=faces, person=person, session=np.repeat([1, 2], 18))
    pictures = np.repeat(rng.standard_normal((40, 6)), 2, axis=0)
    pictures += 0.3 * rng.standard_normal(pictures.shape)
    alike = np.arange(80).reshape(40, 2)
    pairs = {
        "pairs": np.concatenate([alike, np.stack([alike[:, 0], np.roll(alike[:, 1], 1)], 1)]),
        "same": np.repeat([1, 0], 40),
        "fold": np.tile(np.arange(4), 20),
    }
    for name in ("lbp", "sift"):
        path = tmp_path / "lfw" / f"lfw_{name}.npz"
        np.savez(path, X=pictures, eigenvalues=np.ones(6), **pairs)
    samples = [
        ",".join([gas, *(f"{value:.3f}" for value in j + rng.standard_normal(6))])
        for j, gas in enumerate(GASES)
        for _ in range(8)
    ]
    text = "\n".join(["# rows: 48", "gas,s1,s2,s3,s4,s5,s6", *samples, ""])
    (tmp_path / "enose" / "enose.csv").write_text(text)
    monkeypatch.setenv("ECSELM_DATA", str(tmp_path))
    return tmp_path


ITEMS = {
    "table-1": "Facial (G), E: own data (30 rows, 4 features, 5 classes)",
    "table-6": "AR: own data (36 rows, 8 features, 6 classes)",
    "table-8": "LFW, LBP: own data (80 pairs, 6 features, 2 classes)",
    "table-9": "LFW, SIFT: own data (80 pairs, 6 features, 2 classes)",
    "table-10": "E-NOSE: own data (48 rows, 6 features, 6 classes)",
}


@pytest.mark.parametrize(
    "item",
    [pytest.param(name, marks=[pytest.mark.slow] * (name == "table-8")) for name in ITEMS],
)
def test_item_runs_on_own_data_and_says_so(folder, tmp_path, capsys, item):
    assert main(["reproduce", item, "--quick", "--output", str(tmp_path / "results")]) == 0
    printed = capsys.readouterr().out
    assert ITEMS[item] in printed
    assert "own data in the paper's layout, not the paper's" in printed
    assert "SYNTHETIC" not in printed
    record = json.loads((tmp_path / "results" / item / "run.json").read_text())
    assert {case["origin"] for case in record["data"]} == {"own"}
    assert all(case["source"].startswith("Own data of ") for case in record["data"])


def test_arrays_that_own_data_lack_are_taken_from_the_stand_in(folder):
    path = folder / "m2b" / "m2b.npz"
    with np.load(path) as file:
        kept = {name: file[name] for name in file.files if name != "dressing"}
    np.savez(path, **kept)
    assert m2b_case("Vocal", "E", "level").origin == "own"
    assert m2b_case("Dressing", "E", "level").origin == "synthetic"


def test_pairs_are_counted_as_pairs(folder):
    cases = pair_cases()
    assert [case.origin for case in cases] == ["own", "own"]
    assert case_info(cases[1], cases[1].load(), ()).label == ITEMS["table-9"]


def own(data):
    """Return every other row of a data set as own data."""
    kept = np.arange(0, len(data.y), 2)
    return replace(data, X=data.X[kept], y=data.y[kept], folds=None, synthetic=False, own=True)


def test_one_culture_of_own_data_makes_both_together_own(monkeypatch):
    def load(features, culture, target):
        data = make_m2b_like(features, culture, target, random_state=0)
        return data if culture == "E" else own(data)

    monkeypatch.setattr("ecselm.paper.protocols.beauty.load_m2b", load)
    eastern, western = (m2b_case("Vocal", culture, "level") for culture in "EW")
    assert (eastern.origin, western.origin) == ("paper", "own")
    together = both_cultures(eastern, western)
    assert together.origin == "own"
    assert together.load().own
    label = case_info(together, together.load(), ()).label
    assert label.startswith("Vocal, E+W: own data (930 rows, 50 features, ")
    scores = m2b_case("Vocal", "W", "score")
    assert case_info(scores, scores.load(), ()).label == (
        "Vocal, W: own data (310 rows, 50 features)"
    )


def test_what_the_loader_calls_the_papers_is_the_papers(monkeypatch):
    whole = replace(make_enose_like(random_state=0), synthetic=False)
    monkeypatch.setattr("ecselm.paper.protocols.imbalance.load_enose", lambda: whole)
    assert gas_cases()[0].origin == "paper"
    pairs = make_lfw_like(random_state=0)
    monkeypatch.setattr("ecselm.paper.protocols.faces.load_lfw", lambda descriptor: pairs)
    assert {case.origin for case in pair_cases()} == {"paper"}


def test_stand_ins_of_the_papers_sizes_are_synthetic():
    found = first_available("E-NOSE", None, None, lambda: make_enose_like(random_state=0))
    assert found.origin == "synthetic"


def test_own_data_are_nearer_to_the_paper_than_public_ones():
    assert ORIGINS == ("paper", "own", "public", "synthetic")


def test_own_faces_are_split_by_session(folder):
    faces = load_ar()
    for train, test in FACES.splits(faces, QUICK, 0):
        assert set(faces.y[train]) == set(faces.y[test])
        assert len(np.intersect1d(train, test)) == 0
