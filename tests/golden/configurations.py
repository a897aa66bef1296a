"""The configurations of the golden record: a name, and a function from a data set to a model.

Each is there for a path that a search or a solution takes. Budgets are small: a configuration
has to pass through its path, not to arrive anywhere. Only public faces are imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ecselm import (
    CostSearchCV,
    CSELMClassifier,
    CSELMRegressor,
    ECSELMClassifier,
    ECSELMRegressor,
    EELMClassifier,
    EELMRegressor,
    ELMClassifier,
    ELMRegressor,
    KELMClassifier,
    KELMRegressor,
    WELMClassifier,
)
from ecselm.streaming import fit_stream, open_blocks, refit_stream
from tests.golden.data_sets import CLASSES, TARGETS, Split

Fit = Callable[[Split], Any]
RTOL = 1e-6
COARSE = 1e-2  # of what is solved in float32 or is all but singular; kernels of BLAS differ by 2e-3
SMALL = {"population_size": 10, "max_epochs": 3, "random_state": 0}
ONE_LAYER = {"n_hidden": 30, "activation": "tanh", **SMALL, "max_epochs": 8}
FREELY = {**ONE_LAYER, "shrinkage": 1e-4, "keep_prior": False}  # what is found is what is learned
SEVERAL_LAYERS = {"n_hidden": 20, **SMALL}


@dataclass(frozen=True)
class Configuration:
    """How a model is fitted, and on what.

    Attributes
    ----------
    fit : callable
        Takes a :class:`Split` and returns a fitted model.
    data_sets : tuple of str
        All data sets it is recorded on.
    quick : str
        The one of them that the quick tests run.
    searched : bool
        Whether the model depends on comparisons of fitness, which rounding can turn.
    rtol : float
        How far a solution may be from the record on another machine, see
        :func:`tests.golden.results.differences`.
    needs : tuple of str
        Optional packages.
    unstable : tuple of str
        Results that only the machine of the record can repeat.
    """

    fit: Fit
    data_sets: tuple[str, ...]
    quick: str
    searched: bool
    rtol: float
    needs: tuple[str, ...]
    unstable: tuple[str, ...]


CONFIGURATIONS: dict[str, Configuration] = {}


def recorded(
    *data_sets: str,
    searched: bool = False,
    rtol: float = RTOL,
    needs: tuple[str, ...] = (),
    unstable: tuple[str, ...] = (),
) -> Callable[[Fit], Fit]:
    """Put a function among the configurations; quick tests take the data sets in turn."""

    def register(fit: Fit) -> Fit:
        quick = data_sets[len(CONFIGURATIONS) % len(data_sets)]
        CONFIGURATIONS[fit.__name__] = Configuration(
            fit, data_sets, quick, searched, rtol, needs, unstable
        )
        return fit

    return register


# Costs known or none: solutions.


@recorded(*CLASSES)
def elm(data):
    return ELMClassifier(40, random_state=0).fit(data.X, data.y)


@recorded(*CLASSES)
def elm_several_blocks(data):
    """More rows than a block of H holds, a layer of other weights and units."""
    model = ELMClassifier(350, activation="sigmoid", draw="sobol", scale="minmax", random_state=1)
    return model.fit(data.X, data.y, sample_weight=1.0 + data.weights)


@recorded(*CLASSES)
def elm_more_units_than_rows(data):
    return ELMClassifier(700, draw="normal", activation="tanh", random_state=0).fit(data.X, data.y)


@recorded(*CLASSES, rtol=COARSE, unstable=("predict_proba",))
def elm_singular(data):
    """A system that is singular to working precision, and takes another factorisation.

    Its leave-one-out scores, which calibrate probabilities, divide rounding errors by others.
    """
    return ELMClassifier(200, C=1e18, activation="relu", random_state=0).fit(data.X, data.y)


@recorded(*CLASSES, rtol=COARSE)
def elm_sparse_float32(data):
    X = csr_array(np.where(np.abs(data.X) < 0.5, 0.0, data.X).astype(np.float32))
    return ELMClassifier(40, activation="relu", draw="uniform", random_state=0).fit(X, data.y)


@recorded(*CLASSES)
def elm_transformer(data):
    layer = make_pipeline(StandardScaler(), Nystroem(n_components=30))
    return ELMClassifier(hidden_layer=layer, random_state=0).fit(data.X, data.y)


@recorded(*CLASSES)
def kelm_rbf(data):
    return KELMClassifier(scale="standard").fit(data.X, data.y)


@recorded(*CLASSES)
def kelm_linear(data):
    model = KELMClassifier(kernel="linear", scale="minmax", C=4.0)
    return model.fit(data.X, data.y, sample_weight=data.weights)


@recorded(*CLASSES)
def kelm_polynomial(data):
    model = KELMClassifier(kernel="polynomial", degree=2, gamma="auto", scale="minmax")
    return model.fit(data.X, data.y)


@recorded(*CLASSES, rtol=COARSE)
def kelm_laplacian_float32(data):
    X = data.X.astype(np.float32)
    return KELMClassifier(kernel="laplacian", gamma=0.1, scale="standard").fit(X, data.y)


@recorded(*CLASSES)
def welm_w1(data):
    return WELMClassifier(40, weighting="w1", random_state=0).fit(data.X, data.y)


@recorded(*CLASSES)
def welm_w2_kernel(data):
    model = WELMClassifier(weighting="w2", normalize=True, kernel="cosine", scale="standard")
    return model.fit(data.X, data.y)


@recorded(*CLASSES)
def cselm_cost(data):
    return CSELMClassifier(40, cost=data.cost, random_state=0).fit(data.X, data.y)


@recorded(*CLASSES)
def cselm_min_cost(data):
    model = CSELMClassifier(40, cost=data.cost, decision="min_cost", random_state=0)
    return model.fit(data.X, data.y)


@recorded(*CLASSES)
def cselm_cost_by_row(data):
    model = CSELMClassifier(40, weighting=None, aggregate="classes", random_state=0)
    return model.fit(data.X, data.y, sample_cost=data.prediction_costs)


@recorded(*CLASSES)
def partial_fit_in_chunks(data):
    model = CSELMClassifier(40, cost=data.cost, weighting="balanced", random_state=0)
    return _in_chunks(model, data, classes=data.classes)


@recorded(*TARGETS)
def elm_regressor(data):
    return ELMRegressor(40, random_state=0).fit(data.X, data.y)


@recorded(*TARGETS)
def kelm_regressor(data):
    model = KELMRegressor(kernel="laplacian", scale="minmax")
    return model.fit(data.X, data.y, sample_weight=data.weights)


@recorded(*TARGETS)
def cselm_regressor(data):
    return CSELMRegressor(40, random_state=0).fit(data.X, data.y, sample_cost=data.row_costs)


@recorded(*TARGETS)
def partial_fit_regressor(data):
    return _in_chunks(ELMRegressor(40, activation="sine", random_state=0), data)


def _in_chunks(model: Any, data: Split, **first: Any) -> Any:
    for start in range(0, len(data.y), 50):
        rows = slice(start, start + 50)
        model.partial_fit(data.X[rows], data.y[rows], **first)
        first = {}
    return model


# Weights evolved.


@recorded(*CLASSES, searched=True)
def eelm(data):
    return EELMClassifier(10, population_size=12, max_epochs=4, random_state=0).fit(data.X, data.y)


@recorded(*TARGETS, searched=True)
def eelm_regressor(data):
    model = EELMRegressor(
        10, C=100.0, strategy="randtobest1exp", tie_break="best_only", clip=False, **SMALL
    )
    return model.fit(data.X, data.y)


# Costs learned.


@recorded(*CLASSES, searched=True)
def ecselm_gmean(data):
    """The default: layers of several kinds, the best of them averaged."""
    return ECSELMClassifier(scoring="gmean", **SEVERAL_LAYERS).fit(data.X, data.y)


@recorded(*CLASSES, searched=True)
def ecselm_accuracy(data):
    model = ECSELMClassifier(scoring="accuracy", keep_prior=False, smoothing=0.5, **SEVERAL_LAYERS)
    return model.fit(data.X, data.y)


@recorded(*CLASSES, searched=True)
def ecselm_mean_cost(data):
    model = ECSELMClassifier(scoring="mean_cost", cost=data.cost, **SEVERAL_LAYERS)
    return model.fit(data.X, data.y)


@recorded(*CLASSES, searched=True)
def ecselm_error(data):
    """No scoring named, and the costs are those of the metric whatever is gained."""
    return ECSELMClassifier(keep_prior="always", n_jobs=2, **SEVERAL_LAYERS).fit(data.X, data.y)


@recorded(*CLASSES, searched=True)
def ecselm_weights_and_groups(data):
    model = ECSELMClassifier(scoring="balanced_accuracy", **SEVERAL_LAYERS)
    return model.fit(data.X, data.y, sample_weight=1.0 + data.weights, groups=data.groups)


@recorded(*CLASSES, searched=True)
def ecselm_one_layer(data):
    model = ECSELMClassifier(scoring="gmean", shrinkage=0, keep_prior=False, **ONE_LAYER)
    return model.fit(data.X, data.y)


@recorded(*CLASSES, searched=True)
def ecselm_scorer(data):
    """A score that is no function of the confusion matrix, C fixed, a seventh of the rows."""
    model = ECSELMClassifier(scoring="neg_log_loss", C=8.0, fitness=7, n_jobs=2, **ONE_LAYER)
    return model.fit(data.X, data.y)


@recorded(*CLASSES, searched=True)
def ecselm_matrix(data):
    model = ECSELMClassifier(
        cost_level="matrix", scoring="mean_cost", cost=data.cost, fitness="holdout", **ONE_LAYER
    )
    return model.fit(data.X, data.y)


@recorded(*CLASSES, searched=True)
def ecselm_min_cost(data):
    model = ECSELMClassifier(
        cost_level="matrix", decision="min_cost", scoring="f1_macro", **ONE_LAYER
    )
    return model.fit(data.X, data.y)


@recorded(*CLASSES, searched=True)
def ecselm_sample(data):
    model = ECSELMClassifier(cost_level="sample", scoring="gmean", shrinkage=0, **ONE_LAYER)
    return model.fit(data.X, data.y)


@recorded(*CLASSES, searched=True)
def ecselm_leave_one_out(data):
    return ECSELMClassifier(scoring="gmean", fitness="loo", **ONE_LAYER).fit(data.X, data.y)


@recorded(*CLASSES, searched=True)
def ecselm_train(data):
    model = ECSELMClassifier(scoring="gmean", fitness="train", normalize=False, **ONE_LAYER)
    return model.fit(data.X, data.y)


@recorded(*CLASSES, searched=True)
def ecselm_kernel(data):
    model = ECSELMClassifier(
        kernel="rbf",
        gamma="search",
        scale="standard",
        scoring="gmean",
        shrinkage=1e-4,
        keep_prior=False,
        population_size=5,
        max_epochs=2,
        random_state=0,
    )
    return model.fit(data.X, data.y)


@recorded(*CLASSES, searched=True)
def ecselm_constraints(data):
    """A cost between two numbers, a cost known, and one that is dearer than another."""
    first, last = data.classes[0], data.classes[-1]
    several = len(data.classes) > 2
    model = ECSELMClassifier(
        cost_level="matrix",
        scoring="gmean",
        cost_intervals={(first, last): (2.0, 8.0)},
        cost_order=[((first, last), (last, first))],
        fixed_costs={(first, data.classes[1]): 1.5} if several else None,
        **ONE_LAYER,
    )
    return model.fit(data.X, data.y)


@recorded(*CLASSES, searched=True)
def ecselm_class_order(data):
    """The same of classes, behind layers of several kinds."""
    first, second = data.classes[:2]
    model = ECSELMClassifier(
        scoring="gmean",
        cost_order=[(second, first)],
        fixed_costs={first: 1.0},
        cost_intervals={second: (1.0, 6.0)},
        **SEVERAL_LAYERS,
    )
    return model.fit(data.X, data.y)


@recorded(*CLASSES, searched=True)
def ecselm_differential_evolution(data):
    return ECSELMClassifier(optimizer="de", scoring="gmean", **FREELY).fit(data.X, data.y)


@recorded(*CLASSES, searched=True, needs=("cmaes",))
def ecselm_cma(data):
    return ECSELMClassifier(optimizer="cma", scoring="gmean", **FREELY).fit(data.X, data.y)


@recorded(*CLASSES, searched=True)
def ecselm_random(data):
    return ECSELMClassifier(optimizer="random", scoring="gmean", **FREELY).fit(data.X, data.y)


@recorded(*CLASSES, searched=True)
def ecselm_sobol(data):
    model = ECSELMClassifier(
        optimizer="sobol",
        scoring="gmean",
        **{**FREELY, "activation": "radbas", "population_size": 8},  # a power of 2 for Sobol
    )
    return model.fit(data.X, data.y)


@recorded(*CLASSES, searched=True)
def ecselm_paper(data):
    budget = {**SMALL, "max_epochs": 20}  # counts of errors are flat, and the first may stay best
    return ECSELMClassifier.paper(n_hidden=30, C=2.0**10, **budget).fit(data.X, data.y)


@recorded(*CLASSES, searched=True)
def ecselm_begun_again(data):
    """A search that was stopped and goes on from its file, then one more from its costs."""
    with TemporaryDirectory() as folder:
        model = ECSELMClassifier(
            scoring="gmean", checkpoint=Path(folder) / "search", warm_start=True, **FREELY
        )
        stopped = clone(model).set_params(callbacks=lambda state: state.generation == 1)
        stopped.fit(data.X, data.y)
        model.fit(data.X, data.y)
        return model.set_params(checkpoint=None, max_epochs=1).fit(data.X, data.y)


@recorded(*TARGETS, searched=True)
def ecselm_regressor(data):
    return ECSELMRegressor(30, **SMALL).fit(data.X, data.y)


@recorded(*TARGETS, searched=True)
def ecselm_regressor_squares(data):
    model = ECSELMRegressor(
        30,
        C="search",
        activation="sigmoid",
        scoring="neg_mean_squared_error",
        n_levels=3,
        cost_order=[(2, 0)],
        fitness="loo",
        **SMALL,
    )
    return model.fit(data.X, data.y, sample_weight=1.0 + data.weights)


@recorded(*TARGETS, searched=True)
def ecselm_regressor_paper(data):
    return ECSELMRegressor.paper(n_hidden=30, C=2.0**10, **SMALL).fit(data.X, data.y)


# Any classifier.


@recorded(*CLASSES, searched=True)
def cost_search_decision(data):
    model = CostSearchCV(_logistic(), scoring="balanced_accuracy", **SMALL)
    return model.fit(data.X, data.y)


@recorded(*CLASSES, searched=True)
def cost_search_class(data):
    model = CostSearchCV(
        _logistic(),
        cost_level="class",
        scoring="gmean",
        fitness=3,
        population_size=5,
        max_epochs=1,
        random_state=0,
    )
    return model.fit(data.X, data.y)


def _logistic() -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression(C=0.1))


# Rows in blocks.


@recorded(*CLASSES, needs=("pyarrow",))
def stream_elm(data):
    with _file(data, "rows.parquet") as file:
        return fit_stream(
            WELMClassifier(30, random_state=0), open_blocks(file, block_rows=40), target="target"
        )


@recorded(*CLASSES, searched=True)
def stream_ecselm(data):
    """Validated on a sample, trained on all rows."""
    model = ECSELMClassifier(scoring="gmean", **SEVERAL_LAYERS)
    with _file(data, "rows.csv") as file:
        blocks = open_blocks(file, block_rows=40)
        return fit_stream(model, blocks, target="target", max_validation_rows=len(data.y) * 2 // 3)


@recorded(*CLASSES, searched=True)
def stream_ecselm_all(data):
    """All rows are in the sample, and the file is one block."""
    model = ECSELMClassifier(scoring="gmean", **ONE_LAYER)
    with _file(data, "rows.csv") as file:
        return fit_stream(model, file, target="target")


@recorded(*CLASSES, searched=True)
def refit_in_blocks(data):
    model = ECSELMClassifier(scoring="gmean", **SEVERAL_LAYERS).fit(data.X[::2], data.y[::2])
    starts = range(0, len(data.y), 60)
    return refit_stream(model, [(data.X[i : i + 60], data.y[i : i + 60]) for i in starts])


@recorded("diabetes", "diabetes_logarithm", "diabetes_rounded", "friedman", searched=True)
def stream_regressor(data):
    starts = range(0, len(data.y), 60)
    blocks = [(data.X[i : i + 60], data.y[i : i + 60]) for i in starts]
    return fit_stream(ECSELMRegressor(30, **SMALL), blocks, max_validation_rows=200)


@contextmanager
def _file(data: Split, name: str) -> Iterator[Path]:
    """Write the rows with their target to a file that is gone afterwards."""
    frame = pd.DataFrame(data.X, columns=[f"input {i}" for i in range(data.X.shape[1])])
    frame["target"] = data.y
    with TemporaryDirectory() as folder:
        file = Path(folder) / name
        if file.suffix == ".csv":
            frame.to_csv(file, index=False)
        else:
            frame.to_parquet(file, index=False)
        yield file


# Rows on Dask.


@recorded(*CLASSES, needs=("distributed",))
def dask_elm(data):
    from ecselm.dask import DaskELMClassifier

    with _collections(data) as (X, y):
        return DaskELMClassifier(30, random_state=0).fit(X, y)


@recorded(*CLASSES, searched=True, needs=("distributed",))
def dask_ecselm(data):
    from ecselm.dask import DaskECSELMClassifier

    n_rows = len(data.y) * 2 // 3
    model = DaskECSELMClassifier(scoring="gmean", **SEVERAL_LAYERS, max_validation_rows=n_rows)
    with _collections(data) as (X, y):
        return model.fit(X, y)


@recorded(*TARGETS, searched=True, needs=("distributed",))
def dask_ecselm_regressor(data):
    from ecselm.dask import DaskECSELMRegressor

    with _collections(data) as (X, y):
        return DaskECSELMRegressor(30, **SMALL).fit(X, y)


@contextmanager
def _collections(data: Split) -> Iterator[tuple[Any, Any]]:
    """Yield the rows in partitions, beside a client within this process."""
    import dask.array as da
    from distributed import Client

    with Client(processes=False, dashboard_address=":0"):
        yield (
            da.from_array(data.X, chunks=(70, data.X.shape[1])),
            da.from_array(data.y, chunks=(70, *data.y.shape[1:])),
        )
