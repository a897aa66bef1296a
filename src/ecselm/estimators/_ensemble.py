"""The ensemble: kernel machines of several kinds, the best of them averaged.

Every layer is a kernel seen from centres, which are training rows: all of them while these are
few, then the machine is exactly that of (7); a sample of them beyond. Every candidate, a layer
with a C, is judged by the squared error of its leave-one-out scores, which are closed-form. No
metric and no search takes part, so that the ensemble estimates probabilities, and costs decide.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ecselm._threads import share_out
from ecselm._typing import AnyArray, FloatArray, IntArray, Matrix
from ecselm.estimators._calibration import LooScores
from ecselm.estimators._layers import DenseScale, finite, uncentred
from ecselm.fitness.folds import Groups, first_places, row_hashes
from ecselm.layers import (
    InputScale,
    KernelMap,
    LayerUnion,
    RankScale,
    kernel_distances,
    measure_scale,
    resolve_gamma,
)
from ecselm.linalg import GramBlocks, GramSum, LooRows, RidgePath

KERNELS = ("rbf", "laplacian")
INPUTS = ("standard", "ranks", "root", "relevance", "minmax", None)
INPUTS_TRIED = ("standard", "ranks", "root", "relevance")
DENSE_ONLY = ("ranks", "relevance")
WIDTHS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
N_MEMBERS = 20
PENALTIES = tuple(4.0**p for p in range(-3, 9))  # C, for a B of the mean 1
N_PENALTIES = len(PENALTIES)
# Members are clearly worse beyond twice the error of the best and a little of the variance.
CLOSE, CLOSE_ENOUGH = 2.0, 0.01
RELEVANCE_ROWS, RELEVANCE_ROWS_PER_OUTPUT = 1000, 200
RELEVANCE_ROUNDS, RELEVANCE_POWER, LEAST_RELEVANCE = 2, 0.5, 1e-3
LARGEST = 1e100
ALIKE = 2.0  # ratio of standard deviations up to which inputs share a scale

LEAST_UNITS, UNITS_PER_ROOT, MOST_UNITS = 400, 3.2, 2000
BLOCK_ENTRIES = 1 << 21  # of H at a time: enough rows for BLAS to be fast
EXACT_SHARE = 1.25  # rows per unit up to which all rows are centres
SCREENING_ROWS, SCREENING_UNITS = 2000, 100
VALIDATION_ROWS = 5000
MANY_LAYERS, FEW_LAYERS, ROWS_OF_MANY = 6, 2, 5000
KernelSums = Callable[[Sequence[KernelMap]], list[GramBlocks]]


@dataclass(frozen=True, slots=True)
class LayerSpec:
    """A layer that the ensemble may use.

    Parameters
    ----------
    kernel : {"rbf", "laplacian"}
    inputs : {"standard", "ranks", "root", "relevance", "minmax"} or None
        Scale of the inputs; ``"ranks"`` are normal scores of ranks, ``"root"`` divides by the
        root of the standard deviation, between ``"standard"`` and None, and ``"relevance"``
        multiplies standardised inputs by how much the scores depend on them.
    width : float
        Width of the kernel. For ``"rbf"`` gamma is the width over the number of inputs and
        their variance, for ``"laplacian"`` its root over the mean distance to the centre.

    Examples
    --------
    >>> LayerSpec.of({"kernel": "rbf", "width": 3})
    LayerSpec(kernel='rbf', inputs='standard', width=3.0)
    """

    kernel: str = "rbf"
    inputs: str | None = "standard"
    width: float = 1.0

    def __post_init__(self) -> None:
        if self.kernel not in KERNELS:
            raise ValueError(f"kernel of a layer must be one of {KERNELS}, got {self.kernel!r}")
        if self.inputs not in INPUTS:
            raise ValueError(f"inputs of a layer must be one of {INPUTS}, got {self.inputs!r}")
        if not (isinstance(self.width, Real) and 0 < float(self.width) < np.inf):
            raise ValueError(f"width of a layer must be a positive number, got {self.width!r}")

    @classmethod
    def of(cls, stated: Any) -> LayerSpec:
        """Return a layer from a mapping of its parameters, or from their sequence."""
        if isinstance(stated, LayerSpec):
            return stated
        try:
            spec = cls(**stated) if isinstance(stated, Mapping) else cls(*stated)
        except TypeError:
            raise ValueError(
                "a layer of ensemble must state kernel, inputs and width, as in "
                f"('rbf', 'standard', 1.0), got {stated!r}"
            ) from None
        return replace(spec, width=float(spec.width))


@dataclass(frozen=True, slots=True)
class EnsembleSpec:
    """The layers to choose from, and the number of members.

    Examples
    --------
    >>> len(EnsembleSpec.of("auto").layers), EnsembleSpec.of(5).n_members
    (48, 5)
    """

    layers: tuple[LayerSpec, ...]
    n_members: int = N_MEMBERS

    @classmethod
    def of(cls, ensemble: Any, inputs: Sequence[str | None] = INPUTS_TRIED) -> EnsembleSpec:
        """Read the parameter ``ensemble``: ``"auto"``, a number of members or a list of layers."""
        layers = tuple(LayerSpec(*each) for each in product(KERNELS, inputs, WIDTHS))
        if isinstance(ensemble, str):
            return cls(layers)
        if isinstance(ensemble, Integral):
            return cls(layers, int(ensemble))
        stated = tuple(dict.fromkeys(LayerSpec.of(one) for one in ensemble))
        if not stated:
            raise ValueError("ensemble must have at least one layer, got an empty list")
        return cls(stated)

    def for_inputs(self, rows: EnsembleRows) -> EnsembleSpec:
        """Leave out layers that do not suit the inputs.

        Sparse rows are not ranked, relevance is not learned from few rows, and inputs of about
        the same standard deviation are on the scale ``"root"`` what they are on
        ``"standard"``: one is enough.
        """
        kept = self.layers
        if sparse.issparse(rows.X):
            kept = tuple(one for one in kept if one.inputs not in DENSE_ONLY)
            if not kept:
                raise ValueError(
                    f"ensemble must have a layer with inputs other than {DENSE_ONLY} for sparse "
                    "X, got none"
                )
        least = max(RELEVANCE_ROWS, RELEVANCE_ROWS_PER_OUTPUT * rows.T.shape[1])
        if len(rows) < least or rows.X.shape[1] == 1:
            plain = tuple(one for one in kept if one.inputs != "relevance")
            kept = plain or kept
        kinds = {one.inputs for one in kept}
        if {"root", "standard"} <= kinds:
            std = measure_scale(rows.X, "standard", rows.weight).width
            if std.max() <= ALIKE * std.min():
                kept = tuple(one for one in kept if one.inputs != "root")
        return replace(self, layers=kept)


# How much of everything: by rows, classes and memory


@dataclass(frozen=True, slots=True)
class EnsembleSize:
    """How many units, layers and validation rows an ensemble has.

    Parameters
    ----------
    n_units : int
        Centres of every layer; all rows if it is as large as their number.
    n_layers : int
        Layers that are solved with all units, those that do best with few.
    n_validation : int
        Rows that are left out one by one.
    """

    n_units: int
    n_layers: int
    n_validation: int

    @classmethod
    def of(
        cls, n_hidden: int | str, n_rows: int, n_outputs: int, n_members: int, memory: int
    ) -> EnsembleSize:
        """Return the sizes for ``n_hidden``, within a memory in bytes.

        Examples
        --------
        >>> EnsembleSize.of("auto", 300, 1, 20, 2**30)
        EnsembleSize(n_units=300, n_layers=6, n_validation=300)
        >>> EnsembleSize.of("auto", 100_000, 1, 20, 2**30)
        EnsembleSize(n_units=1012, n_layers=2, n_validation=5000)
        """
        L = automatic_units(n_rows, n_outputs) if isinstance(n_hidden, str) else int(n_hidden)
        if n_rows <= EXACT_SHARE * L:
            L = n_rows
        share = (ROWS_OF_MANY / n_rows) ** (1 / 3)
        n_layers = int(np.clip(round(MANY_LAYERS * share), FEW_LAYERS, MANY_LAYERS))
        n_validation = min(n_rows, VALIDATION_ROWS)
        if n_rows > L:
            # Validation rows go first, then units: both are there for accuracy alone.
            while n_validation > 1000 and _bytes(L, n_validation, n_outputs, n_members) > memory:
                n_validation = max(1000, n_validation * 3 // 4)
        while L > 10 and _bytes(L, n_validation, n_outputs, n_members) > memory:
            L, n_validation = L * 3 // 4, min(n_validation, max(1000, L))
        return cls(L, n_layers, n_validation)


def automatic_units(n_rows: int, n_outputs: int) -> int:
    """Return the number of units for ``n_hidden="auto"``, which grows with rows and classes.

    400, or 3.2 times the root of the rows, up to twice as many for many classes, and at most
    2000: a layer then takes ``N L^2`` operations, about two seconds for 100,000 rows.

    Examples
    --------
    >>> automatic_units(1000, 1), automatic_units(100_000, 1), automatic_units(1000, 100)
    (400, 1012, 800)
    """
    units = max(LEAST_UNITS, UNITS_PER_ROOT * np.sqrt(n_rows))
    return round(min(MOST_UNITS, units * min(2.0, max(1.0, n_outputs / 2.0) ** 0.25)))


def _bytes(L: int, n: int, m: int, n_members: int) -> int:
    """Return the memory of a path, its rows and the candidates kept."""
    return 8 * (4 * L * L + 4 * n * L + 3 * (n + L) * m) + n_members * m * (4 * n + 8 * L)


# The rows


@dataclass(frozen=True, slots=True)
class EnsembleRows:
    """Training rows, or a sample of them: inputs, targets and weights.

    Parameters
    ----------
    X : matrix of shape (N, n)
    T : array of shape (N, m)
    B : array of shape (N,)
        Cost information vector of the mean 1, times the sample weights.
    strata : array of shape (N,)
        Classes of the rows, which samples are drawn by.
    weight : array of shape (N,) or None, default=None
        Sample weights.
    groups : Groups or None, default=None
        Rows that are left out together.
    is_sample : bool, default=False
        Whether weights tell how many rows each stands for.
    """

    X: Matrix
    T: FloatArray
    B: FloatArray
    strata: IntArray
    weight: FloatArray | None = None
    groups: Groups | None = None
    is_sample: bool = False

    def __len__(self) -> int:
        return len(self.T)

    def taken(self, rows: IntArray) -> EnsembleRows:
        """Return some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        groups = None if self.groups is None else self.groups.taken(rows)
        return EnsembleRows(
            *(self.X[rows], self.T[rows], self.B[rows], self.strata[rows]),
            *(weight, groups, self.is_sample),
        )

    def loo_rows(self) -> LooRows:
        """Return the rows as they are left out."""
        together = None
        if self.groups is not None:
            codes = self.groups.codes
            order = np.argsort(codes, kind="stable")
            places = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)
            together = [place for place in places if len(place) > 1]
        # A row is left out with all of its weight, whose scale must not choose the members; one
        # of a sample stands for rows of which the others stay.
        return LooRows(self.T, self.B, self.weight if self.is_sample else None, together)

    def sample(self, size: int, hashes: AnyArray, rng: np.random.Generator) -> IntArray:
        """Return the positions of a sample by class, in the order of the rows' hashes.

        The order makes the draw independent of the order of the rows. Every class has its
        share, but at least as many rows as two, if it has them. Groups are drawn whole.
        """
        if size >= len(self):
            return np.arange(len(self))
        order = np.argsort(hashes, kind="stable")
        ranks = np.empty(len(self))
        ranks[order] = rng.random(len(self))
        if self.groups is not None:  # whole groups: rows left in training would tell of the others
            codes = self.groups.codes
            first = order[np.unique(codes[order], return_index=True)[1]]  # row of every group
            groups = np.argsort(ranks[first], kind="stable")
            ends = np.cumsum(np.bincount(codes)[groups])
            kept = groups[: max(1, np.searchsorted(ends, size, side="right"))]
            return np.flatnonzero(np.isin(codes, kept))
        counts = np.bincount(self.strata)
        wanted = np.minimum(counts, np.maximum(np.ceil(counts * (size / len(self))), 2))
        chosen = [
            own[np.argsort(ranks[own], kind="stable")[: int(wanted[c])]]
            for c, own in ((c, np.flatnonzero(self.strata == c)) for c in range(len(counts)))
        ]
        return np.sort(np.concatenate(chosen))

    def sums(self, layers: Sequence[KernelMap]) -> list[GramBlocks]:
        """Return the normal equations behind every layer, summed block by block."""
        return [self._sum(layer) for layer in layers]

    def _sum(self, layer: KernelMap) -> GramBlocks:
        step = max(256, BLOCK_ENTRIES // layer.n_hidden)
        starts = range(0, len(self), step)
        blocks = [slice(start, min(start + step, len(self))) for start in starts]
        largest = min(step, len(self))

        def add_up(lane: list[slice]) -> GramSum:
            total = GramSum(largest, layer.n_hidden, self.T.shape[1], np.dtype(np.float64), 1)
            for rows in lane:
                layer(self.X[rows], out=total.hidden(rows.stop - rows.start))
                total.add(self.T[rows], self.B[rows], 0)
            return total

        total, *others = share_out(add_up, blocks)
        for other in others:
            total.merge(other)
        return total.blocks()


@dataclass(slots=True)
class View:
    """Inputs on one scale, and the kernel widths that suit them."""

    scale: Callable[[Matrix], Matrix]
    gammas: dict[str, float]

    @classmethod
    def measured(cls, inputs: str | None, X: Matrix, weight: FloatArray | None) -> View:
        """Measure the scale of rows."""
        scale: Callable[[Matrix], Matrix]
        if inputs == "ranks":
            scale = DenseScale(RankScale.measured(X[first_places(row_hashes(X))]))
        else:
            measured = measure_scale(X, "standard" if inputs == "root" else inputs, weight)
            if inputs == "root":
                measured = replace(measured, width=np.sqrt(measured.width))
            scale = uncentred(measured) if sparse.issparse(X) else DenseScale(measured)
        return cls.on_scale(scale, X, weight)

    @classmethod
    def on_scale(
        cls, scale: Callable[[Matrix], Matrix], X: Matrix, weight: FloatArray | None
    ) -> View:
        """Measure the widths that suit the rows on a scale."""
        scaled = scale(X)
        reach = float(np.average(np.asarray(abs(scaled).sum(axis=1)).ravel(), weights=weight))
        gamma = resolve_gamma("scale", scaled, weight)
        return cls(scale, {"rbf": gamma, "laplacian": 1.0 / reach if reach > 0 else 1.0})

    def gamma(self, spec: LayerSpec) -> float:
        """Return gamma of a layer."""
        width = np.sqrt(spec.width) if spec.kernel == "laplacian" else spec.width
        return float(width * self.gammas[spec.kernel])


def _views(
    spec: EnsembleSpec, rows: EnsembleRows, few: EnsembleRows, centres: Matrix
) -> dict[str | None, View]:
    """Return the inputs of all layers on their scales."""
    views: dict[str | None, View] = {}
    for kind in dict.fromkeys(one.inputs for one in spec.layers):
        if kind == "relevance":
            scale = relevance_scale(few, centres, measure_scale(rows.X, "standard", rows.weight))
            views[kind] = View.on_scale(DenseScale(scale), rows.X, rows.weight)
        else:
            views[kind] = View.measured(kind, rows.X, rows.weight)
    return views


def relevance_scale(rows: EnsembleRows, centres: FloatArray, standard: InputScale) -> InputScale:
    """Return standardised inputs times the root mean square of the scores' gradient.

    The diagonal of the average gradient outer product of a kernel machine on the inputs so far,
    a few times over: inputs that scores do not depend on fade (a recursive feature machine).
    """
    relevance = np.ones(rows.X.shape[1])
    left_out, B = rows.loo_rows(), rows.B[:, np.newaxis]
    for _ in range(RELEVANCE_ROUNDS):
        scale = replace(standard, width=standard.width / relevance)
        A, Z = scale(rows.X), scale(centres)
        around, between = kernel_distances("rbf", A, Z), kernel_distances("rbf", Z, Z)
        base, least = resolve_gamma("scale", A, rows.weight), np.inf
        H, beta = around, rows.T[:0]
        for width in WIDTHS[1:-1]:
            values, K = np.exp(-width * base * around), np.exp(-width * base * between)
            path = RidgePath.of_sums(
                K, values.T @ (B * values), values.T @ (B * rows.T), values, left_out
            )
            errors = [_squared_error(path.loo_scores(C), rows) for C in PENALTIES]
            if min(errors) < least:
                least, H, beta = min(errors), values, path.beta(PENALTIES[np.argmin(errors)])
        # The gradient of sum_l beta_l exp(-gamma |a - z_l|^2) by a, but for a factor, one
        # output at a time: all of them may be too large.
        squares = np.zeros(len(relevance))
        for b in beta.T:
            gradient = A * (H @ b)[:, np.newaxis] - H @ (Z * b[:, np.newaxis])
            squares += rows.B @ np.square(gradient)
        if not squares.any():  # scores that depend on nothing
            break
        relevance = (relevance * np.sqrt(squares)) ** RELEVANCE_POWER
        relevance = np.maximum(relevance / relevance.max(), LEAST_RELEVANCE)
    return replace(standard, width=standard.width / relevance)


# The choice


class Member(NamedTuple):
    """A member of an ensemble: its layer, C and squared leave-one-out error."""

    kernel: str
    inputs: str | None
    width: float
    C: float
    squared_error: float


@dataclass(order=True, slots=True)
class Candidate:
    """A layer with a C; the smallest is the worst, and of equals the one tried last."""

    merit: tuple[float, int]
    layer: int = field(compare=False)
    C: float = field(compare=False)
    scores: FloatArray = field(compare=False)  # (n, m), of rows left out
    beta: FloatArray = field(compare=False)  # (L, m)

    @property
    def squared_error(self) -> float:
        """Return the weighted mean over rows and outputs."""
        return -self.merit[0]


@dataclass(frozen=True, slots=True)
class Ensemble:
    """The mean of the members, as one model behind all of their layers."""

    layer: LayerUnion
    beta: FloatArray  # (L, m)
    members: tuple[Member, ...]
    positions: IntArray  # (n,) of the validation rows
    loo_scores: FloatArray  # (n, m) of the validation rows

    def loo(self, rows: EnsembleRows, B: FloatArray) -> LooScores:
        """Return what probabilities are calibrated on, for the costs B (N,) of all rows."""
        own = self.positions
        weight = np.ones(len(own)) if rows.weight is None else rows.weight[own]
        return LooScores(self.loo_scores, rows.strata[own], weight, B[own])


def fit_ensemble(
    rows: EnsembleRows,
    spec: EnsembleSpec,
    n_hidden: int | str,
    penalties: Sequence[float],
    rng: np.random.Generator,
    memory: int,
    sums: KernelSums | None = None,
) -> Ensemble:
    """Choose the members by leave-one-out and average them.

    Parameters
    ----------
    rows : EnsembleRows
        All training rows; with ``sums`` a sample of them.
    spec : EnsembleSpec
    n_hidden : int or "auto"
        Centres of every layer.
    penalties : sequence of float
        Values of C to choose from.
    rng : Generator
        Draws centres and samples.
    memory : int
        Bytes.
    sums : callable or None, default=None
        Return the normal equations of all training rows behind layers; None: of ``rows``.
    """
    if float(abs(rows.X).max()) > LARGEST:
        raise ValueError(
            f"X must have entries up to {LARGEST:g}, whose squares are finite, with an ensemble, "
            f"got {abs(rows.X).max():g}"
        )
    rows = replace(rows, is_sample=sums is not None)
    spec = spec.for_inputs(rows)
    size = EnsembleSize.of(n_hidden, len(rows), rows.T.shape[1], spec.n_members, memory)
    centre_rng, sample_rng = rng.spawn(2)
    hashes = row_hashes(rows.X)
    distinct = first_places(hashes)
    centres = distinct[centre_rng.permutation(len(distinct))]
    few = rows.taken(rows.sample(SCREENING_ROWS, hashes, sample_rng))
    around = rows.X[np.sort(centres[:SCREENING_UNITS])]
    views = _views(spec, rows, few, around)
    screened = _screened(few, spec, views, size.n_layers, around)

    # The layers that did best with few units get all of them.
    positions = rows.sample(size.n_validation, hashes, sample_rng)
    validation = rows.taken(positions) if len(positions) < len(rows) else rows
    exact = size.n_units >= len(rows) and sums is None
    own = np.arange(len(rows)) if exact else np.sort(centres[: size.n_units])
    layers = [_layer(one, views[one.inputs], rows.X[own]) for one in screened]
    paths = _paths(layers, rows, validation, exact, sums)
    best = _best(paths, penalties, validation, spec.n_members)
    return _averaged(best, screened, layers, positions)


def _screened(
    few: EnsembleRows,
    spec: EnsembleSpec,
    views: dict[str | None, View],
    n_layers: int,
    centres: Matrix,
) -> list[LayerSpec]:
    """Return the layers of the smallest leave-one-out error with few units, the best first."""
    if len(spec.layers) <= n_layers:
        return list(spec.layers)
    left_out, B = few.loo_rows(), few.B[:, np.newaxis]
    errors = np.empty(len(spec.layers))
    seen: dict[tuple[str, str | None], tuple[FloatArray, FloatArray]] = {}
    for i, one in enumerate(spec.layers):
        view, kind = views[one.inputs], (one.kernel, one.inputs)
        if kind not in seen:  # widths share their distances
            around = view.scale(centres)
            seen[kind] = (
                kernel_distances(one.kernel, view.scale(few.X), around),
                kernel_distances(one.kernel, around, around),
            )
        H, K = (np.exp(-view.gamma(one) * D) for D in seen[kind])
        path = RidgePath.of_sums(K, H.T @ (B * H), H.T @ (B * few.T), H, left_out)
        errors[i] = min(_squared_error(path.loo_scores(C), few) for C in PENALTIES)
    order = np.argsort(errors, kind="stable")[:n_layers]
    return [spec.layers[i] for i in order]


def _layer(spec: LayerSpec, view: View, centres: Matrix) -> KernelMap:
    return KernelMap(spec.kernel, view.scale(centres), view.gamma(spec), scale=view.scale)


def _paths(
    layers: Sequence[KernelMap],
    rows: EnsembleRows,
    validation: EnsembleRows,
    exact: bool,
    sums: KernelSums | None,
) -> Iterator[RidgePath]:
    """Yield the path of every layer, one at a time: each may fill the memory."""
    left_out = validation.loo_rows()
    totals = None if sums is None else sums(layers)
    for i, layer in enumerate(layers):
        if exact:
            yield RidgePath.of_kernel(_checked(layer(rows.X)), left_out)
            continue
        total = rows.sums([layer])[0] if totals is None else totals[i]
        K = replace(layer, scale=None)(layer.rows)  # the centres are on their scale already
        H = _checked(layer(validation.X))
        yield RidgePath.of_sums(K, total.grams[0], total.moments[0], H, left_out)


def _checked(H: FloatArray) -> FloatArray:
    return finite(H, "X", "inputs this large")


def _best(
    paths: Iterator[RidgePath],
    penalties: Sequence[float],
    validation: EnsembleRows,
    n_members: int,
) -> list[Candidate]:
    """Return the candidates of the smallest leave-one-out error, the best first."""
    best: list[Candidate] = []
    number = 0
    for i, path in enumerate(paths):
        for C in penalties:
            scores = path.loo_scores(C)
            error = _squared_error(scores, validation)
            number += 1
            merit = (-error, -number)
            if not np.isfinite(error) or (len(best) == n_members and merit < best[0].merit):
                continue
            # In float32 the scores of all members fit where classes are many.
            found = Candidate(merit, i, C, scores.astype(np.float32), path.beta(C))
            (heapq.heappush if len(best) < n_members else heapq.heapreplace)(best, found)
    best.sort(reverse=True)
    T, w = validation.T, validation.B / validation.B.sum()
    variance = float((w @ (T - w @ T) ** 2).mean())
    limit = CLOSE * best[0].squared_error + CLOSE_ENOUGH * variance
    return [one for one in best if one.squared_error <= limit]


def _squared_error(scores: FloatArray, rows: EnsembleRows) -> float:
    """Return the mean squared error over rows, weighted by B, and outputs."""
    squares = np.square(scores - rows.T).mean(axis=1)
    return float(squares @ rows.B / rows.B.sum())


def _averaged(
    best: list[Candidate],
    specs: list[LayerSpec],
    layers: list[KernelMap],
    positions: IntArray,
) -> Ensemble:
    """Return the plain mean of the members: each is a regression on the same targets."""
    n = len(best)
    used = list(dict.fromkeys(one.layer for one in best))  # as the members come
    betas = [sum(one.beta for one in best if one.layer == i) / n for i in used]
    members = tuple(
        Member(spec.kernel, spec.inputs, spec.width, one.C, one.squared_error)
        for one, spec in ((one, specs[one.layer]) for one in best)
    )
    mean = sum(one.scores.astype(np.float64) for one in best) / n
    union = LayerUnion(tuple(layers[i] for i in used))
    return Ensemble(union, np.vstack(betas), members, positions, np.asarray(mean))
