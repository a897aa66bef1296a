"""Bad arrays, and what every estimator must do with them: refuse in a sentence, or stay finite."""

import linecache
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import is_regressor
from sklearn.utils.validation import has_fit_parameter

import ecselm

N, FEATURES = 40, 4
OWN = str(Path(ecselm.__file__).parent)


@dataclass(frozen=True)
class Given:
    """What an estimator is fitted with, and the rows it then predicts."""

    X: Any
    y: Any
    new: Any
    weight: Any = None


def X_case(change):
    """Return a case in which training rows and new rows are changed alike."""

    def made(given):
        changed = change(given.X.copy())
        return replace(given, X=changed, new=changed)

    return made


def y_case(change):
    return lambda given: replace(given, y=change(np.array(given.y)))


def weight_case(change):
    return lambda given: replace(given, weight=change(np.ones(len(given.y))))


def new_case(change):
    return lambda given: replace(given, new=change(given.X.copy()))


def put(value, dtype=None, place=(3, 1)):
    """Return a change that puts a value at one place."""

    def changed(array):
        array = array if dtype is None else array.astype(dtype)
        array[place if array.ndim > 1 else place[0]] = value
        return array

    return changed


def in_frame(**columns):
    def changed(X):
        frame = pd.DataFrame(X.reshape(len(X), -1))
        frame.columns = [f"x{j}" for j in range(frame.shape[1])]
        return frame.assign(**{name: make(len(X)) for name, make in columns.items()})

    return changed


def repeated_names(X):
    frame = pd.DataFrame(X.reshape(len(X), -1))
    frame.columns = ["x"] * frame.shape[1]
    return frame


def opposite_ends(X):
    X[3, 1], X[4, 1] = 1e308, -1e308
    return X


def of_matrix(X, make):
    return make(X.reshape(len(X), -1))


CASES = {
    # Values of X.
    "NaN": X_case(put(np.nan)),
    "all NaN": X_case(lambda X: np.full_like(X, np.nan)),
    "inf": X_case(put(np.inf)),
    "-inf": X_case(put(-np.inf)),
    "one 1e308": X_case(put(1e308)),
    "both ends": X_case(opposite_ends),
    "times 1e307": X_case(lambda X: X * 1e307),
    "times 1e300": X_case(lambda X: X * 1e300),
    "times 1e160": X_case(lambda X: X * 1e160),
    "times 1e100": X_case(lambda X: X * 1e100),
    "times 1e-160": X_case(lambda X: X * 1e-160),
    "times 1e-320": X_case(lambda X: X * 1e-320),
    "constant columns": X_case(np.ones_like),
    "zeros": X_case(np.zeros_like),
    "equal rows in pairs": X_case(lambda X: np.repeat(X[::2], 2, axis=0)),
    # Types of X.
    "complex": X_case(lambda X: X + 1j),
    "objects": X_case(lambda X: X.astype(object)),
    "None": X_case(put(None, object)),
    "words": X_case(lambda X: np.full(X.shape, "a")),
    "numbers as texts": X_case(lambda X: X.astype(str)),
    "bytes": X_case(lambda X: np.full(X.shape, b"a")),
    "bool": X_case(lambda X: X > 0),
    "int8": X_case(lambda X: np.clip(X * 50, -128, 127).astype(np.int8)),
    "float16": X_case(lambda X: (X * 1e4).astype(np.float16)),
    "long double": X_case(lambda X: X.astype(np.longdouble)),
    "dates": X_case(lambda X: (X * 100).astype("datetime64[D]")),
    "records": X_case(lambda X: np.zeros(len(X), dtype="f8,i4")),
    "masked": X_case(lambda X: np.ma.masked_array(X, X > 1)),
    "matrix": X_case(lambda X: of_matrix(X, np.matrix)),
    "sparse": X_case(lambda X: of_matrix(X, sparse.csr_array)),
    "sparse NaN": X_case(lambda X: of_matrix(put(np.nan)(X), sparse.coo_matrix)),
    # Shapes of X.
    "one dimension": X_case(lambda X: X.ravel()[: len(X)]),
    "a number": X_case(lambda X: np.array(1.0)),
    "four dimensions": X_case(lambda X: X[..., np.newaxis, np.newaxis]),
    "no rows": lambda given: replace(given, X=given.X[:0], y=given.y[:0], new=given.X[:0]),
    "no columns": X_case(lambda X: X[..., :0]),
    "one row": lambda given: replace(given, X=given.X[:1], y=given.y[:1]),
    "two rows": lambda given: replace(given, X=given.X[:2], y=given.y[:2]),
    "wide": X_case(lambda X: np.tile(X, 75)),
    "ragged": X_case(lambda X: [[1.0], *X.tolist()[1:]]),
    # Frames.
    "frame with words": X_case(in_frame(word=lambda n: ["a", "b"] * (n // 2))),
    "frame with NA": X_case(
        in_frame(count=lambda n: pd.array([None, *range(n - 1)], dtype="Int64"))
    ),
    "frame with dates": X_case(in_frame(day=lambda n: pd.date_range("2020-01-01", periods=n))),
    "frame with repeated names": X_case(repeated_names),
    # Targets.
    "y NaN": y_case(put(np.nan, float)),
    "y None": y_case(put(None, object)),
    "y of mixed types": y_case(put("a", object)),
    "y words": y_case(lambda y: np.where(y > np.median(y), "yes", "no")),
    "y of one value": y_case(lambda y: np.full_like(y, y[0])),
    "y too short": y_case(lambda y: y[:-1]),
    "y 1e308": y_case(lambda y: np.where(y > np.median(y), 1e308, -1e308)),
    # Weights.
    "weight negative": weight_case(put(-1.0)),
    "weight NaN": weight_case(put(np.nan)),
    "weights zero": weight_case(np.zeros_like),
    # New rows only.
    "new NaN": new_case(put(np.nan)),
    "new 1e300": new_case(lambda X: X * 1e300),
}
assert len(CASES) == 56


def good(kind):
    """Return rows, or pairs, that every estimator of a kind can learn from."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, FEATURES))
    if kind == "pairs":
        same = np.arange(N) % 2
        other = np.where(same[:, np.newaxis], X, rng.standard_normal(X.shape))
        pairs = np.stack([X, other + 0.3 * rng.standard_normal(X.shape)], axis=1)
        return Given(pairs, same, pairs)
    y = X[:, 0] + 0.3 * rng.standard_normal(N)
    y = y if kind == "regressor" else (y > 0.2).astype(int)
    return Given(X, y, X)


def kind_of(estimator):
    if type(estimator).__module__.startswith("ecselm.paper.pairs"):
        return "pairs"
    return "regressor" if is_regressor(estimator) else "classifier"


def fault(estimator, case):
    """Return what is wrong with an estimator's response to a case, None if nothing is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy advises against its matrices
        given = CASES[case](good(kind_of(estimator)))
    weights = {} if given.weight is None else {"sample_weight": given.weight}
    if weights and not has_fit_parameter(estimator, "sample_weight"):
        return None
    outputs, error = {}, None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")  # as a person sees them: once for each place
        try:
            estimator.fit(given.X, given.y, **weights)
            for name in ("predict", "predict_proba", "decision_function", "transform"):
                if hasattr(estimator, name):
                    outputs[name] = getattr(estimator, name)(given.new)
        except Exception as raised:
            error = raised
    if error is not None and not is_clear(error):
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"raises {type(error).__name__} at {place.filename}:{place.lineno}: {error}"[:300]
    for name, values in outputs.items():
        array = np.asarray(values)
        if array.dtype.kind in "fc" and not np.isfinite(array).all():
            return f"{name} is not finite"
    # What a scikit-learn estimator within ours says is its own.
    caught = [one for one in caught if "sklearn/linear_model" not in one.filename]
    kinds = Counter(one.category.__name__ for one in caught)
    if kinds and max(kinds.values()) > 1:
        first = caught[0]
        return f"warns {dict(kinds)}, first {first.filename}:{first.lineno}: {first.message}"[:300]
    return None


def is_clear(error):
    """Return whether an error is ours or one of scikit-learn's validation, in a sentence.

    Below the last function of ours, either scikit-learn checks an argument, or nothing stands
    and the line raises.
    """
    if not isinstance(error, ValueError | TypeError) or isinstance(error, np.linalg.LinAlgError):
        return False
    frames = traceback.extract_tb(error.__traceback__)
    own = max(i for i, frame in enumerate(frames) if frame.filename.startswith((OWN, __file__)))
    if own == len(frames) - 1:
        line = linecache.getline(frames[own].filename, frames[own].lineno or 0)
        return bool(str(error).strip()) and line.strip().startswith("raise")
    if "inhomogeneous" in str(error):
        return True  # NumPy's sentence about ragged lists, which scikit-learn passes on, too
    return any("/sklearn/" in frame.filename for frame in frames[own + 1 :])
