"""Converters of the estimators of the ELM family and of the cost search."""

from __future__ import annotations

from typing import Any

import numpy as np
from skl2onnx import update_registered_converter
from skl2onnx.common.data_types import (
    BooleanTensorType,
    DoubleTensorType,
    FloatTensorType,
    Int64TensorType,
    StringTensorType,
    guess_proto_type,
)

from ecselm._typing import AnyArray, FloatArray
from ecselm.estimators import (
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
from ecselm.onnx.graph import Graph, graph_of, joined_inputs
from ecselm.onnx.layers import last_step, layer_scores, sub_outputs

CLASSIFIERS = (
    ELMClassifier,
    KELMClassifier,
    WELMClassifier,
    CSELMClassifier,
    EELMClassifier,
    ECSELMClassifier,
)
REGRESSORS = (ELMRegressor, KELMRegressor, CSELMRegressor, EELMRegressor, ECSELMRegressor)
# Pipelines of skl2onnx give every classifier these options; the answers do not depend on them.
OPTIONS = {"zipmap": [True, False, "columns"], "nocl": [True, False]}
CLASSIFIER_OUTPUTS = ("label", "scores", "probabilities")


def register_estimators() -> None:
    """Tell skl2onnx how the estimators of the family are converted."""
    for classifier in CLASSIFIERS:
        update_registered_converter(
            classifier,
            f"Ecselm{classifier.__name__}",
            shape_classifier,
            convert_classifier,
            parser=parse_classifier,
            options=OPTIONS,
        )
    for regressor in REGRESSORS:
        update_registered_converter(
            regressor, f"Ecselm{regressor.__name__}", shape_regressor, convert_regressor
        )


def parse_classifier(
    scope: Any,
    model: Any,
    inputs: Any,
    custom_parsers: Any = None,  # noqa: ARG001
) -> Any:
    """Declare what a classifier answers: label, scores and probabilities."""
    return declared(scope, model, inputs, CLASSIFIER_OUTPUTS)


def declared(scope: Any, model: Any, inputs: Any, names: tuple[str, ...]) -> Any:
    """Declare the operator of a classifier with outputs of these names."""
    operator = scope.declare_local_operator(f"Ecselm{type(model).__name__}", model)
    operator.inputs = inputs
    for name in names:
        kind = label_type(model.classes_) if name == "label" else _real_type(inputs[0])
        operator.outputs.append(scope.declare_local_variable(name, kind()))
    return operator.outputs


def shape_classifier(operator: Any) -> None:
    """Give the outputs of a classifier their types and shapes."""
    classes = operator.raw_operator.classes_
    k, real = len(classes), _real_type(operator.inputs[0])
    label, *scores, probabilities = operator.outputs
    label.type = label_type(classes)([None])
    probabilities.type = real([None, k])
    for one in scores:  # other converters of skl2onnx ask for labels and probabilities alone
        one.type = real([None] if k == 2 else [None, k])


def shape_regressor(operator: Any) -> None:
    """Give the output of a regressor its type and shape."""
    model, real = operator.raw_operator, _real_type(operator.inputs[0])
    shape = [None] if model._target_ndim_ == 1 else [None, model.beta_.shape[1]]
    operator.outputs[0].type = real(shape)


def convert_classifier(scope: Any, operator: Any, container: Any) -> None:
    """Write scores (18), the decision and the probabilities of a classifier."""
    graph, model = graph_of(scope, operator, container), operator.raw_operator
    Z = _class_scores(graph, model, joined_inputs(graph, operator))
    calibration = getattr(model, "_probabilities_", None)
    if calibration is None:
        scaled = graph.times(Z, model._slope_, len(model.classes_))
        in_favour = Z
        P = graph.node("Softmax", scaled, axis=1)
    else:
        scaled = graph.times(Z, calibration.slope, len(model.classes_))
        moved = graph.node("Add", scaled, graph.constant(calibration.offsets))
        P = graph.node("Softmax", moved, axis=1)
        in_favour = against_costs(graph, P, model.cost_matrix_)
    put_out_decision(graph, operator, in_favour, P, calibrated=calibration is not None)


def convert_regressor(scope: Any, operator: Any, container: Any) -> None:
    """Write the targets of a regressor, in the shape that ``predict`` gives them."""
    graph, model = graph_of(scope, operator, container), operator.raw_operator
    scores = layer_scores(graph, model.layer_, joined_inputs(graph, operator), model.beta_)
    if model._target_ndim_ == 1:
        scores = graph.reshaped(scores, -1)
    graph.put_out(scores, operator.outputs[0])


def against_costs(graph: Graph, P: str, cost: FloatArray) -> str:
    """Return what speaks for each class: the negative of its expected cost (N, k)."""
    return graph.node("MatMul", P, graph.constant(-np.asarray(cost, dtype=np.float64)))


def put_out_decision(
    graph: Graph, operator: Any, in_favour: str, P: str, *, calibrated: bool
) -> None:
    """Put out the class that most speaks for, the scores, and the probabilities.

    ``in_favour`` has a column per class. Of two, the score is the second; where both are
    expected costs, by how much it is less than the first.
    """
    classes = operator.raw_operator.classes_
    winners = graph.node("ArgMax", in_favour, axis=1, keepdims=0)
    labels = graph.node("Gather", graph.constant(plain_classes(classes)), winners)
    label, *scores, probabilities = operator.outputs
    graph.put_out(labels, label)
    graph.put_out(P, probabilities)
    for one in scores:
        graph.put_out(_as_decision_function(graph, in_favour, len(classes), calibrated), one)


def label_type(classes: AnyArray) -> Any:
    """Return the type of variables that hold labels of these classes."""
    kinds = {"b": BooleanTensorType, "f": DoubleTensorType, "i": Int64TensorType}
    return kinds.get(plain_classes(classes).dtype.kind, StringTensorType)


def plain_classes(classes: AnyArray) -> AnyArray:
    """Return the classes as ONNX can hold them: truth values, numbers or words."""
    kind = classes.dtype.kind
    if kind in "iu":
        return classes.astype(np.int64)
    return classes.astype(np.float64) if kind == "f" else classes


def _class_scores(graph: Graph, model: Any, X: str) -> str:
    """Return one column of scores per class; of two the first is the negative of the second."""
    if len(model.classes_) > 2:
        return layer_scores(graph, model.layer_, X, model.beta_)
    score = layer_scores(graph, model.layer_, X, model.beta_[:, 1:])
    return graph.joined([graph.node("Neg", score), score])


def _as_decision_function(graph: Graph, in_favour: str, n_classes: int, calibrated: bool) -> str:
    if n_classes > 2:
        return in_favour
    if calibrated:
        in_favour = graph.node("MatMul", in_favour, graph.constant(np.array([[-1.0], [1.0]])))
    else:
        in_favour = graph.node("Gather", in_favour, graph.constant(np.array([1])), axis=1)
    return graph.reshaped(in_favour, -1)


def _real_type(variable: Any) -> Any:
    double = isinstance(variable.type, DoubleTensorType)
    return DoubleTensorType if double else FloatTensorType


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
