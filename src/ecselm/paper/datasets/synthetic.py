"""Stand-ins for the paper's data: drawn, not measured, and marked so.

Each has the sizes, the classes and the class counts of the paper, and as much random
variance as brings a plain extreme learning machine with this package's defaults near the
paper's figure for it, on average over seeds. Nothing else about them is like the data:
they are for trying protocols out, and no number from them says anything about the paper's.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ecselm._random import as_generator
from ecselm._typing import FloatArray
from ecselm.paper.datasets.beauty import N_PEOPLE, beauty_dataset, check_m2b_choice
from ecselm.paper.datasets.dataset import Dataset, PairSet
from ecselm.paper.datasets.gases import GAS_COUNTS, enose_dataset

MADE = "SYNTHETIC stand-in for the paper's {}, drawn by ecselm: same sizes, other data; no terms."
# Standard deviation of the scores, and the share of their variance that the features explain.
_BEAUTY = {
    ("facial_geometric", "E"): (1.95, 0.25),
    ("facial_geometric", "W"): (1.95, 0.3),
    ("facial_appearance", "E"): (1.95, 0.3),
    ("facial_appearance", "W"): (1.9, 0.4),
    ("dressing", "E"): (1.7, 0.3),
    ("dressing", "W"): (2.05, 0.1),
    ("vocal", "E"): (1.45, 0.2),
    ("vocal", "W"): (1.75, 0.2),
}
AR_AGEING, AR_STD = 0.5, 1.65  # against 1 between persons
LFW_SHARE, LFW_DEPTH = 0.6, 40.0  # of a person in the first component, and how it fades
ENOSE_STD = 0.05  # against responses from 0 to 1


def make_m2b_like(
    features: str = "facial_appearance",
    culture: Literal["E", "W"] = "E",
    target: Literal["level", "score"] = "level",
    random_state: Any = None,
) -> Dataset:
    """Draw 620 women of one culture: principal components, and scores about 5.5.

    The paper gives no counts of its five levels. Here they follow from a normal
    distribution of scores, about as wide as the errors of the paper's regressions say.

    Parameters
    ----------
    features : {"facial_geometric", "facial_appearance", "dressing", "vocal"}
        300, 300, 300 or 50 columns.
    culture : {"E", "W"}, default="E"
    target : {"level", "score"}, default="level"
    random_state : int, Generator or None, default=None

    Returns
    -------
    Dataset

    Examples
    --------
    >>> data = make_m2b_like("vocal", random_state=0)
    >>> data.X.shape, data.synthetic
    ((620, 50), True)
    """
    check_m2b_choice(features, culture, target)
    rng = as_generator(random_state)
    std, explained = _BEAUTY[features, culture]
    d = 50 if features == "vocal" else 300
    Z = rng.standard_normal((N_PEOPLE, d))
    direction = _decaying(d) * rng.choice([-1.0, 1.0], d)
    signal = Z @ (direction / np.linalg.norm(direction))
    error = rng.standard_normal(N_PEOPLE)
    scores = 5.5 + std * (np.sqrt(explained) * signal + np.sqrt(1 - explained) * error)
    return beauty_dataset(
        f"M2B-like {features} {culture}",
        Z * _decaying(d),
        np.clip(scores, 1.0, 10.0),
        target,
        MADE.format("M2B"),
        synthetic=True,
    )


def make_ar_like(random_state: Any = None) -> Dataset:
    """Draw 100 persons with seven pictures in each of two sessions, 300 components.

    Pictures vary about the person, whom the time between sessions moves a little.

    Parameters
    ----------
    random_state : int, Generator or None, default=None

    Returns
    -------
    Dataset
        With one split: session 1 trains and session 2 tests.

    Examples
    --------
    >>> make_ar_like(random_state=0).X.shape
    (1400, 300)
    """
    rng = as_generator(random_state)
    n, d = 1400, 300
    person = np.tile(np.repeat(np.arange(100), 7), 2)
    session = np.repeat([0, 1], 700)
    centres = rng.standard_normal((100, d))
    aged = AR_AGEING * rng.standard_normal((2, 100, d))
    X = centres[person] + aged[session, person] + AR_STD * rng.standard_normal((n, d))
    split = (np.flatnonzero(session == 0), np.flatnonzero(session == 1))
    return Dataset(
        "AR-like",
        X * _decaying(d) ** 0.8,
        person,
        MADE.format("AR"),
        np.arange(100),
        folds=(split,),
        synthetic=True,
    )


def make_lfw_like(random_state: Any = None) -> PairSet:
    """Draw 6000 pairs of pictures in ten folds of 300 pairs of either kind, 300 components.

    Every picture occurs in one pair only, where LFW's occur in some; no person occurs in
    two folds, as in LFW.

    Parameters
    ----------
    random_state : int, Generator or None, default=None

    Returns
    -------
    PairSet

    Examples
    --------
    >>> make_lfw_like(random_state=0).dataset().X.shape
    (6000, 2, 300)
    """
    rng = as_generator(random_state)
    d, n_pairs = 300, 6000
    same = np.tile(np.repeat([1, 0], 300), 10)
    people = rng.standard_normal((2 * n_pairs, d))
    people[1::2][same == 1] = people[::2][same == 1]
    scale = _decaying(d)
    # Persons differ in the leading components, as in real pictures.
    share = LFW_SHARE * np.exp(-np.arange(d) / LFW_DEPTH)
    X = np.sqrt(share) * people + np.sqrt(1 - share) * rng.standard_normal(people.shape)
    return PairSet(
        "LFW-like",
        X * scale,
        scale**2,
        np.arange(2 * n_pairs).reshape(n_pairs, 2),
        same,
        np.repeat(np.arange(10), 600),
        MADE.format("LFW"),
        synthetic=True,
    )


def make_enose_like(random_state: Any = None) -> Dataset:
    """Draw 482 samples of six gases before six sensors, 188, 72, 66, 58, 60 and 38 of each.

    A gas has a direction, its concentration varies and moves the response along it, and
    sensors saturate.

    Parameters
    ----------
    random_state : int, Generator or None, default=None

    Returns
    -------
    Dataset

    Examples
    --------
    >>> make_enose_like(random_state=0).counts
    array([188,  72,  66,  58,  60,  38])
    """
    rng = as_generator(random_state)
    y = np.repeat(np.arange(6), GAS_COUNTS)
    sensitivity = rng.uniform(0.2, 1.0, (6, 6))
    concentration = rng.lognormal(0.0, 0.5, len(y))
    response = _saturated(sensitivity[y] * concentration[:, np.newaxis])
    X = response + ENOSE_STD * rng.standard_normal(response.shape)
    return enose_dataset("E-NOSE-like", X, y, MADE.format("E-NOSE"), synthetic=True)


def _saturated(response: FloatArray) -> FloatArray:
    return response / (1.0 + response)


def _decaying(d: int) -> FloatArray:
    """Return standard deviations (d,) that fall as those of principal components do."""
    return 1.0 / np.sqrt(1.0 + np.arange(d))
