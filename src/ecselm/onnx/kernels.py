"""Kernel values as nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx.helper import make_graph, make_node, make_tensor, make_tensor_value_info
from scipy import sparse

from ecselm._typing import FloatArray
from ecselm.hidden import KernelMap
from ecselm.onnx.graph import Graph, NoOnnxFormError
from ecselm.onnx.scales import scaled_rows
from onnx import TensorProto


def kernel_values(graph: Graph, kernel: KernelMap, X: str) -> str:
    """Return the kernel values (N, M) between the rows ``X`` (N, n) and those of ``kernel``.

    A kernel of sparse rows answers as it does for sparse rows, which are not centred.
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
