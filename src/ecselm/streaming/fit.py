"""Fit estimators on rows that do not fit in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from ecselm._sklearn import check_parameters, check_weights
from ecselm._typing import AnyArray, IntArray
from ecselm._wording import brief, did_you_mean
from ecselm.estimators import ECSELMClassifier, ECSELMRegressor
from ecselm.estimators._base import ELMBase
from ecselm.outofcore import (
    MAX_VALIDATION_ROWS,
    RowBlock,
    fit_blocks,
    refit_blocks,
    sampled_source,
    search_sampled,
)
from ecselm.outofcore.refit import check_refittable
from ecselm.streaming.blocks import Blocks, Passes, ProgressCallback, open_blocks, read_ahead

SAMPLE_ROWS = MAX_VALIDATION_ROWS
CostSearching = ECSELMClassifier | ECSELMRegressor


def fit_stream(
    estimator: Any,
    source: Any,
    *,
    target: str | None = None,
    max_validation_rows: int = MAX_VALIDATION_ROWS,
    progress: ProgressCallback = None,
) -> Any:
    """Fit an estimator on rows that come in blocks, in bounded memory.

    The first pass over the rows finds the classes and the scale of the inputs, and draws the
    validation rows. The second adds up the normal equations. Held in memory are a block, the
    sums and the validation rows.

    Parameters
    ----------
    estimator : estimator
        Of :mod:`ecselm`, with a hidden layer: one that has ``partial_fit``, or
        :class:`~ecselm.ECSELMClassifier` or :class:`~ecselm.ECSELMRegressor` without costs by
        row. It is not changed.
    source : path, iterable or callable
        A file that :func:`open_blocks` reads, or anything that yields the same blocks every
        time it is iterated over, or called: dataframes that hold the target, or pairs
        ``(X, y)``, or triples with weights. Inputs must be finite numbers.
    target : str or None, default=None
        The column to be predicted, of dataframes.
    max_validation_rows : int, default=100000
        Number of rows, at most, that candidates of a search are validated on, and that a
        ``hidden_layer`` is fitted to. The sample is as even over the classes as there are
        rows, and its weights give classes the mass that they have among all rows.
    progress : callable or None, default=None
        Called with a :class:`StreamProgress` after every block.

    Returns
    -------
    estimator
        A fitted copy. Its ``stream_`` has the number of ``rows``, of ``passes`` over them, and
        of rows that were ``sampled``.

    Notes
    -----
    Without a search the result is that of ``fit`` on all rows up to rounding, and the same
    for any cut into blocks, except with a ``hidden_layer`` that depends on the rows it is fitted
    to. In a search candidates, and members of an ensemble, are trained on all rows, through
    sums, and validated on the sample, as in :mod:`ecselm.dask`. A search for real targets takes
    one pass more, for their range. If the sample holds all rows, the result is that of ``fit``,
    and the pass of sums is not needed. With ``fitness="loo"`` of one layer, or a splitter, which
    need all rows at once, costs are searched on the sample, and (15) is solved with them on all
    rows.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ecselm import ELMClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> blocks = [(X[i : i + 100], y[i : i + 100]) for i in range(0, len(y), 100)]
    >>> model = fit_stream(ELMClassifier(random_state=0), blocks)
    >>> model.stream_
    {'rows': 1797, 'passes': 2, 'sampled': 0}
    >>> whole = ELMClassifier(random_state=0).fit(X, y)
    >>> bool((model.predict(X) == whole.predict(X)).all())
    True
    """
    model = clone(estimator)
    _check(model)
    check_sample(max_validation_rows, "max_validation_rows")
    searches = isinstance(model, CostSearching)
    passes = Passes(3 if searches and not is_classifier(model) else 2, progress)
    blocks = StreamBlocks(source, target, passes, has_labels=is_classifier(model))
    if searches:
        model, n_sampled = _searched(model, blocks, max_validation_rows)
    else:
        n_sampled = fit_blocks(model, blocks, max_validation_rows)
    model.stream_ = {"rows": passes.n_rows, "passes": passes.number, "sampled": n_sampled}
    return model


def refit_stream(
    model: Any, source: Any, *, target: str | None = None, progress: ProgressCallback = None
) -> Any:
    """Solve a searched model again on all rows of a source, in one pass.

    Layers, costs, C, the members of an ensemble and the calibration of probabilities are those
    that the model has learned on the rows of its ``fit``. Output weights are those of all rows
    of the source.

    Parameters
    ----------
    model : ECSELMClassifier or ECSELMRegressor
        Fitted, with a hidden layer and without costs by row. It is not changed.
    source, target, progress :
        As in :func:`fit_stream`.

    Returns
    -------
    model
        A copy, with ``stream_`` as in :func:`fit_stream`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from ecselm import ECSELMClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> search = ECSELMClassifier(10, population_size=5, max_epochs=1, random_state=0)
    >>> model = refit_stream(search.fit(X[::2], y[::2]), [(X[:300], y[:300]), (X[300:], y[300:])])
    >>> model.stream_["rows"], bool((model.class_costs_ == search.class_costs_).all())
    (569, True)
    """
    if not isinstance(model, CostSearching):
        raise TypeError(
            "model must be an ECSELMClassifier or ECSELMRegressor, got "
            f"{type(model).__name__}; fit_stream fits others"
        )
    check_refittable(model)
    passes = Passes(1, progress)
    fitted = refit_blocks(
        model, StreamBlocks(source, target, passes, has_labels=is_classifier(model))
    )
    fitted.stream_ = {"rows": passes.n_rows, "passes": 1, "sampled": 0}
    return fitted


def _check(model: Any) -> None:
    """Refuse what cannot be fitted in blocks before any row is read."""
    if not isinstance(model, ELMBase):
        raise TypeError(f"estimator must be one of ecselm's, got {type(model).__name__}")
    check_parameters(model)
    if model.kernel is not None:
        raise ValueError(
            f"kernel must be None to fit in blocks, got {model.kernel!r}; hidden_layer=Nystroem() "
            "approximates a kernel"
        )
    if isinstance(model, CostSearching):
        if model.cost_level == "sample":
            raise ValueError("cost_level must be 'class' or 'matrix' to fit in blocks")
    elif model.ensemble is not None:
        raise ValueError(
            f"ensemble must be None to fit in blocks, got {model.ensemble!r}: use "
            "ECSELMClassifier, which chooses members by a sample of the rows"
        )
    elif not hasattr(model, "partial_fit"):
        raise ValueError(f"estimator must have partial_fit, got {type(model).__name__}")


def _searched(
    model: CostSearching, blocks: StreamBlocks, max_validation_rows: int
) -> tuple[Any, int]:
    """Return the model with searched costs, and the number of rows in memory."""
    source = sampled_source(model, blocks, max_validation_rows)
    rows = source.X, source.y, source.sample_weight
    by_folds = isinstance(model.fitness, str | Integral) and model.fitness != "loo"
    by_sums = by_folds or (isinstance(model, ECSELMClassifier) and model._is_ensemble())
    if source.is_complete:
        model.fit(*rows)
        if len(source.sample) < source.known.n_rows:  # it lacks the rows of weight 0
            del model.cost_vector_
    elif by_sums:
        search_sampled(model, source)
    else:
        model = refit_blocks(model.fit(*rows), blocks)
    return model, len(source.sample)


def check_sample(n_rows: int, name: str = "sample") -> None:
    """Refuse a sample of no rows."""
    if n_rows < 1:
        raise ValueError(f"{name} must be at least 1 row, got {n_rows}")


class StreamBlocks:
    """Blocks that are read again in every pass, one after the other.

    Parameters
    ----------
    source : path, iterable or callable
    target : str or None
    passes : Passes
        Counts the passes.
    has_labels : bool
        Whether targets are labels of classes.
    """

    reads_targets_alone = False

    def __init__(
        self, source: Any, target: str | None, passes: Passes, *, has_labels: bool
    ) -> None:
        if isinstance(source, str | os.PathLike):
            source = open_blocks(source)
        if not callable(source) and (not isinstance(source, Iterable) or iter(source) is source):
            raise ValueError(
                "source must be blocks that can be read again: a file, a list, open_blocks(...), "
                f"or a function that returns blocks, got {type(source).__name__}"
            )
        known = getattr(source, "n_rows", None)
        if isinstance(known, int):
            passes.n_rows = known
        self.has_labels = has_labels
        self.names: AnyArray | None = None
        self._source, self._target, self._passes = source, target, passes
        self._dtype: Any = None
        self._sizes: list[int] = []

    @property
    def sizes(self) -> IntArray:
        """Return the number of rows of every block."""
        return np.array(self._sizes, dtype=np.intp)

    def reduce(
        self,
        function: Callable[[RowBlock], Any],
        add: Callable[[Any, Any], Any],
        purpose: str,
        *,
        targets_alone: bool = False,  # a block is read as a whole
        placed: bool = False,  # places are always known
    ) -> Any:
        """Return the sum of what a function returns of every block, one after the other."""
        total, sizes, start = None, [], 0
        for block in self._passes.over(self._blocks(), purpose, len):
            places = np.arange(start, start + len(block))
            found = function(replace(block, places=places))
            total = found if total is None else add(total, found)
            sizes.append(len(block))
            start += len(block)
        if not sizes:
            raise ValueError("source must hold at least one row, got none")
        self._sizes = sizes
        return total

    def _blocks(self) -> Iterator[RowBlock]:
        # A source of the user's may not be used by another thread.
        return read_ahead(self._read()) if isinstance(self._source, Blocks) else self._read()

    def _read(self) -> Generator[RowBlock, None, None]:
        """Yield blocks of at least a row, checked."""
        start, width = 0, None
        source = self._source() if callable(self._source) else self._source
        for number, given in enumerate(source, 1):
            block = _block(given, self._target, f"block {number}")
            width = _checked(block, f"block {number}", start, width)
            start += len(block)
            if len(block):
                yield self._numeric(block, f"block {number}")

    def _numeric(self, block: RowBlock, place: str) -> RowBlock:
        """Return a block of numbers of one type, with labels or real targets."""
        X = block.X
        if isinstance(X, pd.DataFrame):
            names = np.asarray(X.columns, dtype=object)
            if self.names is not None and not np.array_equal(self.names, names):
                raise ValueError(
                    f"{place} must have the columns {self.names.tolist()} as those before, got "
                    f"{names.tolist()}"
                )
            self.names, X = names, X.to_numpy()
        if self._dtype is None:
            self._dtype = np.dtype(np.float32 if X.dtype == np.float32 else np.float64)
        X = X.astype(self._dtype, copy=False)
        X = X if sparse.issparse(X) else np.ascontiguousarray(X)
        weight = check_weights(block.weight, X, may_be_zero=True)
        if self.has_labels:
            check_classification_targets(block.y)
            return RowBlock(X, np.asarray(column_or_1d(block.y)), weight)
        return RowBlock(X, np.asarray(block.y, dtype=np.float64), weight)


@contextmanager
def placed(number: int, start: int, n_rows: int) -> Iterator[None]:
    """Say in which block something was wrong, and which rows are its first and its last.

    Examples
    --------
    >>> with placed(3, 200, 100):
    ...     raise ValueError("age must be a number")
    Traceback (most recent call last):
        ...
    ValueError: block 3, which is rows 201 to 300: age must be a number
    """
    try:
        yield
    except ValueError as error:
        last = start + n_rows
        raise ValueError(f"block {number}, which is rows {start + 1} to {last}: {error}") from error


def _block(given: Any, target: str | None, place: str) -> RowBlock:
    """Return a frame with a target, or a pair or triple, as a block."""
    if isinstance(given, pd.DataFrame):
        if target not in given.columns:
            raise ValueError(
                f"target must be a column of {place}, got {target!r}"
                f"{did_you_mean(str(target), map(str, given.columns))}"
            )
        X = _by_row(given.drop(columns=target))
        return RowBlock(X, given[target].infer_objects().to_numpy())
    if not isinstance(given, tuple) or len(given) not in {2, 3}:
        raise ValueError(
            f"{place} must be a dataframe, or inputs and targets (X, y), or with weights "
            f"(X, y, weights), got {type(given).__name__}"
        )
    X, y, *weights = given
    weight = np.asarray(weights[0], dtype=np.float64) if weights else None
    if sparse.issparse(X):
        X = X.tocsr()
    elif not isinstance(X, pd.DataFrame):
        X = np.asarray(X)
    return RowBlock(X, np.asarray(y), weight)


def _by_row(X: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of numbers that is stored row by row, as products want it."""
    values = X.to_numpy()
    if values.dtype not in (np.float32, np.float64):
        return X
    return pd.DataFrame(np.ascontiguousarray(values), columns=X.columns, copy=False)


def _checked(block: RowBlock, place: str, start: int, width: int | None) -> int:
    """Return the number of columns, or refuse the first bad value by its place."""
    X, n = block.X, len(block)
    if X.ndim != 2 or X.shape[0] != n:
        raise ValueError(f"{place} must have as many rows of X as targets, got {X.shape} and {n}")
    if width is not None and X.shape[1] != width:
        raise ValueError(f"{place} must have {width} columns as those before, got {X.shape[1]}")
    if block.weight is not None and block.weight.shape != (n,):
        raise ValueError(f"{place} must have {n} weights, got the shape {block.weight.shape}")
    if sparse.issparse(X):
        _check_values(X.data, "X", place, start, X.indptr)
    elif isinstance(X, pd.DataFrame) and not _is_finite(X.to_numpy()):
        for name in X.columns:
            _check_values(X[name].to_numpy(), f"column {name!r}", place, start)
    elif not isinstance(X, pd.DataFrame):
        _check_values(X, "X", place, start)
    _check_targets(block.y, place, start)
    return int(X.shape[1])


def _is_finite(values: AnyArray) -> bool:
    """Tell of numbers whether they are finite; of anything else it is not known."""
    # What is not finite makes the sum so, and a sum takes no memory.
    return values.dtype.kind in "biu" or (
        values.dtype.kind == "f" and bool(np.isfinite(values.sum()))
    )


def _check_values(
    values: AnyArray, what: str, place: str, start: int, indptr: IntArray | None = None
) -> None:
    """Refuse the first value that is no finite number; ``indptr`` tells the rows of sparse ones."""
    if _is_finite(values):
        return
    finite = np.isfinite(values) if values.dtype.kind == "f" else _are_numbers(values)
    if finite.all():
        return
    first = np.argwhere(~finite)[0]
    row = int(first[0])
    if indptr is not None:
        row = int(np.searchsorted(indptr, row, side="right")) - 1
    raise ValueError(
        f"{what} must hold finite numbers, got {brief(str(values[tuple(first)]))} in {place}, "
        f"row {row + 1} (row {start + row + 1} of all)"
    )


def _are_numbers(values: AnyArray) -> AnyArray:
    """Tell which of any objects are finite numbers; what is written as words is not."""
    flat = [
        isinstance(value, int | float | np.number) and bool(np.isfinite(value))
        for value in values.ravel().tolist()
    ]
    return np.array(flat, dtype=bool).reshape(values.shape)


def _check_targets(y: AnyArray, place: str, start: int) -> None:
    missing = np.argwhere(np.asarray(pd.isna(y)))
    if len(missing):
        row = int(missing[0][0])
        raise ValueError(
            f"y must hold a target in every row, got none in {place}, row {row + 1} "
            f"(row {start + row + 1} of all)"
        )
