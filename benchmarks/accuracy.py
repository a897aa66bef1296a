"""Accuracy of default settings: nothing is tuned, everything has 200 hidden units."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, make_classification
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from benchmarks.opponents import PEERS, Lesson, Peer
from ecselm import ELMClassifier

DIGITS_TARGET = 0.952
FIRST_SEED = 1000  # the default draw was chosen on data of the first few seeds
SETTINGS = ((20, 1, 2.0), (10, 1, 2.0), (20, 2, 1.0), (30, 1, 1.0))
DEFAULT, UNIFORM = "ELMClassifier", "ELMClassifier, uniform draw, sigmoid"


@dataclass(frozen=True, slots=True)
class Trial:
    """How much is run."""

    n_rows: int = 20000
    n_hidden: int = 200
    seeds: int = 5
    digits_seeds: int = 5


FULL = Trial()
QUICK = Trial(n_rows=800, n_hidden=30, seeds=1, digits_seeds=1)


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Mean accuracy on one kind of data, by model; a string says why there is none."""

    data: str
    scores: dict[str, float | str]
    target: float | None = None

    @property
    def met(self) -> bool | None:
        """Tell whether our default meets the target, None if there is none."""
        score = self.scores[DEFAULT]
        return None if self.target is None or isinstance(score, str) else score >= self.target


@dataclass(frozen=True, slots=True)
class Split:
    """Rows to learn from, rows to test on, and the seed of both."""

    seed: int
    X: np.ndarray
    X_test: np.ndarray
    y: np.ndarray
    y_test: np.ndarray


def compare_accuracy(trial: Trial) -> list[Accuracy]:
    """Return the accuracies on digits and on every generator setting."""
    return [_digits(trial), *(_generated(trial, *setting) for setting in SETTINGS)]


def _digits(trial: Trial) -> Accuracy:
    X, y = load_digits(return_X_y=True)
    splits = [
        Split(seed, *train_test_split(X, y, test_size=0.2, stratify=y, random_state=seed))
        for seed in range(FIRST_SEED, FIRST_SEED + trial.digits_seeds)
    ]
    return Accuracy("digits", {DEFAULT: _ours(splits, trial)}, DIGITS_TARGET)


def _generated(trial: Trial, informative: int, clusters: int, separation: float) -> Accuracy:
    splits = list(_splits(trial, informative, clusters, separation))
    scores: dict[str, float | str] = {DEFAULT: _ours(splits, trial)}
    for peer in PEERS:
        scores[peer.name] = peer.missing or _theirs(peer, splits, trial)
    scores[UNIFORM] = _ours(splits, trial, draw="uniform", activation="sigmoid")
    data = f"informative {informative}, clusters per class {clusters}, separation {separation:g}"
    return Accuracy(data, scores)


def _splits(trial: Trial, informative: int, clusters: int, separation: float) -> Iterator[Split]:
    for seed in range(FIRST_SEED, FIRST_SEED + trial.seeds):
        X, y = make_classification(
            n_samples=trial.n_rows,
            n_features=50,
            n_informative=informative,
            n_clusters_per_class=clusters,
            class_sep=separation,
            n_classes=10,
            random_state=seed,
        )
        yield Split(seed, *train_test_split(X, y, test_size=0.25, random_state=seed))


def _ours(splits: list[Split], trial: Trial, **settings: Any) -> float:
    scores = []
    for split in splits:
        model = ELMClassifier(trial.n_hidden, random_state=split.seed, **settings)
        scores.append(model.fit(split.X, split.y).score(split.X_test, split.y_test))
    return float(np.mean(scores))


def _theirs(peer: Peer, splits: list[Split], trial: Trial) -> float:
    scores = []
    for split in splits:
        scaler = StandardScaler().fit(split.X)
        lesson = Lesson(scaler.transform(split.X), split.y, trial.n_hidden, seed=split.seed)
        predicted = peer.run(lesson)(scaler.transform(split.X_test))
        scores.append(np.mean(predicted == split.y_test))
    return float(np.mean(scores))
