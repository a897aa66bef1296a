"""What is recorded of a fitted model: digests of its numbers, and a few numbers that tell more."""

from __future__ import annotations

import hashlib
import os
import platform
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy
import sklearn
from sklearn.metrics import accuracy_score, r2_score
from threadpoolctl import threadpool_info

from ecselm import ECSELMClassifier
from tests.golden.configurations import CONFIGURATIONS, Configuration
from tests.golden.data_sets import CLASSES, load

RECORD = Path(__file__).parent / "record.json"
PATHS = {"compiled": "1", "LAPACK": "0"}  # values of ECSELM_COMPILED
NUMBERS = (
    *("beta_", "C_", "gamma_", "class_costs_", "cost_vector_", "cost_matrix_", "class_weights_"),
    *("gain_", "gain_std_error_", "keeps_prior_", "best_score_", "n_evaluations_", "level_edges_"),
    *("n_features_in_", "n_validation_rows_"),
)
TABLES = ("history_", "members_", "prior_scores_", "stream_")
TEXTS = ("solver_", "engine_")
LIBRARY = re.compile(r"compiled, \w+")
ANSWERS = ("predict_proba", "decision_function")
Arrays = dict[str, np.ndarray]
Entry = dict[str, Any]

# What is compared of a search on another machine, and how closely. Priors are scored before
# anything is chosen; what is found later can be another of two that are as good.
SEARCHED = {"prior_scores_": 1e-4, "best_score_": 0.05, "test score": 0.1}


def cases() -> list[tuple[str, str]]:
    """Return all pairs of a configuration and a data set."""
    return [(name, on) for name, made in CONFIGURATIONS.items() for on in made.data_sets]


def run(configuration: str, data_set: str) -> tuple[Arrays, dict[str, str]]:
    """Fit a configuration on a data set; return the numbers and the texts of the model."""
    data = load(data_set)
    model = CONFIGURATIONS[configuration].fit(data)
    arrays = {name: np.asarray(value, dtype=float) for name, value in _numbers(model).items()}
    asked = data.X_test
    if hasattr(model, "feature_names_in_"):
        asked = pd.DataFrame(asked, columns=model.feature_names_in_)
    predicted = model.predict(asked)
    if data_set in CLASSES:
        arrays["predict"] = np.searchsorted(data.classes, predicted).astype(float)
        arrays["test score"] = np.asarray(accuracy_score(data.y_test, predicted))
    else:
        arrays["predict"] = np.asarray(predicted, dtype=float)
        arrays["test score"] = np.asarray(r2_score(data.y_test, predicted))
    for name in ANSWERS:
        if hasattr(model, name):
            arrays[name] = np.asarray(getattr(model, name)(asked), dtype=float)
    # Which library runs is a matter of the processor.
    texts = {
        name: LIBRARY.sub("compiled", getattr(model, name))
        for name in TEXTS
        if hasattr(model, name)
    }
    return dict(sorted(arrays.items())), texts


def _numbers(model: Any) -> dict[str, Any]:
    """Return the learned numbers that a model makes public."""
    values = {name: getattr(model, name, None) for name in NUMBERS}
    found = {name: value for name, value in values.items() if value is not None}
    for name in TABLES:
        if hasattr(model, name):
            table = getattr(model, name)
            found[name] = np.array([_column(table[column]) for column in table])
    if hasattr(model, "estimator_"):
        found["estimator_ coef_"] = model.estimator_[-1].coef_
    return found


def _column(values: Any) -> np.ndarray:
    """Return a column of a table in numbers; of texts, those that a text alone decides."""
    column = np.asarray(values)
    if column.dtype.kind in "biuf":
        return column.astype(float)
    return np.array([int(_digest(str(text).encode())[:12], 16) for text in column], dtype=float)


def entry(arrays: Arrays, texts: dict[str, str]) -> Entry:
    """Return what is recorded of a model, to be written as JSON."""
    return {**texts, **{name: summary(values) for name, values in arrays.items()}}


def summary(values: np.ndarray) -> list[Any]:
    """Return shape, digest of the bytes, root mean square, mean and a random projection.

    The projection is on standard normal numbers and divided by the root of the size: where
    all values err independently by a share of the root mean square, so do mean and projection,
    or by less. A single number is its own mean and needs no projection.
    """
    flat = np.where(np.isnan(values), np.nan, values).ravel()  # one NaN, whatever its bits
    finite = np.where(np.isfinite(flat), flat, 0.0)
    n = max(finite.size, 1)
    coarse = [np.sqrt(finite @ finite / n), finite.sum() / n]
    if finite.size > 1:
        drawn = np.random.default_rng(0).standard_normal(finite.size)
        coarse.append(drawn @ finite / np.sqrt(n))
    shape = "x".join(map(str, values.shape))
    return [shape, _digest(flat.tobytes())[:16], *(float(f"{value:.12g}") for value in coarse)]


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def differences(
    now: Entry, recorded: Entry, made: Configuration, *, same_machine: bool
) -> dict[str, str]:
    """Return what differs from the record, by name, with a sentence each.

    On the machine of the record every bit counts. On another one rounding differs. Solutions
    must then agree to ``made.rtol`` of their root mean square. In a search rounding turns
    comparisons between candidates that are equally good, and everything after that is another
    search; and the output weights of a committee are those of units whose signs LAPACK is free
    to choose. There shapes and texts must agree, and the scores in ``SEARCHED``, the one on
    test rows up to 0.1 or a tenth; of ``made.unstable`` the shapes.
    """
    found = dict.fromkeys(now.keys() - recorded.keys(), "is not in the record")
    found |= dict.fromkeys(recorded.keys() - now.keys(), "is only in the record")
    for name in now.keys() & recorded.keys():
        new, old = now[name], recorded[name]
        if isinstance(new, str) or isinstance(old, str):
            if _text(new, same_machine) != _text(old, same_machine):
                found[name] = f"is {new!r}, was {old!r}"
        elif not (new[:2] == old[:2] if same_machine else _close(name, new, old, made)):
            found[name] = _said(new, old)
    return dict(sorted(found.items()))


def _text(value: Any, same_machine: bool) -> Any:
    """Return a text; of another machine's without the processor in it."""
    return value if same_machine else str(value).replace(", avx2", "").replace(", plain", "")


def _close(name: str, new: list[Any], old: list[Any], made: Configuration) -> bool:
    share = SEARCHED.get(name, np.inf) if made.searched else made.rtol
    share = np.inf if name in made.unstable else share
    size = max(old[2], 1.0) if name == "test score" else old[2]
    return new[0] == old[0] and (
        share == np.inf
        or all(abs(a - b) <= share * size for a, b in zip(new[2:], old[2:], strict=True))
    )


def _said(new: list[Any], old: list[Any]) -> str:
    if new[0] != old[0]:
        return f"has the shape {new[0]}, had {old[0]}"
    moved = max(abs(a - b) for a, b in zip(new[2:], old[2:], strict=True))
    return f"has moved, its mean or projection by {moved / (old[2] or 1.0):.1e} of its size"


@cache
def path() -> str:
    """Return how candidates are solved in this process, as a search tells it."""
    X = np.arange(12.0)[:, np.newaxis]
    model = ECSELMClassifier(
        2, activation="tanh", keep_prior=False, population_size=4, max_epochs=0, random_state=0
    )
    return "compiled" if "compiled" in model.fit(X, np.arange(12) % 2).engine_ else "LAPACK"


@cache
def machine() -> dict[str, Any]:
    """Return everything that is known to change last digits; equal means equal bits."""
    blas = {
        f"{pool['internal_api']} {pool['version']} {pool.get('architecture', '')}".strip()
        for pool in threadpool_info()
        if pool["user_api"] == "blas"
    }
    return {
        "processor": _processor(),
        "libc": " ".join(platform.libc_ver()),
        "python": ".".join(platform.python_version_tuple()[:2]),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "blas": sorted(blas),
        "switched off": os.environ.get("NPY_DISABLE_CPU_FEATURES", ""),
    }


def _processor() -> str:
    """Return the model of the processor and a digest of what it can do."""
    file = Path("/proc/cpuinfo")
    if not file.exists():
        return f"{platform.processor()} {platform.machine()}"
    lines = (line.partition(":") for line in file.read_text().splitlines())
    told = {name.strip(): value.strip() for name, _, value in lines}
    flags = " ".join(sorted(told.get("flags", told.get("Features", "")).split()))
    ids = [told.get(name, "") for name in ("model name", "cpu family", "model", "stepping")]
    return " ".join([*ids, _digest(flags.encode())[:16]])
