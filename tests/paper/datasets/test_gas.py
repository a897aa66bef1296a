import numpy as np
import pytest
from sklearn.model_selection import StratifiedShuffleSplit, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ecselm.paper.datasets import gases, load_gas
from tests.paper.datasets.conftest import truncate

COUNTS = {
    1: [90, 98, 83, 30, 70, 74],
    2: [164, 334, 100, 109, 532, 5],
    3: [365, 490, 216, 240, 275],
    4: [64, 43, 12, 30, 12],
    5: [28, 40, 20, 46, 63],
    6: [514, 574, 110, 29, 606, 467],
    8: [30, 30, 40, 33, 143, 18],
    9: [61, 55, 100, 75, 78, 101],
}


def line(gas, values, ppm=";10.0"):
    return f"{gas}{ppm} " + " ".join(f"{j}:{v}" for j, v in enumerate(values, 1)) + "\n"


@pytest.fixture
def short(monkeypatch):
    """Let batches have any length that a test writes."""
    return lambda n_rows: monkeypatch.setattr(gases, "N_ROWS", (n_rows,) * 10)


@pytest.fixture
def batch(write, short):
    short(3)
    values = np.arange(128)
    text = line(2, values) + line(5, values + 0.5) + line(2, values, ppm="")
    return write("gas_drift_uci", "batch1.dat.gz", text)


def test_steady_states_are_those_of_every_other_sensor(batch):
    data = load_gas()
    np.testing.assert_array_equal(data.X[1], [0.5, 16.5, 32.5, 48.5, 64.5, 80.5])
    assert data.feature_names[:2] == ("sensor1_steady", "sensor3_steady")
    assert data.y.tolist() == [2, 5, 2]
    assert data.class_names == ("ethylene", "acetone")


def test_all_columns_have_names(batch):
    data = load_gas(columns="all")
    assert data.X.shape == (3, 128)
    assert len(set(data.feature_names)) == 128


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (line(1, range(127)), "line 1: must have 129 fields, got 128"),
        (line(7, range(128)), "line 1: the gas must be 1 to 6, got '7'"),
        (line(1, range(128), ppm=";"), "line 1, concentration: must be a number, got ''"),
        (line(1, ["x"] * 128), "line 1, feature 1: must be a number, got 'x'"),
        (line(1, range(128)).replace(" 3:", " 4:"), "line 1: feature 3 must read '3:<value>'"),
    ],
)
def test_damaged_lines_are_refused_with_their_place(write, short, text, sentence):
    short(1)
    write("gas_drift_uci", "batch1.dat.gz", text)
    with pytest.raises(ValueError, match=rf"batch1\.dat\.gz, {sentence}"):
        load_gas()


def test_truncated_batch_is_refused(batch):
    truncate(batch)
    with pytest.raises(ValueError, match=r"batch1\.dat\.gz is damaged or truncated"):
        load_gas()


def test_lost_rows_are_noticed(write):
    write("gas_drift_uci", "batch4.dat.gz", line(1, range(128)) * 160)
    with pytest.raises(ValueError, match=r"batch4\.dat\.gz must hold 161 rows, got 160"):
        load_gas(4)


def test_missing_batch_says_where_to_get_it(folder):
    with pytest.raises(FileNotFoundError, match=r"batch7\.dat\.gz is missing.*uci.*research only"):
        load_gas(7)


@pytest.mark.parametrize("wrong", [{"batch": 11}, {"columns": "some"}])
def test_choices_that_do_not_exist_are_refused(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be"):
        load_gas(**wrong)


@pytest.mark.parametrize("batch", COUNTS)
def test_real_batches_have_their_counts(data_folder, batch):
    data = load_gas(batch, folder=data_folder)
    assert data.counts.tolist() == COUNTS[batch]
    assert data.X.shape == (sum(COUNTS[batch]), 6)


@pytest.mark.parametrize(("columns", "right"), [("steady", 0.966), ("all", 0.983)])
def test_nearest_neighbours_recognise_real_gases_as_the_notes_say(data_folder, columns, right):
    data = load_gas(1, columns, data_folder)
    splits = StratifiedShuffleSplit(5, test_size=1 / 3, random_state=0)
    model = make_pipeline(StandardScaler(), KNeighborsClassifier(1))
    scores = cross_validate(model, data.X, data.y, cv=splits)["test_score"]
    assert scores.mean() == pytest.approx(right, abs=0.02)
