import csv

import numpy as np
import pytest

from ecselm.paper.datasets import list_uci121, load_uci121
from ecselm.paper.datasets.uci121 import halves_of_uci121
from tests.paper.datasets.conftest import truncate

FOLDER = "uci121_development"
N = 8


def members(name="toy"):
    rows = [f"{i + 1}\t{i}.5\t-{i}\t{i % 2}" for i in range(N)]
    tests = [{0, 1}, {2, 3}, {4, 5}, {0, 7}]  # the last repeats a row, as published ones do
    lines = [
        " ".join(str(i) for i in sorted(part, reverse=True))
        for test in tests
        for part in (set(range(N)) - test, test)
    ]
    return {
        f"{name}_R.dat": "\tf1\tf2\tclase\n" + "\n".join(rows) + "\n",
        "conxuntos_kfold.dat": "\n".join(lines) + "\n",
        "conxuntos.dat": "0 1 2 3\n4 5 6 7\n",
    }


@pytest.fixture
def put(write_zip):
    return lambda files, name="toy": write_zip(FOLDER, f"{name}.zip", files)


def test_rows_and_splits_are_those_of_the_files(put):
    put(members())
    data = load_uci121("toy")
    assert data.X[:, 0].tolist() == [i + 0.5 for i in range(N)]
    assert data.y.tolist() == [0, 1] * 4
    assert data.feature_names == ("f1", "f2")
    assert [test.tolist() for _, test in data.folds] == [[0, 1], [2, 3], [4, 5], [0, 7]]
    assert all(sorted([*train, *test]) == list(range(N)) for train, test in data.folds)


def test_names_of_the_folder_are_listed(put, folder):
    put(members())
    put(members("more"), "more")
    assert list_uci121() == list_uci121(folder) == ["more", "toy"]


def test_without_a_folder_there_are_none(monkeypatch):
    monkeypatch.delenv("ECSELM_DATA", raising=False)
    assert list_uci121() == []
    assert halves_of_uci121() == {}


def test_halves_are_those_of_the_manifest(write):
    write(FOLDER, "MANIFEST.csv", "set,half,rows\ntoy,development,8\nmore,confirmation,8\n")
    assert halves_of_uci121() == {"toy": "development", "more": "confirmation"}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("set,rows\ntoy,8\n", "must have the columns set and half"),
        ("set,half\ntoy,third\n", "toy: half must be one of development, confirmation, got"),
    ],
)
def test_damaged_manifests_are_refused(write, text, sentence):
    write(FOLDER, "MANIFEST.csv", text)
    with pytest.raises(ValueError, match=sentence):
        halves_of_uci121()


@pytest.mark.parametrize(
    ("member", "old", "new", "sentence"),
    [
        ("toy_R.dat", "clase", "class", "toy_R.dat, line 1: must name inputs and then clase"),
        ("toy_R.dat", "2\t1.5\t-1", "2\t1.5", "line 3: must have 4 fields, got 3"),
        ("toy_R.dat", "2\t1.5", "2\tx", "line 3, f1: must be a number, got 'x'"),
        ("toy_R.dat", "2\t1.5", "3\t1.5", "line 3: must be row 2, got '3'"),
        ("toy_R.dat", "-1\t1\n", "-1\t1.5\n", "line 3: the label must be one of"),
        ("conxuntos_kfold.dat", "1 0\n", "1 x\n", "line 2: must hold numbers of rows, got 'x'"),
        ("conxuntos_kfold.dat", "1 0\n", "1 1\n", "lines 1 and 2: must hold each of the rows 0 to"),
        ("conxuntos_kfold.dat", "1 0\n", "1 8\n", "lines 1 and 2: must hold each of the rows 0 to"),
        ("conxuntos_kfold.dat", "\n7 0\n", "\n", "must hold 8 lines of rows, got 7"),
    ],
)
def test_damaged_members_are_refused_with_their_place(put, member, old, new, sentence):
    files = members()
    assert old in files[member]
    files[member] = files[member].replace(old, new, 1)
    put(files)
    with pytest.raises(ValueError, match=r"toy\.zip, ") as caught:
        load_uci121("toy")
    assert sentence in str(caught.value)


def test_one_class_is_refused(put):
    files = members()
    files["toy_R.dat"] = files["toy_R.dat"].replace("\t1\n", "\t0\n")
    put(files)
    with pytest.raises(ValueError, match="must hold two classes at least, got 0 only"):
        load_uci121("toy")


def test_missing_members_and_torn_zips_are_refused(put):
    files = members()
    del files["conxuntos_kfold.dat"]
    path = put(files)
    with pytest.raises(ValueError, match=r"toy\.zip must hold conxuntos_kfold\.dat"):
        load_uci121("toy")
    truncate(path)
    with pytest.raises(ValueError, match=r"toy\.zip"):
        load_uci121("toy")


def test_names_cannot_lead_out_of_the_folder(folder):
    with pytest.raises(ValueError, match="name must be made of letters"):
        load_uci121("../toy")


def test_real_sets_are_as_their_manifest_says(data_folder):
    names = list_uci121(data_folder)
    if not names:
        pytest.skip("the folder does not hold them")
    with (data_folder / FOLDER / "MANIFEST.csv").open() as file:
        manifest = {row["set"]: row for row in csv.DictReader(file)}
    assert set(names) == set(manifest)
    for name in names:
        data, row = load_uci121(name, data_folder), manifest[name]
        assert data.X.shape == (int(row["rows"]), int(row["inputs"]))
        assert len(data.counts) == int(row["classes"])
        assert data.counts.min() == int(row["smallest_class"])
        assert len(data.folds) == 4
        np.testing.assert_allclose(data.X.mean(axis=0), 0.0, atol=1e-3)
