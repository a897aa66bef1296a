"""Scores ``H(x) beta`` (18) as nodes, for every layer, kernel, scale and activation.

Also converters of scikit-learn's kernel approximations, which skl2onnx lacks.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev
from onnx.helper import make_graph, make_node, make_tensor, make_tensor_value_info
from scipy import sparse
from scipy.special import ndtr, ndtri
from skl2onnx import get_model_alias, update_registered_converter
from skl2onnx.common.data_types import Int64TensorType
from sklearn.base import is_clusterer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.pipeline import Pipeline

from ecselm._typing import FloatArray
from ecselm.estimators._layers import DenseScale, TransformerLayer
from ecselm.layers import (
    InputScale,
    KernelMap,
    LayerUnion,
    RandomLayer,
    RankScale,
)
from ecselm.layers.scaling import FARTHEST
from ecselm.onnx.graph import Graph, NoOnnxFormError, graph_of, joined_inputs
from onnx import TensorProto

NYSTROEM_KERNELS = {
    "rbf": "rbf",
    "laplacian": "laplacian",
    "linear": "linear",
    "poly": "polynomial",
    "polynomial": "polynomial",
    "cosine": "cosine",
}
DEGREE = 21  # of the polynomial for normal quantiles: errors of 1e-13 in the clipped range


def _radbas_units(graph: Graph, A: str) -> str:
    return graph.node("Exp", graph.node("Neg", graph.node("Mul", A, A)))


def _plain(operator: str) -> Callable[[Graph, str], str]:
    def activation(graph: Graph, A: str) -> str:
        return graph.node(operator, A)

    return activation


def _hardlim(graph: Graph, A: str) -> str:
    return graph.cast(graph.node("GreaterOrEqual", A, graph.constant(0.0)))


def _tribas(graph: Graph, A: str) -> str:
    return graph.node("Relu", graph.node("Sub", graph.constant(1.0), graph.node("Abs", A)))


def _laplacian_units(graph: Graph, A: str) -> str:
    return graph.node("Exp", graph.node("Neg", graph.node("Abs", A)))


def _polynomial_units(graph: Graph, A: str) -> str:
    moved = graph.node("Add", A, graph.constant(1.0))
    return graph.node("Mul", moved, moved)


ACTIVATION_NODES: dict[str, Callable[[Graph, str], str]] = {
    "radbas": _radbas_units,
    "sigmoid": _plain("Sigmoid"),
    "tanh": _plain("Tanh"),
    "sine": _plain("Sin"),
    "relu": _plain("Relu"),
    "hardlim": _hardlim,
    "tribas": _tribas,
    "laplacian": _laplacian_units,
    "polynomial": _polynomial_units,
}


def kernel_values(graph: Graph, kernel: KernelMap, X: str) -> str:
    """Return the kernel values (N, M) between the rows ``X`` (N, n) and those of ``kernel``.

    Inputs of a kernel with sparse rows are not centred, as in the estimator.
    """
    name = None if callable(kernel.kernel) else kernel.kernel
    if name is None:
        raise NoOnnxFormError(
            "kernel must be one of ecselm's by name to be written as ONNX, got the function "
            f"{kernel.kernel!r}"
        )
    if name == "precomputed":
        return X
    scaled = scaled_rows(graph, kernel.scale, X, centred=not sparse.issparse(kernel.rows))
    rows = kernel.rows.toarray() if sparse.issparse(kernel.rows) else np.asarray(kernel.rows)
    return _FORMULAS[name](graph, kernel, scaled, rows.astype(np.float64))


def _inner(graph: Graph, X: str, rows: FloatArray) -> str:
    return graph.product(X, rows.T)


def _summed(graph: Graph, values: str) -> str:
    return graph.node("ReduceSum", values, graph.constant(np.array([1])), keepdims=1)


def _decay(graph: Graph, distances: str, gamma: float) -> str:
    return graph.node("Exp", graph.node("Mul", distances, graph.constant(-gamma)))


def _rbf(graph: Graph, kernel: KernelMap, X: str, rows: FloatArray) -> str:
    def distances() -> str:
        norms = _summed(graph, graph.node("Mul", X, X))
        inner = _inner(graph, X, -2.0 * rows)
        both = graph.node("Add", graph.node("Add", inner, norms), graph.constant((rows**2).sum(1)))
        return graph.node("Relu", both)

    shared = graph.once(("squared", X, rows.shape, rows.tobytes()), distances)
    return _decay(graph, shared, kernel.gamma)


def _laplacian(graph: Graph, kernel: KernelMap, X: str, rows: FloatArray) -> str:
    shared = graph.once(
        ("absolute", X, rows.shape, rows.tobytes()), lambda: _absolute(graph, X, rows)
    )
    return _decay(graph, shared, kernel.gamma)


def _absolute(graph: Graph, X: str, rows: FloatArray) -> str:
    """Return the sums (N, M) of absolute differences, added up feature by feature.

    All differences at once would take n times the memory of their sums.
    """
    first = graph.node("Gather", X, graph.constant(np.array([0])), axis=1)
    zeros = graph.node("Mul", first, graph.constant(np.zeros((1, len(rows)))))
    return graph.node(
        "Scan",
        zeros,
        X,
        graph.constant(rows.T),
        body=_one_feature(graph.real),
        num_scan_inputs=2,
        scan_input_axes=[1, 0],
    )


def _one_feature(real: int) -> Any:
    """Return the graph that adds the differences of one feature to the sums so far."""

    def tensor(name: str, *shape: str) -> Any:
        return make_tensor_value_info(name, real, shape)

    nodes = [
        make_node("Unsqueeze", ["feature", "axis"], ["column"]),
        make_node("Sub", ["column", "places"], ["difference"]),
        make_node("Abs", ["difference"], ["size"]),
        make_node("Add", ["before", "size"], ["after"]),
    ]
    inputs = [tensor("before", "N", "M"), tensor("feature", "N"), tensor("places", "M")]
    axis = make_tensor("axis", TensorProto.INT64, [1], [1])
    return make_graph(nodes, "one_feature", inputs, [tensor("after", "N", "M")], [axis])


def _linear(graph: Graph, _kernel: KernelMap, X: str, rows: FloatArray) -> str:
    return _inner(graph, X, rows)


def _polynomial(graph: Graph, kernel: KernelMap, X: str, rows: FloatArray) -> str:
    moved = graph.node(
        "Add", _inner(graph, X, kernel.gamma * rows), graph.constant(float(kernel.coef0))
    )
    return graph.node("Pow", moved, graph.constant(float(kernel.degree)))


def _cosine(graph: Graph, _kernel: KernelMap, X: str, rows: FloatArray) -> str:
    norms = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    inner = _inner(graph, X, rows / np.where(norms > 0, norms, 1.0))
    own = graph.node("Sqrt", _summed(graph, graph.node("Mul", X, X)))
    is_zero = graph.node("Equal", own, graph.constant(0.0))
    return graph.node("Div", inner, graph.node("Where", is_zero, graph.constant(1.0), own))


_FORMULAS: dict[str, Callable[[Graph, KernelMap, str, FloatArray], str]] = {
    "rbf": _rbf,
    "laplacian": _laplacian,
    "linear": _linear,
    "polynomial": _polynomial,
    "cosine": _cosine,
}


def scaled_rows(graph: Graph, scale: Any, X: str, *, centred: bool = True) -> str:
    """Return the rows ``X`` (N, n) scaled; None leaves them unchanged."""
    if scale is None:
        return X
    if isinstance(scale, DenseScale):
        return scaled_rows(graph, scale.scale, X)
    if isinstance(scale, InputScale):
        return _standardised(graph, scale, X, centred)
    if isinstance(scale, RankScale):
        return _ranked(graph, scale, X)
    raise NoOnnxFormError(f"scale must be one of ecselm's to be written as ONNX, got {scale!r}")


def _standardised(graph: Graph, scale: InputScale, X: str, centred: bool) -> str:
    center = scale.center if centred else np.zeros_like(scale.center)
    key = "standardised", X, center.tobytes(), scale.width.tobytes()
    return graph.once(
        key,
        lambda: graph.node(
            "Div",
            graph.node("Sub", X, graph.constant(center)),
            graph.constant(scale.width),
        ),
    )


def _ranked(graph: Graph, scale: RankScale, X: str) -> str:
    """Return normal scores of ranks, interpolated from both sides as the scale does."""

    def make() -> str:
        upward = _interpolated(graph, X, scale, "LessOrEqual", _after)
        downward = _interpolated(graph, X, scale, "Less", _before)
        shares = graph.node("Mul", graph.node("Add", upward, downward), graph.constant(0.5))
        return _normal_scores(graph, shares)

    return graph.once(("ranked", X, scale.knots.tobytes(), scale.levels.tobytes()), make)


def _interpolated(
    graph: Graph,
    X: str,
    scale: RankScale,
    is_below: str,
    lines: Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray, FloatArray]],
) -> str:
    """Return the levels (N, n) at ``X``, on the lines between knots.

    ``lines`` returns anchor, level and slope for every number of knots below a value;
    ``is_below`` is the comparison, which decides on knots of the same value.
    """
    place = _knots_below(graph, X, scale.knots, is_below)
    anchor, level, slope = (
        graph.node("Gather", graph.constant(np.concatenate(table)), place)
        for table in zip(*(lines(knots, scale.levels) for knots in scale.knots.T), strict=True)
    )
    return graph.node("Add", graph.node("Mul", graph.node("Sub", X, anchor), slope), level)


def _knots_below(graph: Graph, X: str, knots: FloatArray, is_below: str) -> str:
    """Return the index of the line of each value in the concatenated lines of all features.

    A binary search: comparing with all knots at once would take q times the memory.
    """
    q, n = knots.shape
    steps = 1 << np.arange(q.bit_length())[::-1]
    width = int(steps.sum()) + 1
    padded = np.full((n, width), np.inf)
    padded[:, :q] = knots.T
    table = graph.constant(padded.ravel())
    count = graph.constant(np.zeros(n, dtype=np.int64))
    for step in steps:
        further = graph.node("Add", count, graph.constant(step))
        last = graph.node("Add", further, graph.constant(np.arange(n) * width - 1))
        knot = graph.node("Gather", table, last)
        count = graph.node("Where", graph.node(is_below, knot, X), further, count)
    return graph.node("Add", count, graph.constant(np.arange(n) * (q + 1)))


def _after(knots: FloatArray, levels: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the lines that begin at the last of equal knots."""
    anchor, level = np.append(knots[0], knots), np.append(levels[0], levels)
    return anchor, level, np.concatenate([[0.0], _slopes(knots, levels), [0.0]])


def _before(knots: FloatArray, levels: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the lines that end at the first of equal knots."""
    anchor, level = np.append(knots, knots[-1]), np.append(levels, levels[-1])
    return anchor, level, np.concatenate([[0.0], _slopes(knots, levels), [0.0]])


def _slopes(knots: FloatArray, levels: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", over="ignore"):
        slopes = np.diff(levels) / np.diff(knots)
    return np.where(np.isfinite(slopes), slopes, 0.0)  # no value lies between equal knots


def _normal_scores(graph: Graph, shares: str) -> str:
    """Return the normal quantiles of ``shares``, up to ``FARTHEST``.

    A polynomial in ``t = sqrt(-2 log p)`` of the smaller tail p: quantiles are nearly
    linear in t. ONNX has no normal quantiles, and ONNX Runtime no erf in float64.
    """
    least = float(ndtr(-FARTHEST))
    kept = graph.node("Clip", shares, graph.constant(least), graph.constant(1.0 - least))
    other = graph.node("Sub", graph.constant(1.0), kept)
    tail = graph.node("Min", kept, other)
    t = graph.node("Sqrt", graph.node("Mul", graph.node("Log", tail), graph.constant(-2.0)))
    score = _tail_scores(graph, t, np.sqrt(-2.0 * np.log([0.5, least])))
    return graph.node("Where", graph.node("Less", kept, other), score, graph.node("Neg", score))


def _tail_scores(graph: Graph, t: str, domain: FloatArray) -> str:
    fitted = chebyshev.Chebyshev.interpolate(
        lambda points: ndtri(np.minimum(np.exp(-(points**2) / 2.0), 0.5)), DEGREE, domain
    )
    middle, half = domain.mean(), (domain[1] - domain[0]) / 2.0
    u = graph.node("Div", graph.node("Sub", t, graph.constant(middle)), graph.constant(half))
    *lower, highest = chebyshev.cheb2poly(fitted.coef)
    value = graph.constant(highest)
    for coefficient in reversed(lower):
        value = graph.node("Add", graph.node("Mul", value, u), graph.constant(coefficient))
    return value


def layer_scores(graph: Graph, layer: Any, X: str, beta: FloatArray) -> str:
    """Return the scores (N, m) of the rows ``X`` (N, n) for output weights (L, m)."""
    if type(layer) not in _KINDS:
        raise NoOnnxFormError(f"layer must be one of ecselm's to be written as ONNX, got {layer!r}")
    return _KINDS[type(layer)](graph, layer, X, beta.astype(np.float64))


def sub_outputs(graph: Graph, model: Any, inputs: list[Any], kinds: list[Any]) -> list[str]:
    """Return the outputs of another model on these variables, by its own converters.

    ``kinds`` are the declared types of its outputs.
    """
    # skl2onnx parses only pipelines during conversion.
    inner = Pipeline([("model", model)])
    operator = graph.scope.declare_local_operator(get_model_alias(Pipeline), inner)
    operator.inputs = inputs
    for kind in kinds:
        operator.outputs.append(graph.scope.declare_local_variable("inner", kind()))
    return [output.full_name for output in operator.outputs]


def _of_random(graph: Graph, layer: RandomLayer, X: str, beta: FloatArray) -> str:
    name = None if callable(layer.activation) else layer.activation
    if name is None:
        raise NoOnnxFormError(
            "activation must be one of ecselm's by name to be written as ONNX, got the "
            f"function {layer.activation!r}"
        )
    if layer.center is not None:
        X = graph.node("Sub", X, graph.constant(layer.center))
    projected = graph.product(X, layer.weights)
    A = graph.node("Add", projected, graph.constant(layer.biases))
    return _weighted(graph, ACTIVATION_NODES[name](graph, A), beta)


def _of_kernel(graph: Graph, layer: KernelMap, X: str, beta: FloatArray) -> str:
    return _weighted(graph, kernel_values(graph, layer, X), beta)


def _of_union(graph: Graph, layer: LayerUnion, X: str, beta: FloatArray) -> str:
    ends = np.cumsum([part.n_hidden for part in layer.parts])
    blocks = np.split(beta, ends)
    scores = (
        layer_scores(graph, part, X, block)
        for part, block in zip(layer.parts, blocks[:-1], strict=True)
    )
    total = reduce(lambda one, other: graph.node("Add", one, other), scores)
    return graph.node("Add", total, graph.constant(blocks[-1])) if layer.with_one else total


def _of_transformer(graph: Graph, layer: TransformerLayer, X: str, beta: FloatArray) -> str:
    shape = [None, layer.transformer.n_features_in_]
    rows = graph.scope.declare_local_variable("rows", graph.tensor_type(shape))
    graph.put_out(X, rows)
    # The first output of a clusterer is its labels.
    labels = [Int64TensorType] if is_clusterer(last_step(layer.transformer)) else []
    *_, H = sub_outputs(graph, layer.transformer, [rows], [*labels, graph.tensor_type])
    return _weighted(graph, graph.cast(H), beta)


def last_step(model: Any) -> Any:
    """Return the last step of nested pipelines."""
    return last_step(model.steps[-1][1]) if isinstance(model, Pipeline) else model


def _weighted(graph: Graph, H: str, beta: FloatArray) -> str:
    return graph.product(H, beta)


_KINDS: dict[type, Callable[[Graph, Any, str, FloatArray], str]] = {
    RandomLayer: _of_random,
    KernelMap: _of_kernel,
    LayerUnion: _of_union,
    TransformerLayer: _of_transformer,
}


def register_approximations() -> None:
    """Register the converters of kernel approximations with skl2onnx."""
    update_registered_converter(
        Nystroem, "SklearnNystroem", _approximation_shape, _convert_nystroem
    )
    update_registered_converter(
        RBFSampler, "SklearnRBFSampler", _approximation_shape, _convert_sampler
    )


def _approximation_shape(operator: Any) -> None:
    model = operator.raw_operator
    width = len(model.components_) if isinstance(model, Nystroem) else model.n_components
    double = type(operator.outputs[0].type)
    operator.outputs[0].type = double([None, width])


def _convert_nystroem(scope: Any, operator: Any, container: Any) -> None:
    graph, model = graph_of(scope, operator, container), operator.raw_operator
    values = kernel_values(graph, _nystroem_kernel(model), joined_inputs(graph, operator))
    root = np.asarray(model.normalization_, dtype=np.float64).T
    graph.put_out(graph.product(values, root), operator.outputs[0])


def _nystroem_kernel(model: Nystroem) -> KernelMap:
    """Return the kernel to the landmarks, with scikit-learn's default parameters."""
    if model.kernel not in NYSTROEM_KERNELS or model.kernel_params:
        raise NoOnnxFormError(
            f"kernel of Nystroem must be one of {sorted(NYSTROEM_KERNELS)} without kernel_params "
            f"to be written as ONNX, got {model.kernel!r}"
        )
    return KernelMap(
        NYSTROEM_KERNELS[model.kernel],
        model.components_,
        1.0 / model.n_features_in_ if model.gamma is None else model.gamma,
        3.0 if model.degree is None else model.degree,
        1.0 if model.coef0 is None else model.coef0,
    )


def _convert_sampler(scope: Any, operator: Any, container: Any) -> None:
    graph, model = graph_of(scope, operator, container), operator.raw_operator
    projected = graph.product(joined_inputs(graph, operator), model.random_weights_)
    cosines = graph.node("Cos", graph.node("Add", projected, graph.constant(model.random_offset_)))
    L = model.n_components
    graph.put_out(graph.times(cosines, np.sqrt(2.0 / L), L), operator.outputs[0])
