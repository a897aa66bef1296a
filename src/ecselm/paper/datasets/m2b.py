"""The paper's M2B: beauty of faces, dresses and voices.

The set may not be passed on, and its owners hand it out in forms of their own. So the
loader documents one file that is easily written, checks that it has the paper's sizes,
and says what does not fit.
"""

from __future__ import annotations

import os
from typing import Literal

from ecselm.paper.datasets.beauty import beauty_dataset
from ecselm.paper.datasets.dataset import Dataset, Source, find_file
from ecselm.paper.datasets.text import check_array, check_counts
from ecselm.tables.files import read_npz

SOURCE = Source(
    "m2b",
    "Multi-modality beauty (M2B), Nguyen et al. 2012",
    "its authors; the documentation of load_m2b says how to write m2b.npz",
    "those of its authors",
)
WIDTHS = {"facial_geometric": None, "facial_appearance": 300, "dressing": 300, "vocal": 50}
N_PEOPLE = 620  # of either culture


def load_m2b(
    features: str = "facial_appearance",
    culture: Literal["E", "W"] = "E",
    target: Literal["level", "score"] = "level",
    folder: str | os.PathLike[str] | None = None,
) -> Dataset:
    """Read M2B, beauty of 620 eastern and 620 western women (tables I to V).

    The file is ``m2b/m2b.npz`` with the arrays

    - ``culture`` (1240,): text, ``"E"`` or ``"W"``;
    - ``facial_geometric`` (1240, any), ``facial_appearance`` (1240, 300), ``dressing``
      (1240, 300), ``vocal`` (1240, 50): features after PCA, of which only those asked for
      have to be there;
    - ``facial_score``, ``dressing_score``, ``vocal_score`` (1240,): in [1, 10].

    Parameters
    ----------
    features : {"facial_geometric", "facial_appearance", "dressing", "vocal"}
    culture : {"E", "W"}, default="E"
    target : {"level", "score"}, default="level"
        One of the five levels of :func:`beauty_levels`, or the score.
    folder : path, default=None
        The folder of all data, by default what ``ECSELM_DATA`` names.

    Returns
    -------
    Dataset
        Of 620 rows.

    Examples
    --------
    >>> load_m2b("vocal", "W").X.shape  # doctest: +SKIP
    (620, 50)
    """
    check_m2b_choice(features, culture, target)
    path = find_file(SOURCE, "m2b.npz", folder)
    rated = f"{features.split('_', maxsplit=1)[0]}_score"
    arrays = read_npz(path, ["culture", features, rated])
    n = 2 * N_PEOPLE
    people = check_array(arrays, "culture", "U", (n,), path.name)
    X = check_array(arrays, features, "f", (n, WIDTHS[features]), path.name)
    scores = check_array(arrays, rated, "f", (n,), path.name)
    check_counts(people, ("E", "W"), (N_PEOPLE, N_PEOPLE), f"{path.name}, array culture")
    if scores.min() < 1 or scores.max() > 10:
        raise ValueError(
            f"{path.name}, array {rated}: scores must lie in [1, 10], got {scores.min():g} to "
            f"{scores.max():g}"
        )
    rows = people == culture
    return beauty_dataset(
        f"M2B {features} {culture}", X[rows].astype(float), scores[rows], target, SOURCE.sentence
    )


def check_m2b_choice(features: str, culture: str, target: str) -> None:
    """Refuse what M2B does not have."""
    if features not in WIDTHS:
        raise ValueError(f"features must be one of {', '.join(WIDTHS)}, got {features!r}")
    if culture not in {"E", "W"}:
        raise ValueError(f"culture must be 'E' or 'W', got {culture!r}")
    if target not in {"level", "score"}:
        raise ValueError(f"target must be 'level' or 'score', got {target!r}")
