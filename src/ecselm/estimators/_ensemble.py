"""The ensemble: kernel machines of several kinds, the best of them averaged.

Every layer is a kernel seen from centres, which are training rows: all of them while these are
few, then the machine is exactly that of (7); a sample of them beyond. Every candidate, a layer
with a C, is judged by the squared error of its leave-one-out scores, which are closed-form. No
metric and no search takes part, so that the ensemble estimates probabilities, and costs decide.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ecselm._threads import row_blocks, share_out
from ecselm._typing import AnyArray, FloatArray, IntArray, Matrix
from ecselm.estimators._calibration import LooScores
from ecselm.estimators._layers import DenseScale, finite, uncentred
from ecselm.estimators._steps import Steps
from ecselm.fitness.folds import Groups, first_places, mixed, row_hashes
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
MOST_DENSE_INPUTS = 2000  # of sparse rows, beyond which Laplacian kernels take minutes
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
VALIDATION_ROWS, VALIDATION_ENTRIES = 5000, 1 << 22  # rows, and scores of these for many classes
COMPARED_OUTPUTS = 64  # beyond, layers are screened by an even sample of the outputs
SAMPLED_ROWS = 100_000  # beyond, members are chosen on a stratified sample of as many rows
MANY_LAYERS, FEW_LAYERS, ROWS_OF_MANY = 6, 2, 5000
SCREENING, SOLVING = "screening layers", "solving layers"  # steps that are recorded
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

        Sparse rows are not ranked, and of many inputs not compared by absolute distances, for which
        they would become dense; relevance is not learned from few rows, and inputs of about
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
            if rows.X.shape[1] > MOST_DENSE_INPUTS:
                kept = tuple(one for one in kept if one.kernel != "laplacian") or kept
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
        n_validation, least = min(n_rows, VALIDATION_ROWS), _fewest_rows(n_outputs)
        if n_rows > L:
            n_validation = min(n_validation, max(least, VALIDATION_ENTRIES // n_outputs))
            # Validation rows go first, then units: both are there for accuracy alone.
            while n_validation > least and _bytes(L, n_validation, n_outputs, n_members) > memory:
                n_validation = max(least, n_validation * 3 // 4)
        while L > 10 and _bytes(L, n_validation, n_outputs, n_members) > memory:
            L, n_validation = L * 3 // 4, min(n_validation, max(least, L))
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


def least_ensemble_bytes(n_rows: int, n_outputs: int, n_members: int) -> int:
    """Return the memory that the smallest ensemble takes: ten units, few validation rows.

    Examples
    --------
    >>> least_ensemble_bytes(1000, 1, 20) < 2**20 < least_ensemble_bytes(1000, 1000, 20)
    True
    """
    n = min(n_rows, _fewest_rows(n_outputs))
    return _bytes(min(n_rows, 10), n, n_outputs, n_members)


def _fewest_rows(n_outputs: int) -> int:
    """Return the number of validation rows that memory does not reduce further."""
    return int(np.clip(VALIDATION_ENTRIES // (16 * n_outputs), 200, 1000))


def _bytes(L: int, n: int, m: int, n_members: int) -> int:
    """Return the memory of a path, its rows and the candidates kept.

    Beside many outputs also that of sums in four lanes, and of the copies that leave-one-out
    scores pass through.
    """
    needed = 8 * (4 * L * L + 4 * n * L + 3 * (n + L) * m) + n_members * m * (4 * n + 8 * L)
    if m > COMPARED_OUTPUTS:
        needed += 8 * (4 * L * m + 6 * n * m + 4 * BLOCK_ENTRIES)
    return needed


# The rows


@dataclass(frozen=True, slots=True)
class ClassTargets:
    """Targets of classes, +1 in the column of the class and -1 elsewhere, made as they are taken.

    All of them would be (N, k), and for many classes take more memory than anything else. Two
    classes share one column.

    Examples
    --------
    >>> import numpy as np
    >>> ClassTargets(np.array([0, 2, 1]), 3)[1:]
    array([[-1., -1.,  1.],
           [-1.,  1., -1.]])
    """

    codes: IntArray  # (N,)
    n_classes: int

    @property
    def shape(self) -> tuple[int, int]:
        """Return the shape (N, m)."""
        return len(self.codes), 1 if self.n_classes == 2 else self.n_classes

    def __len__(self) -> int:
        return len(self.codes)

    def taken(self, rows: IntArray) -> ClassTargets:
        """Return the targets of some of the rows, not made yet."""
        return replace(self, codes=self.codes[rows])

    def __getitem__(self, rows: slice | IntArray) -> FloatArray:
        """Return the targets of some of the rows."""
        codes = self.codes[rows]
        if self.n_classes == 2:
            return np.where(codes == 1, 1.0, -1.0)[:, np.newaxis]
        T = np.full((len(codes), self.n_classes), -1.0)
        T[np.arange(len(codes)), codes] = 1.0
        return T


@dataclass(frozen=True, slots=True)
class EnsembleRows:
    """Training rows, or a sample of them: inputs, targets and weights.

    Parameters
    ----------
    X : matrix of shape (N, n)
    T : array of shape (N, m), or ClassTargets
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
    T: FloatArray | ClassTargets
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
        T = self.T.taken(rows) if isinstance(self.T, ClassTargets) else self.T[rows]
        return EnsembleRows(
            *(self.X[rows], T, self.B[rows], self.strata[rows]),
            *(weight, groups, self.is_sample),
        )

    def with_targets(self, n_outputs: int | None = None) -> EnsembleRows:
        """Return the rows with an array of targets, evenly sampled ones beyond ``n_outputs``."""
        T, m = self.T[:], self.T.shape[1]
        if n_outputs is not None and m > n_outputs:
            T = T[:, np.linspace(0, m - 1, n_outputs).astype(np.intp)]
        return replace(self, T=T)

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
        return LooRows(self.T[:], self.B, self.weight if self.is_sample else None, together)

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
        if size < 2 * np.count_nonzero(counts):  # no share for every class: any rows
            return np.sort(np.argpartition(ranks, size)[:size])
        wanted = np.minimum(counts, np.maximum(np.ceil(counts * (size / len(self))), 2))
        by_class = np.split(np.argsort(self.strata, kind="stable"), np.cumsum(counts)[:-1])
        chosen = [
            own[np.argpartition(ranks[own], n - 1)[:n]] if n < len(own) else own
            for own, n in zip(by_class, wanted.astype(int).tolist(), strict=True)
        ]
        return np.sort(np.concatenate(chosen))

    def sums(self, layers: Sequence[KernelMap]) -> list[GramBlocks]:
        """Return the normal equations behind every layer, summed block by block."""
        return [self._sum(layer) for layer in layers]

    def _sum(self, layer: KernelMap) -> GramBlocks:
        if isinstance(self.T, ClassTargets) and self.T.shape[1] > COMPARED_OUTPUTS:
            return self._sum_by_class(layer, self.T)
        L, m = layer.n_hidden, self.T.shape[1]
        width = L if m <= COMPARED_OUTPUTS else L + m
        step = max(256, BLOCK_ENTRIES // width)
        starts = range(0, len(self), step)
        blocks = [slice(start, min(start + step, len(self))) for start in starts]
        largest = min(step, len(self))

        def add_up(lane: list[slice]) -> GramBlocks:
            total = GramSum(largest, L, m, np.dtype(np.float64), 1)
            for rows in lane:
                layer(self.X[rows], out=total.hidden(rows.stop - rows.start))
                total.add(self.T[rows], self.B[rows], 0)
            return total.blocks()  # without the places of its rows

        total, *others = share_out(add_up, blocks)
        for other in others:
            total += other
        return total

    def _sum_by_class(self, layer: KernelMap, T: ClassTargets) -> GramBlocks:
        """Return the normal equations of many classes without making their targets.

        ``H'diag(B)T`` is twice the sum of ``B h`` over the rows of each class, less that over all
        rows: ``N L`` operations in the place of ``N L k``.
        """
        L, k = layer.n_hidden, T.n_classes
        step = max(256, BLOCK_ENTRIES // L)
        blocks = [slice(a, min(a + step, len(self))) for a in range(0, len(self), step)]
        one = np.ones((min(step, len(self)), 1))

        def add_up(lane: list[slice]) -> tuple[GramBlocks, FloatArray]:
            total = GramSum(len(one), L, 1, np.dtype(np.float64), 1)
            by_class = np.zeros((k, L))
            for rows in lane:
                n, B = rows.stop - rows.start, self.B[rows]
                H = total.hidden(n)
                layer(self.X[rows], out=H)
                total.add(one[:n], B, 0)
                by_class += sparse.csr_array((B, (T.codes[rows], np.arange(n))), shape=(k, n)) @ H
            return total.blocks(), by_class

        lanes = share_out(add_up, blocks)
        total, by_class = lanes[0]
        for other, sums in lanes[1:]:
            total, by_class = total + other, by_class + sums
        moments = 2.0 * by_class.T - total.moments[0]
        return replace(total, moments=moments[np.newaxis], squares=np.repeat(total.squares, k, 1))


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
    spec: EnsembleSpec, rows: EnsembleRows, few: EnsembleRows, centres: Matrix, steps: Steps
) -> dict[str | None, View]:
    """Return the inputs of all layers on their scales."""
    views: dict[str | None, View] = {}
    for kind in dict.fromkeys(one.inputs for one in spec.layers):
        if kind == "relevance":
            standard = measure_scale(rows.X, "standard", rows.weight)
            known = steps.recorded("relevance", {"width": standard.width.shape})
            if known is None:
                scale = relevance_scale(few, centres, standard)
                steps.record("relevance", width=scale.width)
            else:
                scale = replace(standard, width=known["width"])
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
                K, values.T @ (B * values), values.T @ (B * rows.T[:]), values, left_out
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
    steps: Steps | None = None,
) -> Ensemble:
    """Choose the members by leave-one-out and average them.

    An interrupt leaves the members judged so far, or one layer of those screened so far.

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
    steps : Steps or None, default=None
        Where scores are recorded; None: nowhere, and interrupts go through.
    """
    steps = Steps() if steps is None else steps
    largest = max(float(rows.X.max()), -float(rows.X.min()))
    if largest > LARGEST:
        raise ValueError(
            f"X must have entries up to {LARGEST:g}, whose squares are finite, with an ensemble, "
            f"got {largest:g}"
        )
    whole = rows = replace(rows, is_sample=sums is not None)
    sampled = None
    if sums is None and len(rows) > SAMPLED_ROWS and _has_few_units(n_hidden):
        # All that is measured, screened and chosen takes a sample; only sums run over all rows.
        sampled = rows.sample(SAMPLED_ROWS, _quick_hashes(rows.X), rng.spawn(1)[0])
        rows = rows.taken(sampled)
    spec = spec.for_inputs(rows)
    m = rows.T.shape[1]
    if m > COMPARED_OUTPUTS:  # costs of confusions, and targets here and where they came from
        memory -= 40 * m**2 + (2 * whole.T.nbytes if isinstance(whole.T, np.ndarray) else 0)
    size = EnsembleSize.of(n_hidden, len(rows), m, spec.n_members, memory)
    centre_rng, sample_rng = rng.spawn(2)
    hashes = row_hashes(rows.X)
    distinct = first_places(hashes)
    centres = distinct[centre_rng.permutation(len(distinct))]
    few = rows.taken(rows.sample(SCREENING_ROWS, hashes, sample_rng))
    few = few.with_targets(COMPARED_OUTPUTS)
    around = rows.X[np.sort(centres[:SCREENING_UNITS])]
    steps.bar.plan(_work(spec, size, len(few), len(whole)))
    views = _views(spec, rows, few, around, steps)
    screened = _screened(few, spec, views, size.n_layers, around, steps)

    # The layers that did best with few units get all of them.
    positions = rows.sample(size.n_validation, hashes, sample_rng)
    validation = rows.taken(positions) if len(positions) < len(rows) else rows
    validation = validation.with_targets()
    exact = size.n_units >= len(whole) and sums is None
    own = np.arange(len(rows)) if exact else np.sort(centres[: size.n_units])
    layers = [_layer(one, views[one.inputs], rows.X[own]) for one in screened]
    judged = Judged(layers, whole, validation, exact, penalties, spec.n_members)
    best = _best(judged, sums, steps)
    return _averaged(best, screened, layers, positions if sampled is None else sampled[positions])


def _work(spec: EnsembleSpec, size: EnsembleSize, n_few: int, n_rows: int) -> dict[str, float]:
    """Return about how many operations screening and solving take, for the time left."""
    L, S = size.n_units, SCREENING_UNITS
    n_screened = len(spec.layers) if len(spec.layers) > size.n_layers else 0
    n_solved = min(len(spec.layers), size.n_layers)
    return {
        SCREENING: n_screened * (2.0 * n_few * S**2 + 10.0 * S**3),
        SOLVING: n_solved * (2.0 * n_rows * L**2 + 10.0 * L**3),
    }


def _has_few_units(n_hidden: int | str) -> bool:
    """Tell whether units are far fewer than the rows of a sample."""
    return isinstance(n_hidden, str) or EXACT_SHARE * n_hidden < SAMPLED_ROWS


def _quick_hashes(X: Matrix) -> AnyArray:
    """Return 64 bits for every row, equal for equal rows: they order rows, no more.

    An order by content makes a sample independent of the order of the rows; :func:`row_hashes`,
    which also identify rows, take some fifteen times as long.
    """
    if sparse.issparse(X):
        return row_hashes(X)
    factors = mixed(np.arange(X.shape[1]), 1) | np.uint64(1)
    hashes = np.empty(X.shape[0], dtype=np.uint64)
    with np.errstate(over="ignore"):  # only equality matters
        for rows in row_blocks(X.shape[0], X.shape[1]):
            bits = (X[rows].astype(np.float32) + np.float32(0.0)).view(np.uint32)  # no -0.0
            hashes[rows] = bits.astype(np.uint64) @ factors
    return mixed(hashes, 0)


def _screened(
    few: EnsembleRows,
    spec: EnsembleSpec,
    views: dict[str | None, View],
    n_layers: int,
    centres: Matrix,
    steps: Steps,
) -> list[LayerSpec]:
    """Return the layers of the smallest leave-one-out error with few units, the best first."""
    if len(spec.layers) <= n_layers:
        return list(spec.layers)
    left_out, B = few.loo_rows(), few.B[:, np.newaxis]
    seen: dict[tuple[str, str | None], tuple[FloatArray, FloatArray]] = {}

    def error(one: LayerSpec) -> float:
        view, kind = views[one.inputs], (one.kernel, one.inputs)
        if kind not in seen:  # widths share their distances
            around = view.scale(centres)
            seen[kind] = (
                kernel_distances(one.kernel, view.scale(few.X), around),
                kernel_distances(one.kernel, around, around),
            )
        H, K = (np.exp(-view.gamma(one) * D) for D in seen[kind])
        path = RidgePath.of_sums(K, H.T @ (B * H), H.T @ (B * few.T[:]), H, left_out)
        return min(_squared_error(path.loo_scores(C), few) for C in PENALTIES)

    errors = np.array(steps.each(SCREENING, spec.layers, error))
    order = np.argsort(errors, kind="stable")[:n_layers]
    return [spec.layers[i] for i in order]


def _layer(spec: LayerSpec, view: View, centres: Matrix) -> KernelMap:
    return KernelMap(spec.kernel, view.scale(centres), view.gamma(spec), scale=view.scale)


def _checked(H: FloatArray) -> FloatArray:
    return finite(H, "X", "inputs this large")


@dataclass(frozen=True, slots=True)
class Judged:
    """Layers with all of their units, each of which is judged with every C."""

    layers: Sequence[KernelMap]
    rows: EnsembleRows
    validation: EnsembleRows
    exact: bool  # all rows are centres
    penalties: Sequence[float]
    n_members: int

    def path(self, i: int, total: GramBlocks | None) -> RidgePath:
        """Return the path of a layer, from its normal equations or those of the rows."""
        layer, left_out = self.layers[i], self.validation.loo_rows()
        if self.exact:
            return RidgePath.of_kernel(_checked(layer(self.rows.X)), left_out)
        total = self.rows.sums([layer])[0] if total is None else total
        K = replace(layer, scale=None)(layer.rows)  # the centres are on their scale already
        H = _checked(layer(self.validation.X))
        return RidgePath.of_sums(K, total.grams[0], total.moments[0], H, left_out)

    def improved(self, best: list[Candidate], i: int, total: GramBlocks | None) -> list[Candidate]:
        """Return the heap of the best candidates with those of a layer among them."""
        best, path = list(best), self.path(i, total)
        for j, C in enumerate(self.penalties):
            scores = path.loo_scores(C)
            error = _squared_error(scores, self.validation)
            merit = (-error, -self.number(i, j))
            if not np.isfinite(error) or (len(best) == self.n_members and merit < best[0].merit):
                continue
            # In float32 the scores of all members fit where classes are many.
            found = Candidate(merit, i, C, scores.astype(np.float32), path.beta(C))
            (heapq.heappush if len(best) < self.n_members else heapq.heapreplace)(best, found)
        return best

    def number(self, i: int, j: int) -> int:
        """Return the number of a candidate, in the order in which they are tried."""
        return i * len(self.penalties) + j + 1

    def record(self, steps: Steps, best: list[Candidate], n_layers: int) -> None:
        """Record the best candidates of the first layers."""
        numbers = [-one.merit[1] for one in best]
        arrays: dict[str, AnyArray] = {
            "layers": np.array(n_layers),
            "numbers": np.array(numbers, dtype=np.int64),
            "errors": np.array([one.squared_error for one in best]),
        }
        for number, one in zip(numbers, best, strict=True):
            arrays |= {f"scores {number}": one.scores, f"beta {number}": one.beta}
        steps.record(SOLVING, **arrays)

    def recorded(self, steps: Steps) -> tuple[list[Candidate], int]:
        """Return the best candidates that are recorded, and of how many layers."""
        known = steps.recorded(SOLVING, {"layers": (), "numbers": (None,), "errors": (None,)})
        if known is None:
            return [], 0
        m, numbers = self.rows.T.shape[1], known["numbers"].tolist()
        shapes = {f"scores {number}": (len(self.validation), m) for number in numbers}
        shapes |= {f"beta {number}": (self.layers[0].n_hidden, m) for number in numbers}
        steps.recorded(SOLVING, shapes)
        best = []
        for number, error in zip(numbers, known["errors"].tolist(), strict=True):
            i, j = divmod(number - 1, len(self.penalties))
            parts = known[f"scores {number}"], known[f"beta {number}"]
            best.append(Candidate((-error, -number), i, self.penalties[j], *parts))
        heapq.heapify(best)
        return best, int(known["layers"])


def _best(judged: Judged, sums: KernelSums | None, steps: Steps) -> list[Candidate]:
    """Return the candidates of the smallest leave-one-out error, the best first."""
    n_layers = len(judged.layers)
    steps.bar.begin(SOLVING, n_layers, SOLVING)
    best, n_done = judged.recorded(steps)
    for _ in range(n_done):
        steps.bar.advance()
    left = list(range(n_done, n_layers))
    totals: dict[int, GramBlocks] = {}
    if sums is not None and left:
        layers = [judged.layers[i] for i in left]
        found = steps.attempt(f"at the sums of {SOLVING}", sums, layers)
        if found is None:  # the layer that did best with few units is enough
            left = [] if best else left[:1]
            found = sums(layers[: len(left)]) if left else []
        totals = dict(zip(left, found, strict=True))
    for i in left:  # one at a time: each may fill the memory
        total = totals.get(i)
        if steps.keeps and not best:  # a model needs one layer at least
            improved: list[Candidate] | None = judged.improved(best, i, total)
        else:
            where = f"at {i + 1} of {n_layers} of {SOLVING}"
            improved = steps.attempt(where, judged.improved, best, i, total)
        if improved is None:
            break
        best = improved
        steps.scored()
        judged.record(steps, best, i + 1)
        steps.bar.advance()
    best.sort(reverse=True)
    T, w = judged.validation.T[:], judged.validation.B / judged.validation.B.sum()
    variance = float((w @ (T - w @ T) ** 2).mean())
    limit = CLOSE * best[0].squared_error + CLOSE_ENOUGH * variance
    return [one for one in best if one.squared_error <= limit]


def _squared_error(scores: FloatArray, rows: EnsembleRows) -> float:
    """Return the mean squared error over rows, weighted by B, and outputs."""
    squares = np.square(scores - rows.T[:]).mean(axis=1)
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
