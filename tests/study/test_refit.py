"""The model that is fitted again on all rows, and when it is not."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from ecselm.study import Card, FitRequest, Table, predicted_rows, study_table
from ecselm.study import run as study_run

SMALL = {"n_hidden": 8, "max_epochs": 1, "population_size": 4}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    size = rng.standard_normal(90)
    state = np.where(size + 0.5 * rng.standard_normal(90) > 0.3, "ill", "well")
    return Table(pd.DataFrame({"size": size, "age": rng.random(90), "state": state}))


def failing_second_fit(monkeypatch, error):
    """Let every fit but the first raise an error."""
    fit_steps, n_fits = study_run.fit_steps, 0

    def fitted(*args, **options):
        nonlocal n_fits
        n_fits += 1
        if n_fits > 1:
            raise error
        return fit_steps(*args, **options)

    monkeypatch.setattr(study_run, "fit_steps", fitted)


def test_it_is_the_model_that_all_rows_give(table):
    request = FitRequest("state", model_name="logistic", refit=True)
    result = study_table(table, request)
    part = study_table(table, replace(request, refit=False))
    assert result.card.refitted
    assert result.card.test == part.card.test
    assert result.card.data.notes[-1] == (
        "The saved model was fitted again on all 90 rows. All results and costs shown are of the "
        f"model fitted on the {part.card.data.n_train} training rows."
    )
    assert Card.from_json(result.card.to_json()) == result.card
    X = predicted_rows(part.card, table)
    steps = [step for _, step in part.model.steps[:-1]]
    seen = X
    for step in steps:
        seen = step.fit(seen).transform(seen)
    expected = part.model[-1].fit(seen, table.frame["state"]).predict_proba(seen)
    assert_allclose(result.model.predict_proba(X), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (KeyboardInterrupt(), "The fit on all rows was interrupted, so the model is the one"),
        (ValueError("no luck"), "The fit on all rows failed (no luck), so the model is the one"),
        (MemoryError(), "The fit on all rows failed (MemoryError), so the model is the one"),
    ],
    ids=["interrupted", "refused", "memory"],
)
def test_the_evaluated_model_is_not_lost(table, monkeypatch, error, sentence):
    failing_second_fit(monkeypatch, error)
    result = study_table(table, FitRequest("state", refit=True, **SMALL))
    assert not result.card.refitted
    assert result.card.data.notes[-1].startswith(sentence)
    assert len(result.model.predict(predicted_rows(result.card, table))) == 90


def test_numbers_are_fitted_again_too(table):
    request = FitRequest("age", task="numbers", model_name="ridge", refit=True)
    assert study_table(table, request).card.refitted
