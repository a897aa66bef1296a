"""Defaults good enough to be used untuned."""

import gzip

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_digits, load_wine, make_classification, make_moons
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import StratifiedKFold, cross_val_score, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.random_projection import GaussianRandomProjection

from ecselm import ELMClassifier, ELMRegressor


def test_digits_with_200_units_reach_952_in_the_mean_of_five_seeds():
    X, y = load_digits(return_X_y=True)
    accuracies = []
    for seed in range(5):
        A, B, a, b = train_test_split(X, y, test_size=0.2, random_state=seed, stratify=y)
        accuracies.append(ELMClassifier(200, random_state=seed).fit(A, a).score(B, b))
    assert np.mean(accuracies) >= 0.952


def test_many_classes_beat_plain_uniform_draws():
    X, y = make_classification(
        6000, 50, n_informative=20, n_clusters_per_class=1, n_classes=10, random_state=0
    )
    A, B, a, b = train_test_split(X, y, random_state=0)
    ours = ELMClassifier(200, random_state=0).fit(A, a).score(B, b)
    uniform = ELMClassifier(200, draw="uniform", activation="sigmoid", random_state=0)
    assert ours > uniform.fit(A, a).score(B, b) + 0.02


@pytest.mark.parametrize("draw", ["orthogonal", "normal", "sobol", "halton"])
def test_few_inputs_and_small_sets_work_too(draw):
    X, y = make_moons(600, noise=0.2, random_state=0)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    model = ELMClassifier(draw=draw, random_state=0)
    assert cross_val_score(model, X, y, cv=folds).mean() > 0.95
    X, y = load_wine(return_X_y=True)
    assert cross_val_score(model, X, y, cv=folds).mean() > 0.94


def test_regression_beats_the_mean():
    X, y = load_diabetes(return_X_y=True)
    assert cross_val_score(ELMRegressor(50, C=0.1, random_state=0), X, y).mean() > 0.35


def test_real_gases_are_told_apart(data_folder):
    """Gas drift, batch 1: an ELM does at least as well as the nearest neighbour."""
    X, y = _gas_batch_1(data_folder)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    elm = cross_val_score(ELMClassifier(200, random_state=0), X, y, cv=folds).mean()
    layer = Nystroem(n_components=200, gamma=1e-9, random_state=0)
    nystroem = cross_val_score(ELMClassifier(hidden_layer=layer), X, y, cv=folds).mean()
    neighbour = cross_val_score(KNeighborsClassifier(1), X, y, cv=folds).mean()
    majority = np.bincount(y).max() / len(y)
    assert elm >= neighbour - 0.01
    assert nystroem > majority


def _gas_batch_1(folder):
    """Read lines of the form ``class;concentration 1:value 2:value ...``."""
    with gzip.open(folder / "gas_drift_uci" / "batch1.dat.gz", "rt") as file:
        lines = [line.split() for line in file]
    X = np.array([[float(pair.split(":")[1]) for pair in line[1:]] for line in lines])
    return X, np.array([int(line[0].split(";")[0]) for line in lines])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataDimensionalityWarning")
@pytest.mark.parametrize(
    ("n_informative", "n_clusters", "class_sep"),
    [(20, 1, 2.0), (10, 1, 2.0), (20, 2, 1.0), (30, 1, 1.0)],
)
def test_defaults_reach_the_best_peer_on_20000_rows(n_informative, n_clusters, class_sep):
    """The peer is scikit-elm's machine: normal projections of variance 1/L, tanh, alpha 1e-7."""
    X, y = make_classification(
        20_000,
        50,
        n_informative=n_informative,
        n_clusters_per_class=n_clusters,
        class_sep=class_sep,
        n_classes=10,
        random_state=0,
    )
    A, B, a, b = train_test_split(X, y, random_state=0)
    ours, peer = [], []
    for seed in range(3):
        layer = make_pipeline(
            StandardScaler(),
            GaussianRandomProjection(200, random_state=seed),
            FunctionTransformer(np.tanh),
        )
        ours.append(ELMClassifier(200, random_state=seed).fit(A, a).score(B, b))
        peer.append(ELMClassifier(hidden_layer=layer, C=1e7).fit(A, a).score(B, b))
    assert np.mean(ours) >= np.mean(peer)
