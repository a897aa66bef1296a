"""The benchmarks on pairs compare like with like and choose without the test fold."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks import lfw, pairs
from benchmarks.faces import BASELINE, FILE, METHODS, Cosine, Faces, Method, Setting, grid
from benchmarks.lfw import Outcome, as_table, choose, run
from benchmarks.pairs import QUICK, compare_pairs, one_pair_at_a_time
from ecselm.paper.pairs import KISSME
from ecselm.paper.pairs.itml import Bounds, project_cyclically

TINY = Method("tiny", grid([3, 5], "reg", [0.1, 1.0]), KISSME)


@pytest.fixture
def faces(rng):
    """Thirty people with four images each, eight pairs in each of ten folds."""
    person = np.repeat(np.arange(30), 4)
    X = rng.standard_normal((30, 5))[person] + 0.5 * rng.standard_normal((120, 5))
    first = rng.integers(120, size=80)
    same = np.arange(80) % 2
    second = np.where(same, first // 4 * 4 + (first + 1) % 4, (first + 40) % 120)
    return Faces(X, np.stack([first, second], axis=1), same, np.arange(80) // 8)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_learners_stand_beside_what_they_are_made_of():
    rows = compare_pairs(QUICK)
    assert [row.learner for row in rows] == ["ITML", "SubSML", "DMLEig"]
    assert all(row.ratio.median > 0 and row.seconds > 0 and row.n_iter > 0 for row in rows)
    page = pairs.as_table(rows)
    assert "| ITML | 60 generated x 5 | one pair at a time |" in page


def test_baseline_gives_the_same_projections(rng):
    D = rng.standard_normal((70, 4))
    bounds = Bounds(D, rng.random(70) < 0.5, 2.0, 9.0)
    ours = project_cyclically(np.eye(4), bounds, 0.5, 1e-300, 3).matrix
    assert_allclose(ours, one_pair_at_a_time(np.eye(4), bounds, 0.5, 3), rtol=1e-9, atol=1e-12)


def test_test_fold_has_no_say_in_what_is_chosen(faces, rng):
    outcome = run(TINY, faces)
    assert len(outcome.accuracies) == 10
    for test in range(10):
        tested = faces.fold == test
        same = np.where(tested, rng.permutation(faces.same), faces.same)
        index = np.where(tested[:, np.newaxis], rng.integers(120, size=(80, 2)), faces.index)
        others = [(test + place) % 10 for place in range(1, 10)]
        assert choose(TINY, replace(faces, same=same, index=index), others) == outcome.chosen[test]


def test_parts_are_pairs_of_length_one_in_their_first_dimensions(faces):
    pairs, same = faces.rows([2, 7], 3)
    assert pairs.shape == (16, 2, 3)
    assert len(same) == 16
    assert_allclose(np.linalg.norm(pairs, axis=2), 1.0)


def test_table_tells_deviation_error_and_gain():
    setting = Setting(3, {"reg": 0.5})
    base = Outcome(BASELINE, [0.5, 0.7], [Setting(3, {})] * 2, 1.0, 0)
    other = Outcome("other", [0.6, 0.9], [setting] * 2, 1.0, 1)
    assert other.error == pytest.approx(other.deviation / np.sqrt(2))
    page = as_table([base, other])
    assert "| other | 0.7500 | 0.2121 | 0.1500 | +0.1500 (0.0500) |" in page
    assert "d=3, reg=0.5 (2 of 2)" in page


def test_grids_are_small_and_every_learner_can_be_built():
    for method in METHODS:
        assert 1 <= len(method.settings) <= 6
        for setting in method.settings:
            method.build(**setting.parameters)


def test_results_of_every_fold_are_kept(faces, monkeypatch, tmp_path, capsys):
    (tmp_path / FILE).parent.mkdir()
    np.savez(
        tmp_path / FILE,
        X=faces.X,
        eigenvalues=np.ones(5),
        pairs=faces.index,
        same=faces.same,
        fold=faces.fold,
    )
    monkeypatch.setenv("ECSELM_DATA", str(tmp_path))
    monkeypatch.setattr(lfw, "METHODS", [Method(BASELINE, [Setting(5, {})], Cosine), TINY])
    lfw.main(["--output", str(tmp_path / "lfw.json")])
    written = json.loads((tmp_path / "lfw.json").read_text())
    assert [len(entry["accuracies"]) for entry in written["outcomes"]] == [10, 10]
    assert "| tiny |" in capsys.readouterr().out
