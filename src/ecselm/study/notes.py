"""Warnings about the data and the results of a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import balanced_accuracy_score
from sklearn.tree import DecisionTreeClassifier

from ecselm._typing import AnyArray
from ecselm._wording import listed
from ecselm.estimators._prior_test import FEW
from ecselm.metrics import get_metric
from ecselm.study.card import Baseline, Card
from ecselm.study.evaluate import CONSTANT
from ecselm.tables.schema import Task

MIN_LEAK_ROWS = 20  # among fewer, some column determines the target by chance
MAX_LEAK_ROWS = 2000
LEAK_ACCURACY = 0.99  # balanced
LEAK_CORRELATION = 0.999
FEW_TEST_ROWS = 10  # of a class
SMALL_TEST_SET = 50
MISCALIBRATED = 0.1  # expected calibration error
IMBALANCED = 3.0  # rows of the largest class for one of the smallest
MOSTLY = 0.5  # share of answers that do not depend on unknown costs
SUSPICIOUS = 20  # test rows without a mistake


def leaking_columns(X: Any, y: Any, task: Task) -> tuple[str, ...]:
    """Return the columns each of which nearly determines the target.

    A class must follow from a column by as many intervals, or at most twice as many names, as
    there are classes; a number by a straight line.

    Parameters
    ----------
    X : array or dataframe of shape (N, n)
        Training rows; a sparse matrix has no result.
    y : array of shape (N,)
    task : {"classes", "numbers"}

    Examples
    --------
    >>> import pandas as pd
    >>> y = np.repeat(["ill", "well"], 20)
    >>> frame = pd.DataFrame({"age": np.arange(40) % 7, "drug": np.where(y == "ill", "yes", "no")})
    >>> leaking_columns(frame, y, "classes")
    ('drug',)
    """
    if sparse.issparse(X) or len(y) < MIN_LEAK_ROWS:
        return ()
    rows = np.unique(np.linspace(0, len(y) - 1, min(len(y), MAX_LEAK_ROWS)).astype(np.intp))
    y_true = np.asarray(y)[rows]
    leaks = _class_leaks if task == "classes" else _number_leaks
    return tuple(name for name, values in _columns(X) if leaks(values[rows], y_true))


def _columns(X: Any) -> list[tuple[str, AnyArray]]:
    if hasattr(X, "columns"):
        return [(str(name), np.asarray(X[name])) for name in X.columns]
    table = np.asarray(X)
    return [(f"column {i + 1}", table[:, i]) for i in range(table.shape[1])]


def _class_leaks(values: AnyArray, y_true: AnyArray) -> bool:
    classes, codes = np.unique(y_true, return_inverse=True)
    if len(classes) < 2:
        return False
    if values.dtype.kind in "biuf":
        tree = DecisionTreeClassifier(max_leaf_nodes=len(classes), random_state=0)
        column = values.astype(np.float64)[:, np.newaxis]
        if np.isinf(column).any():
            return False
        y_pred = tree.fit(column, codes).predict(column)
    else:
        kinds, places = np.unique([str(value) for value in values.tolist()], return_inverse=True)
        if len(kinds) > 2 * len(classes):
            return False
        table = np.zeros((len(kinds), len(classes)))
        np.add.at(table, (places, codes), 1.0)
        y_pred = table.argmax(axis=1)[places]
    return bool(balanced_accuracy_score(codes, y_pred) >= LEAK_ACCURACY)


def _number_leaks(values: AnyArray, y_true: AnyArray) -> bool:
    if values.dtype.kind not in "biuf":
        return False
    column, target = values.astype(np.float64), y_true.astype(np.float64)
    known = np.isfinite(column) & np.isfinite(target)
    column, target = column[known], target[known]
    if len(column) < MIN_LEAK_ROWS or np.ptp(column) == 0 or np.ptp(target) == 0:
        return False
    return bool(abs(np.corrcoef(column, target)[0, 1]) >= LEAK_CORRELATION)


def warnings_of(card: Card, *, leaks: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the warnings about a model, a sentence or two each.

    Parameters
    ----------
    card : Card
        All but its warnings.
    leaks : sequence of str, default=()
        Columns that nearly determine the target.

    Examples
    --------
    >>> from ecselm.study import DataSummary, Evaluation, RequestSummary
    >>> request = RequestSummary("numbers", "price", "mae", (), 0.25, 0)
    >>> card = Card(request, DataSummary("a.csv", 300, 100, (), ()), Evaluation({"mae": 1.0}))
    >>> warnings_of(card, leaks=["price in cents"])
    ('The column price in cents alone predicts the target almost perfectly. If it is not known at
    prediction time, the results are too good to be true: leave it out.',)
    """
    rules = (
        _leak(card, leaks),
        _interrupted(card),
        _undefined_metric(card),
        _baseline_leads(card),
        _few_training_rows(card),
        _few_test_rows(card),
        _small_test_set(card),
        _majority_metric(card),
        _kept_prior(card),
        _mostly_open(card),
        _miscalibrated(card),
    )
    return tuple(sentence for rule in rules for sentence in rule)


def _leak(card: Card, leaks: Sequence[str]) -> Iterator[str]:
    if len(leaks) == 1:
        yield (
            f"The column {leaks[0]} alone predicts the target almost perfectly. If it is not known "
            "at prediction time, the results are too good to be true: leave it out."
        )
    elif leaks:
        yield (
            f"Each of the columns {listed(leaks)} alone predicts the target almost perfectly. If "
            "they are not known at prediction time, the results are too good to be true: leave "
            "them out."
        )
    elif _is_perfect(card):
        yield (
            f"All {card.data.n_test} test rows are predicted correctly, which is rare. Check "
            "whether a column contains the target, or something that is only known afterwards."
        )


def _is_perfect(card: Card) -> bool:
    scores = card.test.scores
    perfect = scores.get("accuracy", 0.0) == 1.0 or scores.get("r2", 0.0) > 0.9999
    return perfect and card.data.n_test >= SUSPICIOUS


def _interrupted(card: Card) -> Iterator[str]:
    if card.search is not None and card.search.interrupted:
        yield (
            f"The search was interrupted after {card.search.n_evaluations} candidates; the best so "
            "far is used, and a full search may find a better one."
        )


def _undefined_metric(card: Card) -> Iterator[str]:
    if card.request.metric not in card.test.scores:
        yield (
            f"The requested metric, {card.request.metric}, is not defined on the test rows, for "
            "instance because a class has none: see the other scores."
        )


def _baseline_leads(card: Card) -> Iterator[str]:
    metric = get_metric(card.request.metric)
    own = card.test.scores.get(metric.name)
    never = [one.name for one in card.test.recalls if one.value == 0]
    if own is None:
        return
    if metric.name == "gmean" and never:
        yield f"gmean is 0 because no test row of {listed(never)} is recognised."
        return
    values = {
        one.name: one.scores[metric.name] for one in card.baselines if metric.name in one.scores
    }
    if any(metric.advantage(own, values[name]) <= 0 for name in CONSTANT if name in values):
        yield (
            f"By {metric.name} the model is no better on the test rows than one constant "
            "prediction: do not use it as it is."
        )
        return
    best = card.best_baseline()
    if best is not None and metric.advantage(own, best.scores[metric.name]) < 0:
        yield (
            f"A baseline is better on the test rows: {metric.name} is "
            f"{best.scores[metric.name]:.3g} with {best.name} and {own:.3g} with this model."
            f"{_chance(best)}"
        )


def _chance(baseline: Baseline) -> str:
    if baseline.difference is None:
        return ""
    if baseline.difference.beyond_chance:
        return " The difference is larger than chance explains: prefer the baseline."
    return " The difference may be chance."


def _few_training_rows(card: Card) -> Iterator[str]:
    few = [one for one in card.data.classes if one.n_train < FEW]
    if few:
        counts = [f"{one.name} ({one.n_train})" for one in few]
        yield (
            f"Fewer than {FEW} training rows of {listed(counts)}: few to learn from, and too few "
            "to learn costs from."
        )


def _few_test_rows(card: Card) -> Iterator[str]:
    missing = [one.name for one in card.data.classes if not one.n_test]
    if missing:
        yield f"No test row of {listed(missing)}: the recall is unknown."
    few = [one for one in card.test.recalls if one.n < FEW_TEST_ROWS]
    if few:
        ranges = [f"{one.name} ({one.n}, {one.low:.0%} to {one.high:.0%})" for one in few]
        yield (
            f"Fewer than {FEW_TEST_ROWS} test rows of {listed(ranges)}: the recall is only known "
            "within these wide bounds."
        )


def _small_test_set(card: Card) -> Iterator[str]:
    n = card.data.n_test
    if n >= SMALL_TEST_SET:
        return
    if card.request.task == "classes":
        error = 1.96 * np.sqrt(0.25 / n)
        yield (
            f"Only {n} test rows: a share of them, such as the accuracy, may be off by up to "
            f"{100 * error:.0f} percentage points by chance."
        )
    else:
        yield f"Only {n} test rows: errors on other rows may differ considerably."


def _majority_metric(card: Card) -> Iterator[str]:
    counts = [one.n_train for one in card.data.classes if one.n_train]
    favours_majority = get_metric(card.request.metric).favours_majority
    if not favours_majority or not counts or max(counts) < IMBALANCED * min(counts):
        return
    largest = max(card.data.classes, key=lambda one: one.n_train)
    yield (
        f"{card.request.metric} says little for classes this imbalanced: always predicting "
        f"{largest.name} is right in {largest.n_train / sum(counts):.0%} of the training rows. "
        "See the recall of each class, or use gmean or balanced_accuracy."
    )


def _kept_prior(card: Card) -> Iterator[str]:
    learned = card.learned
    if learned is None or not learned.keeps_prior or not card.has_learned_costs():
        return
    if card.search is None and learned.gain is None:  # a model that learns no costs
        return
    much = ""
    if learned.gain is not None and learned.gain_std_error is not None:
        much = f" ({learned.gain:+.3g}, s.e. {learned.gain_std_error:.3g})"
    if card.test.cost_matrix is not None and get_metric(card.request.metric).uses_cost:
        yield (
            f"Learned costs did not beat the stated costs on validation rows{much}, so the stated "
            "costs are used."
        )
        return
    # A metric that counts no costs has defaults of its own, whatever costs are stated.
    is_bound = card.test.cost_low is not None
    stated = ", class balance and stated costs" if is_bound else " and class balance"
    yield (
        f"Learned costs did not beat the default costs on validation rows{much}, so the defaults "
        f"for this metric{stated} are used."
    )


def _mostly_open(card: Card) -> Iterator[str]:
    found = card.test.unknown
    if found is None or found.assumed is not None or found.n_settled >= MOSTLY * found.n:
        return
    yield (
        "Most answers depend on costs that are not known, so the model is only as good as the "
        "guess between them: state narrower ranges or ratios."
    )


def _miscalibrated(card: Card) -> Iterator[str]:
    curve = card.test.reliability
    if curve is None or curve.area is None or not card.data.n_test:
        return
    predicted = np.array(curve.x)
    # Perfect probabilities have this calibration error by chance, too.
    variances = 2.0 / np.pi * predicted * (1.0 - predicted) * len(predicted) / card.data.n_test
    if curve.area > max(MISCALIBRATED, 2.0 * np.sqrt(variances).mean()):
        yield (
            f"Probabilities are off by {100 * curve.area:.0f} percentage points on average: do not "
            "take them literally."
        )
