"""Scores ``H(x) beta`` (18) as nodes, for every kind of layer.

Output weights come along because what is linear behind a layer can be folded into them:
the square roots of landmark kernels, factors, and the sum over the layers of a committee.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
from skl2onnx import get_model_alias
from skl2onnx.common.data_types import Int64TensorType
from sklearn.base import is_clusterer
from sklearn.pipeline import Pipeline

from ecselm._typing import FloatArray
from ecselm.elm.layers import TransformerLayer
from ecselm.hidden import KernelMap, LandmarkLayer, LayerUnion, RandomLayer, WeighedLayer
from ecselm.onnx.activations import ACTIVATION_NODES
from ecselm.onnx.graph import Graph, NoOnnxFormError
from ecselm.onnx.kernels import kernel_values


def layer_scores(graph: Graph, layer: Any, X: str, beta: FloatArray) -> str:
    """Return the scores (N, m) of the rows ``X`` (N, n) for output weights (L, m)."""
    if type(layer) not in _KINDS:
        raise NoOnnxFormError(f"layer must be one of ecselm's to be written as ONNX, got {layer!r}")
    return _KINDS[type(layer)](graph, layer, X, beta.astype(np.float64))


def sub_outputs(graph: Graph, model: Any, inputs: list[Any], kinds: list[Any]) -> list[str]:
    """Return the outputs of another model on these variables, by the converters it has.

    ``kinds`` are the types that its outputs are declared with.
    """
    # Pipelines are parsed where they are converted; nothing else is.
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
    return _weighed(graph, ACTIVATION_NODES[name](graph, A), beta)


def _of_kernel(graph: Graph, layer: KernelMap, X: str, beta: FloatArray) -> str:
    return _weighed(graph, kernel_values(graph, layer, X), beta)


def _of_landmarks(graph: Graph, layer: LandmarkLayer, X: str, beta: FloatArray) -> str:
    return _of_kernel(graph, layer.kernel, X, layer.root @ beta)


def _of_factor(graph: Graph, layer: WeighedLayer, X: str, beta: FloatArray) -> str:
    return layer_scores(graph, layer.layer, X, layer.factor * beta)


def _of_union(graph: Graph, layer: LayerUnion, X: str, beta: FloatArray) -> str:
    ends = np.cumsum([part.n_hidden for part in layer.parts])
    pieces = np.split(beta, ends)
    answers = (
        layer_scores(graph, part, X, piece)
        for part, piece in zip(layer.parts, pieces[:-1], strict=True)
    )
    total = reduce(lambda one, other: graph.node("Add", one, other), answers)
    return graph.node("Add", total, graph.constant(pieces[-1]))


def _of_transformer(graph: Graph, layer: TransformerLayer, X: str, beta: FloatArray) -> str:
    shape = [None, layer.transformer.n_features_in_]
    rows = graph.scope.declare_local_variable("rows", graph.tensor_type(shape))
    graph.put_out(X, rows)
    # Clusterers answer with labels first.
    labels = [Int64TensorType] if is_clusterer(last_step(layer.transformer)) else []
    *_, H = sub_outputs(graph, layer.transformer, [rows], [*labels, graph.tensor_type])
    return _weighed(graph, graph.cast(H), beta)


def last_step(model: Any) -> Any:
    """Return the estimator at the end of pipelines."""
    return last_step(model.steps[-1][1]) if isinstance(model, Pipeline) else model


def _weighed(graph: Graph, H: str, beta: FloatArray) -> str:
    return graph.product(H, beta)


_KINDS: dict[type, Callable[[Graph, Any, str, FloatArray], str]] = {
    RandomLayer: _of_random,
    KernelMap: _of_kernel,
    LandmarkLayer: _of_landmarks,
    WeighedLayer: _of_factor,
    LayerUnion: _of_union,
    TransformerLayer: _of_transformer,
}
