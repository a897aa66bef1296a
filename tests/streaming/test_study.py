"""A study of a file in passes: its model and card do not depend on the blocks."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from ecselm.saving import load_model, save_model
from ecselm.streaming import new_blocks, refit_stream, study_stream
from ecselm.streaming.study import FEW, HashSplit
from ecselm.study import Card, ColumnNote, CostOptions, FitRequest, evaluate_table, read_table
from ecselm.tables.rows import new_rows
from ecselm.tables.schema import ColumnOptions

N = 1500
SMALL = {"n_hidden": 10, "max_epochs": 1, "population_size": 4}


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((N, 3))
    sex = rng.choice(["f", "m"], N)
    ill = x[:, 0] + (sex == "f") + 0.3 * rng.standard_normal(N) > 1
    return pd.DataFrame(
        {
            "a": x[:, 0],
            "b": np.where(rng.random(N) < 0.1, np.nan, x[:, 1]),
            "sex": sex,
            "nr": np.arange(N),
            "person": rng.integers(0, 300, N),
            "state": np.where(ill, "ill", "well"),
            "amount": x[:, 0] + x[:, 2],
        }
    )


@pytest.fixture(scope="module")
def folder(frame, tmp_path_factory):
    """Return a folder with the table in several formats."""
    folder = tmp_path_factory.mktemp("tables")
    frame.to_parquet(folder / "a.parquet")
    frame.to_csv(folder / "a.csv", index=False)
    return folder


def requested(target="state", **options):
    return FitRequest(target, **SMALL, **options)


@pytest.mark.parametrize("sample", [300, 5000])
def test_blocks_and_formats_do_not_matter(folder, frame, sample):
    parquet, csv = (
        study_stream(folder / name, requested(), block_rows=size, sample=sample)
        for name, size in (("a.parquet", 97), ("a.csv", 1000))
    )
    rows = frame.drop(columns="state")
    assert_allclose(parquet.model.predict_proba(rows), csv.model.predict_proba(rows), rtol=1e-6)
    assert parquet.card.test.scores == pytest.approx(csv.card.test.scores)
    assert parquet.card.data.n_train == csv.card.data.n_train
    assert parquet.card.data.columns == csv.card.data.columns
    number, passes = (1, "1 pass") if sample > N else (2, "2 passes")
    for done in (parquet, csv):
        assert done.card.data.notes[0] == f"Read in blocks, in {passes} over 1500 rows."
        assert done.model[-1].stream_["passes"] == number


@pytest.mark.parametrize(
    ("change", "passes"),
    [
        (lambda frame: frame, 2),
        (lambda frame: frame.assign(b=[*frame["b"][:-1].astype(str), "unknown"]), 3),
        (lambda frame: frame.assign(state=[*[1, 2] * 500, *range(500)]), 3),
    ],
    ids=["as it seems", "a word at the end", "numbers at the end"],
)
def test_a_file_is_read_once_more_where_it_is_not_as_it_seems(
    frame, tmp_path, monkeypatch, change, passes
):
    changed = change(frame)
    changed.to_csv(tmp_path / "a.csv", index=False)
    changed.to_parquet(tmp_path / "a.parquet")
    monkeypatch.setattr("ecselm.tables.text.CHUNK_BYTES", 4096)
    monkeypatch.setattr("ecselm.streaming.study.HEAD_ROWS", 200)
    whole = study_stream(tmp_path / "a.parquet", requested(), block_rows=200, sample=300)
    done = study_stream(tmp_path / "a.csv", requested(), block_rows=200, sample=300)
    assert done.model[-1].stream_["passes"] == passes
    assert done.card.data.columns == whole.card.data.columns
    assert done.card.test.scores == pytest.approx(whole.card.test.scores)


def test_notes_name_the_samples(folder):
    card = study_stream(folder / "a.parquet", requested(), block_rows=200, sample=100).card
    notes = " ".join(card.data.notes)
    assert f"chosen by 100 of the {card.data.n_train} training rows" in notes
    assert "results are of 100 of them" in notes
    assert card.data.n_test == 100
    assert sum(one.n_train for one in card.data.classes) == card.data.n_train
    assert Card.from_json(card.to_json()) == card
    assert card.test.scores["balanced_accuracy"] > 0.7


def test_rows_are_training_or_test_rows(folder, frame):
    """With all rows in the sample, training and test rows are all rows."""
    card = study_stream(folder / "a.parquet", requested(test_share=0.4), sample=5000).card
    assert card.data.n_train + card.data.n_test == N
    assert abs(card.data.n_test / N - 0.4) < 0.05


def test_equal_rows_and_groups_stay_together(frame):
    rule = HashSplit(0.3, 5)
    X = frame[["a", "sex"]]
    is_test = rule(X)
    assert 0.25 < is_test.mean() < 0.35
    np.testing.assert_array_equal(rule(X.iloc[::-1])[::-1], is_test)
    assert (HashSplit(0.3, 6)(X) != is_test).any()
    np.testing.assert_array_equal(rule(X.assign(a=0.0)), rule(X.assign(a=-0.0)))
    people = frame["person"].astype(str).to_numpy()
    by_person = pd.Series(rule(X, people)).groupby(people).nunique()
    assert (by_person == 1).all()


def test_groups_are_no_input_and_are_kept(folder):
    done = study_stream(
        folder / "a.parquet", requested(groups="person"), block_rows=300, sample=400
    )
    assert "person" not in [column.name for column in done.card.data.columns]


def test_numbers_are_predicted(folder):
    done = study_stream(folder / "a.csv", requested("amount"), block_rows=200, sample=400)
    assert done.card.request.task == "numbers"
    assert done.card.test.scores["r2"] > 0.3


def test_what_is_known_of_costs_is_kept(folder, tmp_path):
    request = requested(costs=CostOptions(worse=("ill->well > well->ill",)))
    done = study_stream(folder / "a.parquet", request, block_rows=400, sample=400)
    ill, well = done.card.learned.class_costs
    assert ill > well
    save_model(done.model, tmp_path / "m.skops", card=done.card.to_json())
    saved = load_model(tmp_path / "m.skops")
    found = evaluate_table(saved.model, done.card, read_table(folder / "a.csv"))
    assert found.scores["balanced_accuracy"] > 0.7


def test_notes_name_rows_without_a_target_and_rare_classes(frame, tmp_path):
    state = frame["state"].where(np.arange(N) % 50 > 0, None)
    state = state.where(np.arange(N) >= FEW - 3, "odd")
    frame.assign(state=state).to_parquet(tmp_path / "b.parquet")
    card = study_stream(tmp_path / "b.parquet", requested(), block_rows=333, sample=300).card
    notes = " ".join(card.data.notes)
    assert "No row of odd is a test row" in notes
    assert "rows have no state and are left out" in notes
    odd = next(one for one in card.data.classes if one.name == "odd")
    assert (odd.n_train, odd.n_test) == (FEW - 3, 0)


@pytest.mark.parametrize(
    ("wanted", "options", "sentence"),
    [
        (requested(test_share=1.5), {}, "held-out must be a share between 0 and 1"),
        (requested("State"), {}, "did you mean 'state'"),
        (requested(costs=CostOptions(worse=("il->well > well->ill",))), {}, "did you mean 'ill'"),
        (requested(), {"block_rows": 0}, "block_rows must be at least 1"),
        (requested(), {"sample": 0}, "sample must be at least 1 row"),
        (requested(test_share=1e-9), {}, "held-out must leave training rows"),
    ],
)
def test_bad_requests_are_refused(folder, wanted, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        study_stream(folder / "a.parquet", wanted, **options)


def test_other_cells_in_new_rows_are_named_by_block(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("age\n" + "1\n" * 25 + "old\n" + "2\n" * 10)
    age = ColumnNote("age", "numbers", 0, 2, "as it is")
    sentence = "block 3, which is rows 21 to 30: column 'age' must hold numbers .* row 6"
    with pytest.raises(ValueError, match=sentence):
        list(new_blocks(file, [age], block_rows=10))


@pytest.mark.parametrize("sample", [300, 5000])
def test_the_saved_model_is_solved_on_all_rows(folder, frame, sample):
    options = {"block_rows": 400, "sample": sample}
    part = study_stream(folder / "a.csv", requested(), **options)
    done = study_stream(folder / "a.csv", requested(refit=True), **options)
    assert done.card.refitted
    assert done.card.test == part.card.test
    assert f"from all {N} rows" in done.card.data.notes[-1]
    learner = done.model[-1]
    assert learner.stream_["rows"] == N
    assert learner.stream_["passes"] == part.model[-1].stream_["passes"] + 1
    # The equations of all rows, with the costs and layers of the evaluated model.
    again = refit_stream(
        part.model[-1],
        [(part.model[:-1].transform(_inputs(part, frame)), frame["state"].to_numpy())],
    )
    assert_allclose(learner.beta_, again.beta_, rtol=1e-6, atol=1e-9)


def _inputs(done, frame):
    return new_rows(frame, done.card.data.columns)


def test_labels_that_differ_by_case_and_missing_words_are_as_in_memory(frame, tmp_path):
    """In late blocks, too, and with the most frequent spelling of the whole file."""
    messy = frame.drop(columns="amount").astype({"state": object, "a": object, "sex": object})
    messy.loc[: N // 3 : 2, "state"] = messy["state"].str.upper()
    messy.loc[[3, N - 5], "state"] = ["unsure", "Unsure"]
    messy.loc[[7, N - 9], ["a", "sex"]] = "unsure"
    messy.to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(ValueError, match="case"):
        study_stream(tmp_path / "a.csv", requested(), block_rows=200, sample=5000)
    request = requested(
        label_case="merge", columns=ColumnOptions(missing=("unsure",)), positive="well"
    )
    done = study_stream(tmp_path / "a.csv", request, block_rows=200, sample=400)
    assert [one.name for one in done.card.data.classes] == ["ill", "well"]
    assert sum(one.n_train + one.n_test for one in done.card.data.classes) <= N - 2
    n_upper = messy["state"].isin(["ILL", "WELL"]).sum()
    notes = done.card.data.notes
    assert f"Labels of state in another case were changed in {n_upper} rows." in notes
    assert done.card.test.operating.class_name == "well"
    assert done.card.request.positive == "well"
    kinds = {one.name: one.kind for one in done.card.data.columns}
    assert (kinds["a"], kinds["sex"]) == ("numbers", "names")
    whole = study_stream(tmp_path / "a.csv", request, block_rows=2000, sample=400)
    assert whole.card.test.scores == pytest.approx(done.card.test.scores)
    rows = new_rows(read_table(tmp_path / "a.csv").frame, done.card.data.columns)
    assert np.isfinite(done.model.predict_proba(rows)).all()
    found = evaluate_table(done.model, done.card, read_table(tmp_path / "a.csv"))
    assert found.scores["balanced_accuracy"] > 0.7


def test_labels_of_several_cases_can_be_kept_apart(frame, tmp_path):
    messy = frame.drop(columns="amount")
    messy["state"] = np.where(np.arange(N) % 2, messy["state"], messy["state"].str.upper())
    messy.to_csv(tmp_path / "a.csv", index=False)
    card = study_stream(tmp_path / "a.csv", requested(label_case="keep"), sample=400).card
    assert [one.name for one in card.data.classes] == ["ILL", "WELL", "ill", "well"]


def test_a_positive_class_must_be_one(folder):
    with pytest.raises(ValueError, match="--positive must be a class of the target, got 'il'"):
        study_stream(folder / "a.parquet", requested(positive="il"))
