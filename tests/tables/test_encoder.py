"""The typing of tables as a transformer of scikit-learn."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from lightgbm import LGBMClassifier
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from ecselm import ELMClassifier
from ecselm.study import plan_columns, training_rows
from ecselm.tables import TableEncoder

N = 80


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "patient_id": rng.permutation(10**6)[:N],
            "size": rng.standard_normal(N),
            "site": rng.choice(["Köln", "köln", "Bonn"], N),
            "kind": pd.Categorical(rng.choice(["a", "b"], N)),
            "ok": rng.choice([True, False], N),
            "seen": pd.date_range("2024-01-01", periods=N),
            "said": pd.date_range("2024-01-01", periods=N).strftime("%d.%m.%Y"),
            "paid": [f"${n},000" for n in range(1, N + 1)],
        }
    )
    table.loc[3, "size"] = np.nan
    table.loc[5::15, "paid"] = "unknown"
    return table


@pytest.fixture(scope="module")
def y(frame):
    return (frame["size"].fillna(0) > 0).astype(int)


@parametrize_with_checks([TableEncoder()])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def test_it_encodes_as_the_command_does(frame, y):
    table = frame.assign(y=y)
    plan = plan_columns(table, "y")
    encoder = TableEncoder()
    X = encoder.fit_transform(frame)
    assert encoder.columns_ == plan.columns
    assert_array_equal(X, plan.transformer().fit_transform(training_rows(table, plan).X))


def test_names_say_what_columns_are(frame):
    encoder = TableEncoder().set_output(transform="pandas").fit(frame)
    made = encoder.transform(frame)
    assert made.columns.tolist() == [
        *("size", "ok", "paid", "size is missing", "paid is missing", "seen", "said"),
        *("site_Bonn", "site_köln", "kind_a", "kind_b"),
    ]
    assert_array_equal(made["seen"], made["said"])
    assert made["site_köln"].sum() == (frame["site"].str.lower() == "köln").sum()
    assert made["paid"][0] == 1000
    assert_array_equal(made.index, frame.index)


def test_names_that_two_columns_would_have_differ():
    table = pd.DataFrame({"a": list("xyxy"), "a_x": [1.0, 2, 3, 5]})
    names = TableEncoder().fit(table).get_feature_names_out().tolist()
    assert names == ["a_x", "a_x'", "a_y"]


def test_options_are_those_of_the_command(frame):
    table = frame.assign(
        size=["-9", *frame["size"].astype(str)[1:]], when=["05/03/2024"] * 40 + ["06/04/2024"] * 40
    )
    encoder = TableEncoder(drop=["paid"], missing=["-9"], day_first=True).fit(table)
    notes = {note.name: note for note in encoder.columns_}
    assert notes["paid"].kind == "dropped"
    assert notes["size"].n_missing == 2
    assert notes["when"].format == "day first"
    assert encoder.notes_ == ()
    assert "month first" in TableEncoder().fit(table).notes_[0]


@pytest.mark.parametrize("model", [ELMClassifier(10, random_state=0), LGBMClassifier(verbose=-1)])
def test_it_is_a_step_of_a_pipeline(frame, y, model):
    pipeline = make_pipeline(TableEncoder(), model)
    assert cross_val_score(clone(pipeline), frame, y, cv=3).mean() > 0.7
    fitted = pickle.loads(pickle.dumps(pipeline.fit(frame, y)))
    strange = frame.assign(site="Rom", size=None)
    assert_array_equal(fitted.predict(strange), pipeline.predict(strange))


def test_frames_of_polars_are_read(frame):
    table = frame.drop(columns="kind")
    assert_array_equal(
        TableEncoder().fit_transform(pl.from_pandas(table)), TableEncoder().fit_transform(table)
    )


def test_new_cells_of_another_kind_are_refused(frame):
    encoder = TableEncoder().fit(frame)
    with pytest.raises(ValueError, match="column 'said' must hold dates such as 31"):
        encoder.transform(frame.assign(said="May"))
    with pytest.raises(ValueError, match="feature names"):
        encoder.transform(frame.drop(columns="site"))


def test_parameters_that_cannot_be_are_refused(frame):
    with pytest.raises(TypeError, match="drop must be a sequence of texts, got 'paid'"):
        TableEncoder(drop="paid").fit(frame)
    with pytest.raises(ValueError, match="--drop must name columns of the table, got 'pay'"):
        TableEncoder(drop=["pay"]).fit(frame)
    with pytest.raises(ValueError, match="a column that can be encoded, got 'a "):
        TableEncoder().fit(pd.DataFrame({"a": [1, 1]}))
