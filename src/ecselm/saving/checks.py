"""Check the schema of a file before anything is built, and the built model for consistency."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from ecselm._sklearn import Tree
from ecselm._typing import BoolArray, IntArray
from ecselm.costs import CostConstraints
from ecselm.costs.front import RecallFront
from ecselm.estimators import CostDecisionClassifier, CostSearchCV
from ecselm.estimators._base import ELMBase, ELMClassifierBase
from ecselm.estimators._calibration import (
    LogisticCalibration,
    MonotoneCalibration,
    ScoreCalibration,
    VectorCalibration,
)
from ecselm.estimators._ensemble import Member
from ecselm.saving.budget import CLASS_PAIR_BYTES, check_memory
from ecselm.saving.build import Builder, is_known
from ecselm.saving.plain import KnownCosts, parts_of
from ecselm.saving.trusted import BIT_GENERATORS, TRUSTED, is_trusted

PROTOCOL = 2  # of skops; an older one would bring back loaders that check less
LEAF = -1
CALIBRATIONS = (LogisticCalibration, MonotoneCalibration, ScoreCalibration, VectorCalibration)


def refused_types(schema: Any) -> list[str]:
    """Return the names of the types in a schema that are not trusted.

    Every object of the schema is checked, wherever it is nested, so that the result does not
    depend on which of them skops would read.

    Examples
    --------
    >>> call = {"__loader__": "FunctionNode", "__module__": "os", "__class__": "system"}
    >>> refused_types({"__loader__": "ListNode", "__module__": "builtins",
    ...                "__class__": "list", "content": [call], "protocol": 2})
    ['os.system']
    """
    if not isinstance(schema, dict) or "__loader__" not in schema:
        raise ValueError("the schema describes no object")
    protocol = schema.get("protocol")
    if type(protocol) is not int or protocol < PROTOCOL:
        raise ValueError(f"the protocol of skops must be at least {PROTOCOL}, got {protocol!r}")
    return sorted(set(_refused(schema)))


def refused_by_skops(archive: bytes) -> list[str]:
    """Return the names of types that neither skops nor the fixed list trusts."""
    return sorted(set(_untrusted(archive)) - _all_trusted())


def known_object(schema: Any, entries: dict[str, bytes]) -> Any | None:
    """Return the object of a schema that has passed the checks, None if it takes skops.

    So does another protocol than the one known here, if only to be refused.
    """
    known = schema["protocol"] == PROTOCOL and is_known(_nodes(schema))
    return Builder(entries).build(schema) if known else None


def build(archive: bytes) -> Any:
    """Return the object in an archive that has passed the checks."""
    import skops.io  # noqa: PLC0415  slow to import

    return skops.io.loads(archive, trusted=sorted(set(_untrusted(archive)) & _all_trusted()))


def _all_trusted() -> set[str]:
    return set().union(*TRUSTED.values())


def _untrusted(archive: bytes) -> list[str]:
    import skops.io  # noqa: PLC0415  as above

    return list(skops.io.get_untrusted_types(data=archive))


def _refused(schema: Any) -> Iterator[str]:
    for node in _nodes(schema):
        loader, module, name = (node.get(f"__{key}__") for key in ("loader", "module", "class"))
        full = f"{module}.{name}"
        if not isinstance(loader, str) or not is_trusted(loader, full):
            yield full
        elif loader == "RandomGeneratorNode" and not _has_known_bits(node):
            yield f"{full} of an unknown kind"


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield every typed object, without recursion: a hostile file may be nested deeply."""
    waiting = [schema]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if not one.keys().isdisjoint({"__loader__", "__class__", "__module__"}):
                yield one
            waiting.extend(one.values())
        elif isinstance(one, list):
            waiting.extend(one)


def _has_known_bits(node: dict[str, Any]) -> bool:
    """Return whether a random generator is one of NumPy's: skops looks it up and calls it."""
    try:
        name = node["content"]["bit_generator"]["content"]["bit_generator"]["content"]
        return json.loads(name) in BIT_GENERATORS
    except (KeyError, TypeError, ValueError):
        return False


def check_sound(model: Any) -> None:
    """Raise if parts of a model are missing, out of bounds or of another kind.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    >>> check_sound(tree)
    >>> tree.tree_.feature[0] = 7
    >>> check_sound(tree)
    Traceback (most recent call last):
        ...
    ValueError: a tree must use features from 0 to 0, got 7
    """
    if not isinstance(model, BaseEstimator):
        raise TypeError(f"it must hold an estimator, got {type(model).__name__}")
    for value in _everything(model):
        if sparse.issparse(value):
            _check_matrix(value)
        elif isinstance(value, CALIBRATIONS):
            _check_calibration(value)
        elif isinstance(value, BaseEstimator):
            _check_trees(value)
            _check_front(value)
            if isinstance(value, ELMBase):
                _check_members(vars(value).get("_members_"))
            if isinstance(value, ELMClassifierBase) and hasattr(value, "beta_"):
                _check_decisions(value)
            elif isinstance(value, CostDecisionClassifier) and hasattr(value, "classes_"):
                _check_policy(value)
            elif isinstance(value, CostSearchCV) and hasattr(value, "classes_"):
                _check_costs(value._decision_costs_, len(value.classes_))


def check_constraints(model: Any) -> None:
    """Raise if what a model knows of costs is about other classes than its own."""
    for value in _everything(model):
        known = vars(value).get("constraints_") if isinstance(value, BaseEstimator) else None
        if known is None:
            if isinstance(value, CostDecisionClassifier) and hasattr(value, "classes_"):
                raise ValueError("constraints_ must be cost constraints, got None")
            continue
        if not isinstance(known, CostConstraints):
            raise TypeError(f"constraints_ must be cost constraints, got {type(known).__name__}")
        if known.classes.tolist() != np.asarray(value.classes_).tolist():
            raise ValueError(
                f"constraints_ must be about the classes of the model, got {known.classes.tolist()}"
            )


def check_known_costs(plain: Any, n_bytes: int) -> None:
    """Raise ValueError if cost constraints take too much memory for a file of ``n_bytes``."""
    known = [value for value in _everything(plain) if isinstance(value, KnownCosts)]
    check_memory(CLASS_PAIR_BYTES * sum(one.n_classes**2 for one in known), n_bytes)


def _everything(model: Any) -> Iterator[Any]:
    waiting, seen = [model], set()
    while waiting:
        value = waiting.pop()
        if id(value) not in seen:
            seen.add(id(value))
            yield value
            waiting.extend(parts_of(value).values())  # raises AttributeError if a field is missing


def _check_calibration(calibration: Any) -> None:
    """Check the numbers of a calibration, which a loader fills in without its constructor."""
    for name, value in parts_of(calibration).items():
        number = name == "slope"
        if not (isinstance(value, float) if number else isinstance(value, np.ndarray)):
            raise TypeError(f"{name} of a calibration has the wrong type {type(value).__name__}")
    calibration.__post_init__()


def _check_front(model: BaseEstimator) -> None:
    """Check the front of an estimator: arrays of numbers, about as many classes as it has."""
    front, shares = (vars(model).get(name) for name in ("_front_", "_class_shares_"))
    if shares is not None and not _are_numbers(shares, np.shape(model.classes_)):
        raise ValueError("shares of classes must be finite numbers, one for every class")
    if front is None:
        return
    if not isinstance(front, RecallFront):
        raise TypeError(f"_front_ must be a front of recalls, got {type(front).__name__}")
    for name, part in parts_of(front).items():
        absent = part is None and name == "mean_cost"
        if not absent and not (isinstance(part, np.ndarray) and part.dtype.kind == "f"):
            raise TypeError(f"{name} of a front must be an array of numbers")
    front.__post_init__()
    if len(front.pattern) != len(model.classes_):
        raise ValueError(f"a front must be one of {len(model.classes_)} classes")


def _check_members(members: Any) -> None:
    """Check the members of an ensemble, which are plain tuples in a file."""
    for one in () if members is None else members:
        kernel, inputs, *values = one
        named = isinstance(kernel, str) and (inputs is None or isinstance(inputs, str))
        numbers = len(one) == len(Member._fields) and all(isinstance(x, float) for x in values)
        if not (isinstance(one, tuple) and named and numbers and np.isfinite(values).all()):
            raise ValueError(f"a member must state its layer, C and squared error, got {one}")


def _check_decisions(model: ELMClassifierBase) -> None:
    """Check what a classifier decides by: probabilities, and costs unless scores decide."""
    weighted, costs = model._weighted_probabilities_, model._decision_costs_
    for one in (model._probabilities_, *([] if weighted is None else [weighted])):
        if not isinstance(one, CALIBRATIONS):
            raise TypeError(f"probabilities must come from a calibration, got {type(one).__name__}")
    _check_costs(costs, len(model.classes_))


def _check_costs(costs: Any, k: int, n_answers: int | None = None) -> None:
    """Check the costs of decisions (k, m), None if scores decide."""
    m = k if n_answers is None else n_answers
    if costs is not None and not _are_numbers(costs, (k, m)):
        raise ValueError(f"costs that decide must be {k} by {m} finite numbers")


def _are_numbers(values: Any, shape: tuple[int, ...]) -> bool:
    return (
        isinstance(values, np.ndarray)
        and values.shape == shape
        and values.dtype.kind == "f"
        and bool(np.isfinite(values).all())
    )


def _check_policy(model: CostDecisionClassifier) -> None:
    """Check by what probabilities and costs a model decides, and when it asks."""
    k, asks = len(model.classes_), "reject_label_" in vars(model)
    for costs in (model._decision_costs_, model.cost_matrix_):
        if costs is None:
            raise ValueError("costs that decide must be numbers, got None")
        _check_costs(costs, k, k + asks)
    if not isinstance(model.estimator_, BaseEstimator):
        raise TypeError(f"estimator_ must be an estimator, got {type(model.estimator_).__name__}")
    gain, n_rows, calibration = model._least_gain_, model._scored_rows_, model._map_
    if not (isinstance(gain, float) and 0 <= gain < np.inf):
        raise ValueError(f"the least gain of asking must be a finite number >= 0, got {gain!r}")
    if type(n_rows) is not int or n_rows < 1:
        raise ValueError(f"the number of scored rows must be an integer >= 1, got {n_rows!r}")
    if calibration is not None:
        if not isinstance(calibration, CALIBRATIONS):
            raise TypeError(
                f"probabilities must come from a calibration, got {type(calibration).__name__}"
            )
        _check_calibration(calibration)
        if calibration(np.zeros((1, 1 if k == 2 else k))).shape != (1, k):
            raise ValueError(f"a calibration must be one of {k} classes")
    if asks:
        _check_asking(model, k)


def _check_asking(model: CostDecisionClassifier, k: int) -> None:
    """Check what asking costs, how often it happens, and the label of rejected rows."""
    label, column = model.reject_label_, model._reject_costs_
    if not (label is None or isinstance(label, str | int | float)):
        raise TypeError(f"reject_label_ must be a text or a number, got {type(label).__name__}")
    if label in model.classes_.tolist():
        raise ValueError(f"reject_label_ must not be a class, got {label!r}")
    if not _are_numbers(column, (k,)):
        raise ValueError(f"costs of asking must be {k} finite numbers")
    if not (isinstance(model.reject_rate_, float) and 0 <= model.reject_rate_ <= 1):
        raise ValueError(f"reject_rate_ must be from 0 to 1, got {model.reject_rate_!r}")


def _check_matrix(matrix: Any) -> None:
    if matrix.format == "coo":
        for places, size in zip(matrix.coords, matrix.shape, strict=True):
            _check_range(places, size, "a matrix must have places")
    else:
        matrix.check_format()


def _check_trees(estimator: BaseEstimator) -> None:
    """Check the trees of an estimator, which alone knows the number of features."""
    held = vars(estimator)
    members = held.get("estimators_", [])
    members = members.ravel() if isinstance(members, np.ndarray) else members
    for owner in (estimator, *members):
        tree = getattr(owner, "__dict__", {}).get("tree_")
        if tree is not None:
            if not isinstance(tree, Tree):
                raise TypeError(f"a tree must be one of scikit-learn's, got {type(tree).__name__}")
            n_features = min(tree.n_features, estimator.n_features_in_)
            inner = (tree.children_left != LEAF) | (tree.children_right != LEAF)
            _check_nodes(inner, tree.children_left, tree.children_right, tree.feature, n_features)
    for predictor in (one for stage in held.get("_predictors", []) for one in stage):
        nodes = predictor.nodes
        inner = nodes["is_leaf"] == 0
        if nodes["is_categorical"][inner].any():
            raise ValueError("trees of HistGradientBoosting must split by numbers, not categories")
        left, right, feature = (
            nodes[name].astype(np.int64) for name in ("left", "right", "feature_idx")
        )
        _check_nodes(inner, left, right, feature, estimator.n_features_in_)


def _check_nodes(
    inner: BoolArray, left: IntArray, right: IntArray, feature: IntArray, n_features: int
) -> None:
    own = np.flatnonzero(inner)
    for child in (left[inner], right[inner]):
        # A child comes after its parent, so that every path ends at a leaf.
        if not ((child > own) & (child < len(inner))).all():
            raise ValueError("a tree must lead from every node to later ones, up to its leaves")
    _check_range(feature[inner], n_features, "a tree must use features")


def _check_range(values: IntArray, size: int, what: str) -> None:
    outside = values[(values < 0) | (values >= size)]
    if len(outside):
        raise ValueError(f"{what} from 0 to {size - 1}, got {outside[0]}")


def check_parameters(model: BaseEstimator) -> None:
    """Raise ValueError naming the parameter if a parameter of the model is a function.

    Examples
    --------
    >>> import numpy as np
    >>> from ecselm import ELMClassifier
    >>> check_parameters(ELMClassifier(activation="tanh"))
    >>> check_parameters(ELMClassifier(activation=np.tanh))
    Traceback (most recent call last):
        ...
    ValueError: activation must be no function for a model to be saved, got <ufunc 'tanh'>: a file
    cannot hold one that is safe to read; fit with a name instead, or save with pickle=True
    """
    for name, value in model.get_params(deep=True).items():
        if isinstance(value, CostConstraints) and value.density is not None:
            raise ValueError(
                f"{name} must have density=None for a model to be saved, got a function: a file "
                "cannot hold one that is safe to read; save with pickle=True"
            )
        for one in value if isinstance(value, list | tuple) else [value]:
            if callable(one) and not isinstance(one, type | BaseEstimator):
                raise ValueError(  # noqa: TRY004  as for any value
                    f"{name} must be no function for a model to be saved, got {one!r}: a file "
                    f"cannot hold one that is safe to read; {_instead(name)}, or save with "
                    "pickle=True"
                )


def _instead(name: str) -> str:
    if name.endswith("callbacks"):
        return f"drop it by set_params({name}=None)"
    return "fit with a name instead"
