"""The converter of the search of costs around a classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from skl2onnx import update_registered_converter
from skl2onnx.common.data_types import Int64TensorType, StringTensorType, guess_proto_type

from ecselm.elm import CostSearchCV
from ecselm.onnx.estimators import (
    CLASSIFIER_OUTPUTS,
    CLASSIFIERS,
    OPTIONS,
    against_costs,
    declared,
    label_type,
    put_out_decision,
)
from ecselm.onnx.graph import Graph, graph_of
from ecselm.onnx.layers import last_step, sub_outputs


def register_cost_search() -> None:
    """Tell skl2onnx how searches of costs are converted."""
    update_registered_converter(
        CostSearchCV,
        "EcselmCostSearchCV",
        _shape,
        _convert,
        parser=_parse,
        options=OPTIONS,
    )


def output_names(model: Any) -> tuple[str, ...]:
    """Return what the graph of a classifier answers.

    Scores are those of ecselm's estimators and of decisions by cost: other classifiers are
    converted to labels and probabilities.
    """
    last = last_step(model)
    if isinstance(last, CLASSIFIERS):
        return CLASSIFIER_OUTPUTS
    if not isinstance(last, CostSearchCV):
        return ("label", "probabilities")
    if last.cost_level == "decision":
        return CLASSIFIER_OUTPUTS
    inner = output_names(last.estimator_)
    return inner if hasattr(last, "predict_proba") else ("label",)


def _parse(
    scope: Any,
    model: Any,
    inputs: Any,
    custom_parsers: Any = None,  # noqa: ARG001
) -> Any:
    return declared(scope, model, inputs, output_names(model))


def _shape(operator: Any) -> None:
    model, k = operator.raw_operator, len(operator.raw_operator.classes_)
    for output, name in zip(operator.outputs, _names(operator), strict=True):
        if name == "label":
            output.type = label_type(model.classes_)([None])
        else:
            flat = name == "scores" and k == 2
            output.type = type(output.type)([None] if flat else [None, k])


def _names(operator: Any) -> tuple[str, ...]:
    """Return the names of the outputs that an operator has; two are no scores."""
    names = output_names(operator.raw_operator)
    return names if len(names) == len(operator.outputs) else ("label", "probabilities")


def _convert(scope: Any, operator: Any, container: Any) -> None:
    graph, model = graph_of(scope, operator, container), operator.raw_operator
    inner = _inner_answers(graph, model.estimator_, operator.inputs)
    if model.cost_level == "decision":
        P = _by_class(graph, graph.cast(inner["probabilities"]), model)
        in_favour = against_costs(graph, P, model.cost_matrix_)
        put_out_decision(graph, operator, in_favour, P, calibrated=True)
        return
    for output, name in zip(operator.outputs, _names(operator), strict=True):
        graph.put_out(_typed(graph, inner[name], output), output)


def _inner_answers(graph: Graph, estimator: Any, inputs: list[Any]) -> dict[str, str]:
    """Return what the estimator inside answers, by name."""
    names, last = output_names(estimator), last_step(estimator)
    own = isinstance(last, (*CLASSIFIERS, CostSearchCV))
    # Until it is converted, skl2onnx takes the labels of its own classifiers for integers.
    label = label_type(last.classes_) if own else Int64TensorType
    kinds = [label if name == "label" else graph.tensor_type for name in names]
    return dict(zip(names, sub_outputs(graph, estimator, inputs, kinds), strict=True))


def _typed(graph: Graph, answer: str, output: Any) -> str:
    """Return an answer in the type of an output; skl2onnx counts truth values as integers."""
    if isinstance(output.type, StringTensorType):
        return answer
    return graph.node("Cast", answer, to=guess_proto_type(output.type))


def _by_class(graph: Graph, P: str, model: CostSearchCV) -> str:
    """Return probabilities (N, k), 0 for classes that the estimator has not seen."""
    columns = model.estimator_.classes_[:, np.newaxis] == model.classes_
    if columns.shape[0] == columns.shape[1]:
        return P
    return graph.node("MatMul", P, graph.constant(columns.astype(np.float64)))
