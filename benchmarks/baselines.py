"""Baselines of the benchmarks: NumPy with scikit-learn's Ridge, and other ELM packages.

The packages are optional. Their inputs are standardised beforehand, because they do not
scale inputs themselves.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from sklearn.linear_model import Ridge

C = 32.0  # all solve with our default for one layer
RIDGE = "H with NumPy + Ridge"
Predict = Callable[[np.ndarray], np.ndarray]


def gaussian_layer(X: np.ndarray, W: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return ``H = exp(-(X W + b)^2)`` (17), written out in NumPy."""
    return np.exp(-((X @ W + b) ** 2))


def ridge_solution(H: np.ndarray, y: np.ndarray, w: np.ndarray, C: float) -> np.ndarray:
    """Return beta (L, k) for the targets +1 and -1 of the class codes ``y``."""
    T = np.full((len(y), y.max() + 1), -1.0)
    T[np.arange(len(y)), y] = 1.0
    model = Ridge(alpha=1.0 / C, fit_intercept=False, solver="cholesky")
    return model.fit(H, T, sample_weight=w).coef_.T


def fit_ridge(X: np.ndarray, y: np.ndarray, w: np.ndarray, n_hidden: int, C: float) -> np.ndarray:
    """Standardise X, draw the weights and solve the same problem as ELMClassifier."""
    rng, n = np.random.default_rng(0), X.shape[1]
    Xs = (X - X.mean(axis=0)) / X.std(axis=0)
    W = rng.standard_normal((n, n_hidden)) * (np.sqrt(2.0) / n)
    b = rng.standard_normal(n_hidden) * np.sqrt(0.5)
    return ridge_solution(gaussian_layer(Xs, W, b), y, w, C)


@dataclass(frozen=True, slots=True)
class FitTask:
    """Training data and settings for a fit by another package."""

    X: np.ndarray  # (N, n), standardised
    y: np.ndarray  # (N,) class codes
    n_hidden: int
    class_weight: np.ndarray | None = None  # (k,)
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Package:
    """Another package: its name, how it is imported, and a function that runs a task with it."""

    name: str
    distribution: str
    module: str
    use: Callable[[Any, Any], Any]  # takes the module and the task

    @property
    def missing(self) -> str | None:
        """Return why the package cannot be run, or None."""
        try:
            version(self.distribution)
            self.load()
        except PackageNotFoundError:
            return "not installed"
        except ImportError as error:
            return f"not importable: {error}".splitlines()[0]
        return None

    @property
    def version(self) -> str:
        """Return the version, or why the package cannot be run."""
        return self.missing or version(self.distribution)

    def load(self) -> Any:
        """Import the package and ignore its warnings."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(self.module)

    def run(self, task: Any) -> Any:
        """Run the task; a FitTask returns the function that predicts class codes."""
        module = self.load()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.use(module, task)


def _fit_hpelm(hpelm: Any, task: FitTask) -> Predict:
    """Fit sigmoid units drawn as in hpelm, but from a seed: hpelm uses the global state."""
    X, y, w = task.X, task.y, task.class_weight
    rng, n, k = np.random.default_rng(task.seed), X.shape[1], int(y.max()) + 1
    model = hpelm.ELM(n, k, precision="single" if X.dtype == np.float32 else "double")
    W = rng.standard_normal((n, task.n_hidden)) * (3.0 / np.sqrt(n))
    model.add_neurons(task.n_hidden, "sigm", W, rng.standard_normal(task.n_hidden))
    T = np.eye(k, dtype=X.dtype)[y]
    if w is None:
        model.train(X, T, "c")
    else:
        model.train(X, T, "wc", w=w)
    return lambda X: model.predict(X).argmax(axis=1)


def _fit_scikit_elm(skelm: Any, task: FitTask) -> Predict:
    """Fit tanh units, without weights: scikit-elm does not support them."""
    model = skelm.ELMClassifier(n_neurons=task.n_hidden, random_state=task.seed)
    return model.fit(task.X, task.y).predict


def _fit_gfdl(gfdl: Any, task: FitTask) -> Predict:
    """Fit tanh units with our ridge, gfdl's fastest solver; it does not support weights."""
    model = gfdl.GFDLClassifier(
        hidden_layer_sizes=(task.n_hidden,),
        activation="tanh",
        weight_scheme="glorot_normal",
        direct_links=False,
        reg_alpha=1.0 / C,
        seed=task.seed,
    )
    return model.fit(task.X, task.y).predict


HPELM = Package("hpelm", "hpelm", "hpelm", _fit_hpelm)
SCIKIT_ELM = Package("scikit-elm", "scikit-elm", "skelm", _fit_scikit_elm)
GFDL = Package("gfdl", "gfdl", "gfdl.model", _fit_gfdl)
ELM_PACKAGES = (HPELM, SCIKIT_ELM, GFDL)
