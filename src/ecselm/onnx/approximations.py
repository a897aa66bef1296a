"""Converters of scikit-learn's kernel approximations, which skl2onnx has none of."""

from __future__ import annotations

from typing import Any

import numpy as np
from skl2onnx import update_registered_converter
from sklearn.kernel_approximation import Nystroem, RBFSampler

from ecselm.layers import KernelMap
from ecselm.onnx.graph import NoOnnxFormError, graph_of, joined_inputs
from ecselm.onnx.layers import kernel_values

KERNEL_NAMES = {
    "rbf": "rbf",
    "laplacian": "laplacian",
    "linear": "linear",
    "poly": "polynomial",
    "polynomial": "polynomial",
    "cosine": "cosine",
}


def register_approximations() -> None:
    """Tell skl2onnx how kernel approximations are converted."""
    update_registered_converter(Nystroem, "SklearnNystroem", _shape, _convert_nystroem)
    update_registered_converter(RBFSampler, "SklearnRBFSampler", _shape, _convert_sampler)


def _shape(operator: Any) -> None:
    model = operator.raw_operator
    width = len(model.components_) if isinstance(model, Nystroem) else model.n_components
    double = type(operator.outputs[0].type)
    operator.outputs[0].type = double([None, width])


def _convert_nystroem(scope: Any, operator: Any, container: Any) -> None:
    graph, model = graph_of(scope, operator, container), operator.raw_operator
    values = kernel_values(graph, _kernel(model), joined_inputs(graph, operator))
    root = np.asarray(model.normalization_, dtype=np.float64).T
    graph.put_out(graph.product(values, root), operator.outputs[0])


def _kernel(model: Nystroem) -> KernelMap:
    """Return the kernel to the landmarks, with scikit-learn's values where none are stated."""
    if model.kernel not in KERNEL_NAMES or model.kernel_params:
        raise NoOnnxFormError(
            f"kernel of Nystroem must be one of {sorted(KERNEL_NAMES)} without kernel_params to "
            f"be written as ONNX, got {model.kernel!r}"
        )
    return KernelMap(
        KERNEL_NAMES[model.kernel],
        model.components_,
        1.0 / model.n_features_in_ if model.gamma is None else model.gamma,
        3.0 if model.degree is None else model.degree,
        1.0 if model.coef0 is None else model.coef0,
    )


def _convert_sampler(scope: Any, operator: Any, container: Any) -> None:
    graph, model = graph_of(scope, operator, container), operator.raw_operator
    projected = graph.product(joined_inputs(graph, operator), model.random_weights_)
    waves = graph.node("Cos", graph.node("Add", projected, graph.constant(model.random_offset_)))
    L = model.n_components
    graph.put_out(graph.times(waves, np.sqrt(2.0 / L), L), operator.outputs[0])
