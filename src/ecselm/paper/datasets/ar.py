"""The paper's AR: faces of a hundred persons in two sessions.

The set may not be passed on, and its owners hand it out in forms of their own. So the
loader documents one file that is easily written, checks that it has the paper's sizes,
and says what does not fit.
"""

from __future__ import annotations

import os

import numpy as np

from ecselm.paper.datasets.dataset import Dataset, Source, find_file
from ecselm.paper.datasets.text import check_array, check_counts
from ecselm.tables.files import read_npz

SOURCE = Source(
    "ar",
    "AR faces, Martinez and Benavente 1998",
    "https://www2.ece.ohio-state.edu/~aleix/ARdatabase.html, on request; the documentation of "
    "load_ar says how to write ar.npz",
    "research only, not to be passed on",
)


def load_ar(folder: str | os.PathLike[str] | None = None) -> Dataset:
    """Read AR faces, 14 of each of 100 persons (tables VI and VII).

    The file is ``ar/ar.npz`` with the arrays ``X`` (1400, 300), eigenfaces; ``person``
    (1400,), whole numbers, 100 different ones; ``session`` (1400,), 1 or 2, seven pictures
    of everyone in each.

    Parameters
    ----------
    folder : path, default=None
        The folder of all data, by default what ``ECSELM_DATA`` names.

    Returns
    -------
    Dataset
        With one split: session 1 trains and session 2 tests.

    Examples
    --------
    >>> train, test = load_ar().folds[0]  # doctest: +SKIP
    """
    path = find_file(SOURCE, "ar.npz", folder)
    arrays = read_npz(path, ["X", "person", "session"])
    X = check_array(arrays, "X", "f", (1400, 300), path.name)
    person = check_array(arrays, "person", "i", (1400,), path.name)
    session = check_array(arrays, "session", "i", (1400,), path.name)
    classes = np.unique(person)
    if len(classes) != 100:
        raise ValueError(f"{path.name}, array person: must name 100 persons, got {len(classes)}")
    for which in (1, 2):
        place = f"{path.name}, session {which}"
        check_counts(person[session == which], classes.tolist(), (7,) * 100, place)
    split = (np.flatnonzero(session == 1), np.flatnonzero(session == 2))
    return Dataset("AR", X.astype(float), person, SOURCE.sentence, classes, folds=(split,))
