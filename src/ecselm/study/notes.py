"""Warnings that a reader of results needs before believing them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import balanced_accuracy_score
from sklearn.tree import DecisionTreeClassifier

from ecselm._typing import AnyArray
from ecselm._wording import listed
from ecselm.estimators._prior_test import FEW
from ecselm.metrics import get_metric
from ecselm.study.card import Card
from ecselm.study.costs import ALIKE
from ecselm.study.evaluate import CONSTANT, best_of
from ecselm.study.scores import better
from ecselm.tables.schema import Task

ENOUGH = 20  # rows; among fewer some column tells the answer by chance
MOST_ROWS = 2000
NEARLY_ALL = 0.99  # of every class on average
STRAIGHT = 0.999  # correlation with a number
FEW_HELD_OUT = 10  # rows of a class
SMALL = 50  # rows held out
MISCALIBRATED = 0.1  # expected calibration error
UNEQUAL = 3.0  # rows of the largest class for one of the smallest
SUSPICIOUS = 20  # held-out rows without a mistake


def telling_columns(X: Any, y: Any, task: Task) -> tuple[str, ...]:
    """Return the columns each of which nearly determines the target.

    A class must follow from a column by as many intervals, or at most twice as many names, as
    there are classes; a number by a straight line.

    Parameters
    ----------
    X : array or dataframe of shape (N, n)
        Training rows; of a sparse matrix nothing is said.
    y : array of shape (N,)
    task : {"classes", "numbers"}

    Examples
    --------
    >>> import pandas as pd
    >>> y = np.repeat(["ill", "well"], 20)
    >>> frame = pd.DataFrame({"age": np.arange(40) % 7, "drug": np.where(y == "ill", "yes", "no")})
    >>> telling_columns(frame, y, "classes")
    ('drug',)
    """
    if sparse.issparse(X) or len(y) < ENOUGH:
        return ()
    rows = np.unique(np.linspace(0, len(y) - 1, min(len(y), MOST_ROWS)).astype(np.intp))
    truth = np.asarray(y)[rows]
    told = _class_told if task == "classes" else _number_told
    return tuple(name for name, values in _columns(X) if told(values[rows], truth))


def _columns(X: Any) -> list[tuple[str, AnyArray]]:
    if hasattr(X, "columns"):
        return [(str(name), np.asarray(X[name])) for name in X.columns]
    table = np.asarray(X)
    return [(f"column {i + 1}", table[:, i]) for i in range(table.shape[1])]


def _class_told(values: AnyArray, truth: AnyArray) -> bool:
    classes, codes = np.unique(truth, return_inverse=True)
    if len(classes) < 2:
        return False
    if values.dtype.kind in "biuf":
        tree = DecisionTreeClassifier(max_leaf_nodes=len(classes), random_state=0)
        column = values.astype(np.float64)[:, np.newaxis]
        if np.isinf(column).any():
            return False
        guesses = tree.fit(column, codes).predict(column)
    else:
        kinds, places = np.unique([str(value) for value in values.tolist()], return_inverse=True)
        if len(kinds) > 2 * len(classes):
            return False
        table = np.zeros((len(kinds), len(classes)))
        np.add.at(table, (places, codes), 1.0)
        guesses = table.argmax(axis=1)[places]
    return bool(balanced_accuracy_score(codes, guesses) >= NEARLY_ALL)


def _number_told(values: AnyArray, truth: AnyArray) -> bool:
    if values.dtype.kind not in "biuf":
        return False
    column, target = values.astype(np.float64), truth.astype(np.float64)
    known = np.isfinite(column) & np.isfinite(target)
    column, target = column[known], target[known]
    if len(column) < ENOUGH or np.ptp(column) == 0 or np.ptp(target) == 0:
        return False
    return bool(abs(np.corrcoef(column, target)[0, 1]) >= STRAIGHT)


def warnings_of(
    card: Card,
    *,
    beyond_chance: Mapping[str, bool] | None = None,
    telling: Sequence[str] = (),
) -> tuple[str, ...]:
    """Return what there is to be warned of, in sentences for whoever reads the results.

    Parameters
    ----------
    card : Card
        All but its warnings.
    beyond_chance : dict of str to bool, default=None
        By the name of a compared model: whether it differs by more than the choice of the
        rows. Nothing is said of chance where it was not tested.
    telling : sequence of str, default=()
        Columns that nearly determine the target.

    Examples
    --------
    >>> from ecselm.study import Asked, DataGlance, HeldOut
    >>> asked = Asked("numbers", "price", "mae", (), 0.25, 0)
    >>> card = Card(asked, DataGlance("a.csv", 300, 100, (), ()), HeldOut({"mae": 1.0}))
    >>> warnings_of(card, telling=["price in cents"])
    ('The column price in cents alone tells nearly every answer. If it is not known before the
    answer is, results are too good to be true: leave it out.',)
    """
    rules = (
        _leak(card, telling),
        _interrupted(card),
        _no_score(card),
        _plainer_is_better(card, beyond_chance or {}),
        _few_training_rows(card),
        _few_held_out_rows(card),
        _small_part(card),
        _blind_metric(card),
        _nothing_gained(card),
        _miscalibrated(card),
    )
    return tuple(sentence for rule in rules for sentence in rule)


def _leak(card: Card, telling: Sequence[str]) -> Iterator[str]:
    if len(telling) == 1:
        yield (
            f"The column {telling[0]} alone tells nearly every answer. If it is not known before "
            "the answer is, results are too good to be true: leave it out."
        )
    elif telling:
        yield (
            f"Each of the columns {listed(telling)} alone tells nearly every answer. If they are "
            "not known before the answer is, results are too good to be true: leave them out."
        )
    elif _is_perfect(card):
        yield (
            f"Not one of {card.data.n_held_out} held-out rows is predicted wrong, which is rare in "
            "earnest. See whether a column holds the answer, or something that is only known after."
        )


def _is_perfect(card: Card) -> bool:
    scores = card.held_out.scores
    perfect = scores.get("accuracy", 0.0) == 1.0 or scores.get("r2", 0.0) > 0.9999
    return perfect and card.data.n_held_out >= SUSPICIOUS


def _interrupted(card: Card) -> Iterator[str]:
    if card.progress is not None and card.progress.interrupted:
        yield (
            f"The search was interrupted after {card.progress.n_evaluations} candidates: the best "
            "so far is kept, and a whole search may find better."
        )


def _no_score(card: Card) -> Iterator[str]:
    if card.asked.metric not in card.held_out.scores:
        yield (
            f"The metric asked for, {card.asked.metric}, is not defined on the held-out rows, "
            "for instance because a class is missing among them: judge by the others."
        )


def _plainer_is_better(card: Card, beyond_chance: Mapping[str, bool]) -> Iterator[str]:
    metric, own = card.asked.metric, card.held_out.scores.get(card.asked.metric)
    never = [one.name for one in card.held_out.recalls if one.value == 0]
    if own is None:
        return
    if metric == "gmean" and never:
        yield f"gmean is 0 because not one held-out row of {listed(never)} was recognised."
        return
    constant = best_of([one for one in card.compared if one.name in CONSTANT], metric)
    best = best_of(card.compared, metric)
    if constant is not None and not better(own, constant.scores[metric], metric):
        yield (
            f"By {metric} the model is no better on the held-out rows than giving the same answer "
            "to every row: do not use it as it is."
        )
    elif best is not None and better(best.scores[metric], own, metric):
        yield (
            f"A plainer model did better on the held-out rows: {metric} is "
            f"{best.scores[metric]:.3g} with {best.name} and {own:.3g} with this one."
            f"{_of_chance(beyond_chance.get(best.name))}"
        )


def _of_chance(differs: bool | None) -> str:
    if differs is None:
        return ""
    if differs:
        return " The difference is larger than chance explains: prefer the plainer one."
    return " The difference is no larger than chance explains on so many rows."


def _few_training_rows(card: Card) -> Iterator[str]:
    few = [one for one in card.data.classes if one.n_train < FEW]
    if few:
        counts = [f"{one.name} ({one.n_train})" for one in few]
        yield (
            f"Fewer than {FEW} training rows belong to {listed(counts)}: that is little to learn "
            "from, and too little to learn costs from."
        )


def _few_held_out_rows(card: Card) -> Iterator[str]:
    missing = [one.name for one in card.data.classes if not one.n_held_out]
    if missing:
        yield (
            f"No held-out row belongs to {listed(missing)}: nothing is known of how well "
            f"{'it is' if len(missing) == 1 else 'they are'} recognised."
        )
    few = [one for one in card.held_out.recalls if one.n < FEW_HELD_OUT]
    if few:
        ranges = [f"{one.name} ({one.n}, {one.low:.0%} to {one.high:.0%})" for one in few]
        yield (
            f"Fewer than {FEW_HELD_OUT} held-out rows belong to {listed(ranges)}: the share "
            "recognised is known within these wide bounds only."
        )


def _small_part(card: Card) -> Iterator[str]:
    n = card.data.n_held_out
    if n >= SMALL:
        return
    if card.asked.task == "classes":
        off = 1.96 * np.sqrt(0.25 / n)
        yield (
            f"Only {n} rows were held out: a share of them, such as the accuracy, may be off by "
            f"some {100 * off:.0f} percentage points by chance alone."
        )
    else:
        yield f"Only {n} rows were held out: other rows may give quite other errors."


def _blind_metric(card: Card) -> Iterator[str]:
    counts = [one.n_train for one in card.data.classes if one.n_train]
    is_blind = get_metric(card.asked.metric).favours_majority
    if not is_blind or not counts or max(counts) < UNEQUAL * min(counts):
        return
    largest = max(card.data.classes, key=lambda one: one.n_train)
    yield (
        f"{card.asked.metric} says little where classes are this unequal: always answering "
        f"{largest.name} is right in {largest.n_train / sum(counts):.0%} of the training rows. "
        "Look at the share recognised of each class, or ask for gmean or balanced_accuracy."
    )


def _nothing_gained(card: Card) -> Iterator[str]:
    learned = card.learned
    if learned is None or not learned.keeps_prior:
        return
    if card.settings.get("keep_prior") == repr("always"):  # then nothing was to be gained
        return
    much = ""
    if learned.gain is not None and learned.gain_noise is not None:
        much = f" ({learned.gain:+.3g}, with a noise of {learned.gain_noise:.3g})"
    yield (
        f"Learning costs gained no more than chance on rows not trained on{much}. The costs shown "
        "were not learned: they are what the metric, the sizes of the classes and what was "
        "stated ask for."
    )


def _miscalibrated(card: Card) -> Iterator[str]:
    curve = card.held_out.reliability
    if curve is None or curve.area is None or not card.data.n_held_out:
        return
    told = np.array(curve.x)
    # Perfect probabilities are off by this much, too, by the chance of what comes true.
    noise = np.sqrt(2.0 / np.pi * told * (1.0 - told) * len(told) / card.data.n_held_out).mean()
    if curve.area > max(MISCALIBRATED, 2.0 * noise):
        yield (
            f"Probabilities are off by {100 * curve.area:.0f} percentage points on average: do not "
            f"read them as chances.{_leaning(card)}"
        )


def _leaning(card: Card) -> str:
    if card.learned is None:
        return ""
    costs = [cost for cost in card.learned.class_costs if cost > 0]
    if not costs or max(costs) <= ALIKE * min(costs):
        return ""
    return " Models that weigh mistakes unequally lean towards the classes that are dear to miss."
