"""Converters of the ELM family, of CostSearchCV and of CostDecisionClassifier."""

from __future__ import annotations

from numbers import Integral, Real
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
    CostDecisionClassifier,
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
from ecselm.estimators._calibration import (
    Calibration,
    LogisticCalibration,
    MonotoneCalibration,
    ScoreCalibration,
    VectorCalibration,
)
from ecselm.onnx.graph import Graph, NoOnnxFormError, graph_of, joined_inputs
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
# Pipelines of skl2onnx pass these options to every classifier; outputs do not depend on them.
OPTIONS = {"zipmap": [True, False, "columns"], "nocl": [True, False]}
CLASSIFIER_OUTPUTS = ("label", "scores", "probabilities")


def register_estimators() -> None:
    """Register the converters of the ELM family with skl2onnx."""
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
    """Declare the outputs of a classifier: label, scores and probabilities."""
    return declared(scope, model, inputs, CLASSIFIER_OUTPUTS)


def declared(scope: Any, model: Any, inputs: Any, names: tuple[str, ...]) -> Any:
    """Declare the operator of a classifier with outputs of these names."""
    operator = scope.declare_local_operator(f"Ecselm{type(model).__name__}", model)
    operator.inputs = inputs
    for name in names:
        kind = label_type(answer_labels(model)) if name == "label" else _real_type(inputs[0])
        operator.outputs.append(scope.declare_local_variable(name, kind()))
    return operator.outputs


def shape_classifier(operator: Any) -> None:
    """Set the types and shapes of the outputs of a classifier."""
    classes = operator.raw_operator.classes_
    k, real = len(classes), _real_type(operator.inputs[0])
    label, *scores, probabilities = operator.outputs
    label.type = label_type(classes)([None])
    probabilities.type = real([None, k])
    for one in scores:  # other converters of skl2onnx request labels and probabilities alone
        one.type = real([None] if k == 2 else [None, k])


def shape_regressor(operator: Any) -> None:
    """Set the type and shape of the output of a regressor."""
    model, real = operator.raw_operator, _real_type(operator.inputs[0])
    shape = [None] if model._target_ndim_ == 1 else [None, model.beta_.shape[1]]
    operator.outputs[0].type = real(shape)


def convert_classifier(scope: Any, operator: Any, container: Any) -> None:
    """Write scores (18), the decision and the probabilities of a classifier."""
    graph, model = graph_of(scope, operator, container), operator.raw_operator
    k = len(model.classes_)
    Z = _class_scores(graph, model, joined_inputs(graph, operator))
    P = write_calibration(graph, model._probabilities_, Z, k)
    costs, weighted = model._decision_costs_, model._weighted_probabilities_
    preferences = Z
    if costs is not None:
        deciding = P if weighted is None else write_calibration(graph, weighted, Z, k)
        preferences = negative_expected_costs(graph, deciding, costs)
    write_decision(graph, operator, preferences, P, by_costs=costs is not None)


def convert_regressor(scope: Any, operator: Any, container: Any) -> None:
    """Write the targets of a regressor, in the shape that ``predict`` gives them."""
    graph, model = graph_of(scope, operator, container), operator.raw_operator
    scores = layer_scores(graph, model.layer_, joined_inputs(graph, operator), model.beta_)
    if model._target_ndim_ == 1:
        scores = graph.reshaped(scores, -1)
    graph.put_out(scores, operator.outputs[0])


def write_calibration(graph: Graph, calibration: Calibration, Z: str, n_classes: int) -> str:
    """Return the probabilities (N, k) of scores with one column per class."""
    match calibration:
        case MonotoneCalibration():
            return _monotone(graph, calibration, Z)
        case LogisticCalibration(slope=slope, offsets=offsets):
            slopes = np.full(n_classes, slope)
        case VectorCalibration(slopes=slopes, offsets=offsets):
            pass
        case ScoreCalibration(slope=slope, log_weights=log_weights):
            slopes, offsets = np.full(n_classes, slope), -log_weights
        case _:
            raise NoOnnxFormError(f"{type(calibration).__name__} has no ONNX form")
    scaled = graph.node("Mul", Z, graph.constant(slopes))
    moved = graph.node("Add", scaled, graph.constant(offsets))
    return graph.node("Softmax", moved, axis=1)


def _monotone(graph: Graph, calibration: MonotoneCalibration, Z: str) -> str:
    """Return the probabilities (N, 2): at the first knot, plus the share of every rise after it.

    Shares are from 0 to 1. A sum of bends, ``Relu(z - knot)``, would lose its digits between
    knots that are close to each other.
    """
    knots, values = calibration.knots, calibration.values
    if len(knots) == 1:
        knots, values = np.append(knots, knots + 1.0), np.repeat(values, 2)
    widths = np.maximum(np.diff(knots), np.finfo(np.float32).tiny)  # not 0 in float32
    z = graph.node("Gather", Z, graph.constant(np.array([1])), axis=1)
    shares = graph.node("Sub", z, graph.constant(knots[:-1]))
    shares = graph.node("Div", shares, graph.constant(widths))
    shares = graph.node("Clip", shares, graph.constant(0.0), graph.constant(1.0))
    risen = graph.product(shares, np.outer(np.diff(values), [-1.0, 1.0]))
    return graph.node("Add", risen, graph.constant(np.array([1.0 - values[0], values[0]])))


def negative_expected_costs(graph: Graph, P: str, cost: FloatArray) -> str:
    """Return the negative expected cost of predicting each class (N, k)."""
    return graph.node("MatMul", P, graph.constant(-np.asarray(cost, dtype=np.float64)))


def write_decision(
    graph: Graph, operator: Any, preferences: str, P: str, *, by_costs: bool
) -> None:
    """Write the class of the highest preference, the scores and the probabilities.

    ``preferences`` has a column per class. The score of two classes is the second column or,
    for negative expected costs, its difference from the first.
    """
    classes = operator.raw_operator.classes_
    winners = graph.node("ArgMax", preferences, axis=1, keepdims=0)
    labels = graph.node("Gather", graph.constant(plain_classes(classes)), winners)
    label, *scores, probabilities = operator.outputs
    graph.put_out(labels, label)
    graph.put_out(P, probabilities)
    for one in scores:
        graph.put_out(_as_decision_function(graph, preferences, len(classes), by_costs), one)


def label_type(classes: AnyArray) -> Any:
    """Return the type of variables that hold labels of these classes."""
    kinds = {"b": BooleanTensorType, "f": DoubleTensorType, "i": Int64TensorType}
    return kinds.get(plain_classes(classes).dtype.kind, StringTensorType)


def plain_classes(classes: AnyArray) -> AnyArray:
    """Return the classes in a type that ONNX supports: bool, int64, float64 or string."""
    kind = classes.dtype.kind
    if kind in "iu":
        return classes.astype(np.int64)
    return classes.astype(np.float64) if kind == "f" else classes


def _class_scores(graph: Graph, model: Any, X: str) -> str:
    """Return one column of scores per class; for two classes, (-score, score)."""
    if len(model.classes_) > 2:
        return layer_scores(graph, model.layer_, X, model.beta_)
    score = layer_scores(graph, model.layer_, X, model.beta_[:, 1:])
    return graph.joined([graph.node("Neg", score), score])


def _as_decision_function(graph: Graph, preferences: str, n_classes: int, by_costs: bool) -> str:
    if n_classes > 2:
        return preferences
    if by_costs:
        preferences = graph.node("MatMul", preferences, graph.constant(np.array([[-1.0], [1.0]])))
    else:
        preferences = graph.node("Gather", preferences, graph.constant(np.array([1])), axis=1)
    return graph.reshaped(preferences, -1)


def _real_type(variable: Any) -> Any:
    double = isinstance(variable.type, DoubleTensorType)
    return DoubleTensorType if double else FloatTensorType


def register_cost_search() -> None:
    """Register the converters of CostSearchCV and CostDecisionClassifier with skl2onnx."""
    for kind, convert in ((CostSearchCV, _convert), (CostDecisionClassifier, _convert_policy)):
        update_registered_converter(
            kind, f"Ecselm{kind.__name__}", _shape, convert, parser=_parse, options=OPTIONS
        )


def output_names(model: Any) -> tuple[str, ...]:
    """Return the names of the outputs of a classifier.

    Only ecselm's estimators and decisions by cost have scores; other classifiers are
    converted to labels and probabilities.
    """
    last = last_step(model)
    if isinstance(last, (*CLASSIFIERS, CostDecisionClassifier)):
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
    asks = hasattr(model, "reject_label_")
    for output, name in zip(operator.outputs, _names(operator), strict=True):
        if name == "label":
            output.type = label_type(answer_labels(model))([None])
        elif name == "scores":
            output.type = type(output.type)([None] if k + asks == 2 else [None, k + asks])
        else:
            output.type = type(output.type)([None, k])


def _names(operator: Any) -> tuple[str, ...]:
    """Return the names of the outputs of an operator; with two outputs, scores are omitted."""
    names = output_names(operator.raw_operator)
    return names if len(names) == len(operator.outputs) else ("label", "probabilities")


def _convert(scope: Any, operator: Any, container: Any) -> None:
    graph, model = graph_of(scope, operator, container), operator.raw_operator
    inner = _inner_outputs(graph, model.estimator_, operator.inputs)
    if model.cost_level == "decision":
        P = _by_class(graph, graph.cast(inner["probabilities"]), model)
        preferences = negative_expected_costs(graph, P, model.cost_matrix_)
        write_decision(graph, operator, preferences, P, by_costs=True)
        return
    for output, name in zip(operator.outputs, _names(operator), strict=True):
        graph.put_out(_typed(graph, inner[name], output), output)


def _convert_policy(scope: Any, operator: Any, container: Any) -> None:
    """Write calibrated probabilities, their expected costs and the answers of least cost."""
    graph, model = graph_of(scope, operator, container), operator.raw_operator
    if not hasattr(model.estimator_, "predict_proba"):
        raise NoOnnxFormError(
            "estimator must have predict_proba to be written as ONNX, got "
            f"{last_step(model.estimator_)!r}"
        )
    k = len(model.classes_)
    inner = _inner_outputs(graph, model.estimator_, operator.inputs)
    P = _by_class(graph, graph.cast(inner["probabilities"]), model)
    if model._map_ is not None:
        Z = _scores_of_probabilities(graph, P, model._scored_rows_, k)
        P = write_calibration(graph, model._map_, Z, k)
    preferences = negative_expected_costs(graph, P, model.cost_matrix_)
    if not hasattr(model, "reject_label_"):
        write_decision(graph, operator, preferences, P, by_costs=True)
        return
    # A row is asked about where this saves more than the least gain.
    own = graph.node("Gather", preferences, graph.constant(np.arange(k)), axis=1)
    asking = graph.node("Gather", preferences, graph.constant(np.array([k])), axis=1)
    best = graph.node("ReduceMax", own, axes=[1], keepdims=1)
    gain = graph.node("Sub", asking, best)
    asks = graph.node("Greater", gain, graph.constant(np.array([model._least_gain_])))
    winners = graph.node("ArgMax", own, axis=1, keepdims=1)
    answers = graph.node("Where", asks, graph.constant(np.array([k])), winners)
    labels = graph.constant(plain_classes(answer_labels(model)))
    label, *scores, probabilities = operator.outputs
    graph.put_out(graph.node("Gather", labels, graph.reshaped(answers, -1)), label)
    graph.put_out(P, probabilities)
    for one in scores:
        limited = np.append(np.zeros(k), -model._least_gain_)
        graph.put_out(graph.node("Add", preferences, graph.constant(limited)), one)


def _scores_of_probabilities(graph: Graph, P: str, n_rows: int, n_classes: int) -> str:
    """Return what calibrations take, a column per class: log-odds, halved, or logarithms."""
    least = graph.constant(1.0 / (n_rows + 1.0))
    logs = graph.node("Log", graph.node("Max", P, least))
    if n_classes > 2:
        return logs
    halves = graph.node("MatMul", logs, graph.constant(np.array([[0.5, -0.5], [-0.5, 0.5]])))
    limit = 0.5 * np.log(n_rows + 1.0)
    return graph.node("Clip", halves, graph.constant(-limit), graph.constant(limit))


def answer_labels(model: Any) -> AnyArray:
    """Return the classes, and the label of rejected rows if rows may be rejected.

    None, the label of rows that are left to a person where classes are numbers, is a number
    in a graph: -1 or below all integers, NaN among floats.
    """
    classes: AnyArray = model.classes_
    if not hasattr(model, "reject_label_"):
        return classes
    label = model.reject_label_
    if label is None and classes.dtype.kind in "iu":
        label = min(-1, int(classes.min()) - 1)
    elif label is None and classes.dtype.kind == "f":
        label = np.nan
    if isinstance(label, str) and all(isinstance(one, str) for one in classes.tolist()):
        return np.array([*classes.tolist(), label], dtype=object)
    number = isinstance(label, Real) and not isinstance(label, bool | np.bool_)
    if number and isinstance(label, Integral) and classes.dtype.kind in "iu":
        return np.append(classes.astype(np.int64), int(label))
    if number and classes.dtype.kind == "f":
        return np.append(classes.astype(np.float64), float(label))
    kinds = {"i": "an integer such as -1", "u": "an integer such as -1", "f": "a number such as -1"}
    kind = kinds.get(classes.dtype.kind, "a text, with text labels")
    raise NoOnnxFormError(
        f"reject_label must be of the kind of the classes to be written as ONNX, got {label!r}: "
        f"fit with {kind}"
    )


def _inner_outputs(graph: Graph, estimator: Any, inputs: list[Any]) -> dict[str, str]:
    """Return the outputs of the inner estimator by name."""
    names, last = output_names(estimator), last_step(estimator)
    own = isinstance(last, (*CLASSIFIERS, CostSearchCV, CostDecisionClassifier))
    # Before conversion, skl2onnx assumes integer labels for its own classifiers.
    label = label_type(answer_labels(last)) if own else Int64TensorType
    kinds = [label if name == "label" else graph.tensor_type for name in names]
    return dict(zip(names, sub_outputs(graph, estimator, inputs, kinds), strict=True))


def _typed(graph: Graph, tensor: str, output: Any) -> str:
    """Return a tensor cast to the type of an output; skl2onnx treats bool as integers."""
    if isinstance(output.type, StringTensorType):
        return tensor
    return graph.node("Cast", tensor, to=guess_proto_type(output.type))


def _by_class(graph: Graph, P: str, model: Any) -> str:
    """Return probabilities (N, k), 0 for classes unknown to the estimator."""
    columns = model.estimator_.classes_[:, np.newaxis] == model.classes_
    if columns.shape[0] == columns.shape[1]:
        return P
    return graph.node("MatMul", P, graph.constant(columns.astype(np.float64)))
