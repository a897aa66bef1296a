"""Fit estimators on rows that do not fit in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils.multiclass import check_classification_targets

from ecselm._random import as_generator
from ecselm._sklearn import check_parameters
from ecselm._typing import AnyArray, FloatArray
from ecselm.estimators import ECSELMClassifier, ECSELMRegressor
from ecselm.estimators._base import ELMBase, fit_blocks
from ecselm.estimators._layers import LayerRecipe
from ecselm.estimators._refit import check_refittable, refit_blocks
from ecselm.layers import RandomLayer, ScaleSum
from ecselm.streaming.blocks import Passes, Told
from ecselm.streaming.rows import ClassSample, RowBlock, RowSource, check_sample

SAMPLE_ROWS = 100_000
LOOK, SUMS = "looking at the rows", "adding up"
Searching = ECSELMClassifier | ECSELMRegressor


def fit_stream(
    estimator: Any,
    source: Any,
    *,
    target: str | None = None,
    sample: int = SAMPLE_ROWS,
    progress: Told = None,
) -> Any:
    """Fit an estimator on rows that come in blocks, in bounded memory.

    The first pass over the rows finds the classes and the scale of the inputs, and draws a
    sample. The second adds up the normal equations. What is held is a block, the sums and the
    sample.

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
    sample : int, default=100000
        The most rows from which layers, costs and C are chosen where those are searched, and
        to which a ``hidden_layer`` is fitted. It is even over the classes, and rows are
        weighed so that classes count as they do among all rows.
    progress : callable or None, default=None
        Called with a :class:`StreamProgress` after every block.

    Returns
    -------
    estimator
        A fitted copy. Its ``stream_`` says how many ``rows`` it is from, in how many
        ``passes``, and how many were ``sampled``.

    Notes
    -----
    Without a search the result is that of ``fit`` on all rows up to rounding, and the same
    for any cut into blocks, except with a ``hidden_layer`` that depends on the rows it is fitted
    to. A search sees the sample; then (15) is solved on all rows for what it has found. If the
    sample holds all rows, that is what ``fit`` does, and one pass is enough.

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
    check_sample(sample)
    rows = RowSource.of(source, target)
    passes = Passes(2, progress, rows.n_rows)
    if isinstance(model, Searching):
        model, n_sampled = _searched(model, rows, passes, sample)
    else:
        n_sampled = _summed(model, rows, passes, sample)
    model.stream_ = {"rows": passes.n_rows, "passes": passes.number, "sampled": n_sampled}
    return model


def refit_stream(
    model: Any, source: Any, *, target: str | None = None, progress: Told = None
) -> Any:
    """Solve a searched machine again on all rows of a source, in one pass.

    Layers, costs and C are those that the model has learned on the rows of its ``fit``, and so
    are the cuts between classes, and how loud the members of a committee are. Output weights
    are those of all rows of the source.

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
    if not isinstance(model, Searching):
        raise TypeError(
            "model must be an ECSELMClassifier or ECSELMRegressor, got "
            f"{type(model).__name__}; fit_stream fits others"
        )
    check_refittable(model)
    rows = RowSource.of(source, target)
    passes = Passes(1, progress, rows.n_rows)
    fitted = refit_blocks(model, _parts(rows, passes, SUMS))
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
    if isinstance(model, Searching):
        if model.cost_level == "sample":
            raise ValueError("cost_level must be 'class' or 'matrix' to fit in blocks")
    elif not hasattr(model, "partial_fit"):
        raise ValueError(f"estimator must have partial_fit, got {type(model).__name__}")


@dataclass(slots=True)
class _Look:
    """What there is to be known before the sums."""

    scale: ScaleSum | None = None
    sample: ClassSample | None = None
    first: RowBlock | None = None
    classes: AnyArray | None = None

    def add(self, block: RowBlock, model: Any) -> None:
        """Take one more block into account."""
        self.first = self.first or block
        if is_classifier(model):
            check_classification_targets(block.y)
            found = np.unique(block.y)
            self.classes = found if self.classes is None else np.union1d(self.classes, found)
        if self.sample is not None:
            strata = block.y if is_classifier(model) else np.zeros(len(block))
            self.sample.add(block, strata)
        else:
            more = ScaleSum.of(_numbers(block.X), block.weight)
            self.scale = more if self.scale is None else self.scale + more


def _summed(model: Any, rows: RowSource, passes: Passes, n_sample: int) -> int:
    """Fit a machine that searches nothing; it is overwritten. Return the size of the sample."""
    rng = as_generator(model.random_state).spawn(1)[0]
    look = _Look(sample=None if model.hidden_layer is None else ClassSample(n_sample, rng))
    for block in passes.over(rows, LOOK, len):
        look.add(block, model)
    if look.first is None:
        raise ValueError("source must hold at least one row, got none")
    if look.classes is not None and len(look.classes) < 2:
        raise ValueError(f"y must have at least two classes, got {look.classes.tolist()}")
    first = _numbers(look.first.X)
    recipe = model._recipe(first)
    made = _made(recipe, look, first)
    fit_blocks(model, made, _parts(rows, passes, SUMS), look.classes)
    return 0 if look.sample is None else len(look.sample.block)


def _made(recipe: LayerRecipe, look: _Look, first: Any) -> LayerRecipe:
    """Return the recipe with the layer made of what the first pass has found."""
    if look.sample is not None:
        sampled = look.sample.block
        return replace(recipe, made=recipe.make(_numbers(sampled.X), sampled.weight))
    if look.scale is None or not look.scale.weight:
        raise ValueError("weights must not be 0 for every row")
    layer: RandomLayer = recipe.scaled(look.scale.scale(recipe.scale))
    layer.warn_if_saturated(first)
    return replace(recipe, made=layer)


def _searched(model: Searching, rows: RowSource, passes: Passes, n_sample: int) -> tuple[Any, int]:
    """Search on a sample, then solve on all rows; return the model and the sample's size."""
    rng = as_generator(model.random_state).spawn(1)[0]
    look = _Look(sample=ClassSample(n_sample, rng))
    for block in passes.over(rows, LOOK, len):
        look.add(block, model)
    sample = look.sample
    if sample is None or look.first is None:
        raise ValueError("source must hold at least one row, got none")
    block = sample.block
    if np.ndim(block.y) > 1 and not sample.is_complete:
        raise ValueError(f"y must have one target to search in blocks, got {block.y.shape[1]}")
    model.fit(block.X, block.y, sample_weight=sample_weights(sample))
    if sample.is_complete:
        return model, len(block)
    return refit_blocks(model, _parts(rows, passes, SUMS)), len(block)


def sample_weights(sample: ClassSample) -> FloatArray | None:
    """Return weights with which a sample stands for all rows, None where all are 1."""
    if sample.is_complete:
        return sample.block.weight
    factors = sample.factors
    weight = sample.block.weight
    return factors if weight is None else weight * factors


def _parts(rows: RowSource, passes: Passes, purpose: str) -> Iterator[tuple[Any, Any, Any]]:
    for block in passes.over(rows, purpose, len):
        yield block.parts


def _numbers(X: Any) -> Any:
    """Return inputs as estimators see them."""
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
