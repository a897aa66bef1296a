"""The small sets that scikit-learn brings along: no folder, no download."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine

from ecselm.paper.datasets.dataset import Dataset


@dataclass(frozen=True, slots=True)
class _Bundled:
    load: Callable[[], Any]
    origin: str
    terms: str = "none stated in its description there"

    @property
    def sentence(self) -> str:
        return f"{self.origin}, as scikit-learn brings it along; terms: {self.terms}."


_SETS = {
    "breast_cancer": _Bundled(
        load_breast_cancer,
        "Breast Cancer Wisconsin (diagnostic), W. Wolberg, N. Street and O. Mangasarian 1995, "
        "from UCI",
    ),
    "diabetes": _Bundled(load_diabetes, "Diabetes, B. Efron et al. 2004"),
    "digits": _Bundled(
        load_digits, "Optical Recognition of Handwritten Digits, E. Alpaydin 1998, UCI's test set"
    ),
    "iris": _Bundled(load_iris, "Iris, R. A. Fisher 1936"),
    "wine": _Bundled(
        load_wine,
        "Wine Recognition, M. Forina et al., from UCI",
        "none stated in its description there, Lichman 2013 (UCI) to be cited",
    ),
}


def list_bundled() -> list[str]:
    """Return the names that :func:`load_bundled` can load.

    Examples
    --------
    >>> list_bundled()
    ['breast_cancer', 'diabetes', 'digits', 'iris', 'wine']
    """
    return sorted(_SETS)


def load_bundled(name: str) -> Dataset:
    """Return a set of scikit-learn's, in the form of all others; it needs no folder.

    Linnerud is not offered: it has three targets, and no source says which one to take.

    Parameters
    ----------
    name : {"breast_cancer", "diabetes", "digits", "iris", "wine"}
        569 x 30 with two classes, 442 x 10 with scores, 1797 x 64 with ten classes,
        150 x 4 with three, 178 x 13 with three.

    Returns
    -------
    Dataset
        Rows, labels and names are scikit-learn's: of the tumours, 0 is malignant and 1
        benign. The columns of diabetes are centred and scaled there.

    Examples
    --------
    >>> print(load_bundled("iris").summary())
    iris: 150 rows of 4 features; classes setosa (50), versicolor (50), virginica (50).
    Iris, R. A. Fisher 1936, as scikit-learn brings it along; terms: none stated in its
    description there.
    >>> load_bundled("diabetes").classes is None
    True
    """
    if name not in _SETS:
        raise ValueError(f"name must be one of {', '.join(list_bundled())}, got {name!r}")
    bundle = _SETS[name].load()
    labels = [str(label) for label in getattr(bundle, "target_names", ())]  # scores have none
    numbered = labels == [str(i) for i in range(len(labels))]  # digits say it themselves
    return Dataset(
        name,
        bundle.data,
        bundle.target,
        _SETS[name].sentence,
        np.arange(len(labels)) if labels else None,
        feature_names=tuple(str(feature) for feature in bundle.feature_names),
        class_names=() if numbered else tuple(labels),
    )
