"""Converters of scikit-learn's histogram gradient boosting.

The converter of skl2onnx refuses some versions of scikit-learn, takes splits by category for
splits by number, and sums in float32. It stays registered; ``to_onnx`` alone uses these.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from onnx.numpy_helper import from_array
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType
from sklearn.base import is_classifier
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.onnx.estimators import label_type, plain_classes
from ecselm.onnx.graph import Graph, joined_inputs
from ecselm.onnx.tables import input_columns, place_of

BOOSTING = (HistGradientBoostingClassifier, HistGradientBoostingRegressor)
UNITS = 23  # binary digits of a sum of leaves in float32, with one to spare
LOGARITHMIC = ("poisson", "gamma")  # losses whose scores are logarithms of predictions


def column_encoder(model: Any) -> Any:
    """Return the transformer by which boosted trees encode categories, None without any."""
    return getattr(model, "_preprocessor", None) if isinstance(model, BOOSTING) else None


class TreeConverters:
    """The converters and shape calculators of one export, by type.

    Parameters
    ----------
    dtype : numpy dtype
        Type of all real numbers.
    """

    def __init__(self, dtype: np.dtype[np.floating]) -> None:
        self._dtype = dtype

    @property
    def converters(self) -> dict[type, Any]:
        """Return the converters by type."""
        return dict.fromkeys(BOOSTING, self._convert)

    @property
    def shapes(self) -> dict[type, Any]:
        """Return the shape calculators by type."""
        return dict.fromkeys(BOOSTING, self._shape)

    def _shape(self, operator: Any) -> None:
        real = DoubleTensorType if self._dtype == np.float64 else FloatTensorType
        model = operator.raw_operator
        if is_classifier(model):
            label, probabilities = operator.outputs
            label.type = label_type(model.classes_)([None])
            probabilities.type = real([None, len(model.classes_)])
        else:
            operator.outputs[0].type = real([None])

    def _convert(self, scope: Any, operator: Any, container: Any) -> None:
        graph, model = Graph(scope, container, self._dtype), operator.raw_operator
        X, trees = rows_and_trees(graph, operator)
        raw = trees.raw_scores(graph, X, np.ravel(model._baseline_prediction))
        if not is_classifier(model):
            raw = graph.reshaped(raw, -1)
            logarithmic = model.loss in LOGARITHMIC
            graph.put_out(graph.node("Exp", raw) if logarithmic else raw, operator.outputs[0])
            return
        if len(model.classes_) == 2:
            raw = graph.joined([graph.node("Neg", raw), raw])
            P = graph.node("Sigmoid", raw)
        else:
            P = graph.node("Softmax", raw, axis=1)
        winners = graph.node("ArgMax", raw, axis=1, keepdims=0)
        labels = graph.node("Gather", graph.constant(plain_classes(model.classes_)), winners)
        graph.put_out(labels, operator.outputs[0])
        graph.put_out(P, operator.outputs[1])


@dataclass(frozen=True, slots=True)
class Trees:
    """The nodes of all trees, one after the other; all splits are ``feature <= threshold``."""

    tree: IntArray  # of every node
    feature: IntArray
    threshold: FloatArray
    nodes: AnyArray  # as scikit-learn has them
    n_targets: int  # trees take turns to add to them

    @classmethod
    def of_numbers(cls, model: Any) -> Trees:
        """Return the trees of a model; splits by category are still to be replaced."""
        found = [one.nodes for one in _predictors(model)]
        nodes = np.concatenate(found)
        return cls(
            np.repeat(np.arange(len(found)), [len(one) for one in found]),
            nodes["feature_idx"].astype(np.int64),
            nodes["num_threshold"].astype(np.float64),
            nodes,
            model.n_trees_per_iteration_,
        )

    def raw_scores(self, graph: Graph, X: str, baseline: FloatArray) -> str:
        """Write the sums of the leaves (N, m) of rows ``X``.

        Operators for trees return float32. Leaves are therefore divided by a unit, and the
        whole units are summed apart from the rest: these sums are whole numbers of at most 24
        binary digits, which float32 holds, and the sums of the rest are small.
        """
        is_leaf = self.nodes["is_leaf"] == 1
        leaves, trees = self.nodes["value"][is_leaf], self.tree[is_leaf]
        largest = np.zeros(self.tree[-1] + 1)
        np.maximum.at(largest, trees, np.abs(leaves))
        m = self.n_targets
        most = np.bincount(np.arange(len(largest)) % m, largest, minlength=m)
        unit = 2.0 ** (np.ceil(np.log2(np.where(most > 0, most, 1.0))) - UNITS)
        scaled = leaves / unit[trees % m]
        whole = np.rint(scaled)
        within = np.arange(len(self.tree)) - np.searchsorted(self.tree, self.tree)
        sums = graph.classical_node(
            "TreeEnsembleRegressor",
            X,
            n_targets=2 * m,
            nodes_treeids=self.tree.tolist(),
            nodes_nodeids=within.tolist(),
            nodes_featureids=np.where(is_leaf, 0, self.feature).tolist(),
            nodes_modes=np.where(is_leaf, "LEAF", "BRANCH_LEQ").tolist(),
            nodes_values_as_tensor=from_array(
                _rounded_down(np.where(is_leaf, 0.0, self.threshold), graph.dtype), "thresholds"
            ),
            nodes_truenodeids=np.where(is_leaf, 0, self.nodes["left"]).tolist(),
            nodes_falsenodeids=np.where(is_leaf, 0, self.nodes["right"]).tolist(),
            nodes_missing_value_tracks_true=np.where(
                is_leaf, 0, self.nodes["missing_go_to_left"]
            ).tolist(),
            target_treeids=np.tile(trees, 2).tolist(),
            target_nodeids=np.tile(within[is_leaf], 2).tolist(),
            target_ids=np.concatenate([trees % m, m + trees % m]).tolist(),
            target_weights_as_tensor=from_array(
                np.concatenate([whole, scaled - whole]).astype(graph.dtype), "leaves"
            ),
        )
        parts = [
            graph.node("Gather", graph.cast(sums), graph.constant(np.arange(m) + start), axis=1)
            for start in (0, m)
        ]
        units = graph.node("Add", *parts)
        scores = graph.node("Mul", units, graph.constant(unit))
        return graph.node("Add", scores, graph.constant(baseline))


def _predictors(model: Any) -> list[Any]:
    return [one for iteration in model._predictors for one in iteration]


def _rounded_down(values: FloatArray, dtype: np.dtype[np.floating]) -> FloatArray:
    """Return the largest numbers of a type that are not above: ``x <= value`` stays the same."""
    rounded = values.astype(dtype)
    return np.where(rounded > values, np.nextafter(rounded, dtype.type(-np.inf)), rounded)


def rows_and_trees(graph: Graph, operator: Any) -> tuple[str, Trees]:
    """Return the rows (N, n) that the trees of the graph split, and these trees.

    A split by category becomes a column of its own, which is 0 for categories that go left and
    1 for others: a table that is looked up. Equal splits share it.
    """
    model = operator.raw_operator
    trees, encoding = Trees.of_numbers(model), column_encoder(model)
    if encoding is None:
        return joined_inputs(graph, operator), trees
    columns = input_columns(graph, operator)
    is_named = model.is_categorical_
    parts = [columns[j][0] for j in np.flatnonzero(~is_named).tolist()]
    n_columns, is_split = len(parts), trees.nodes["is_leaf"] == 0
    # The trees have the columns of categories before the others.
    feature, threshold = trees.feature - int(is_named.sum()), trees.threshold.copy()
    encoder, predictors = encoding.named_transformers_["encoder"], _predictors(model)
    for j, at in enumerate(np.flatnonzero(is_named).tolist()):
        categories = encoder.categories_[j]
        known = model._bin_mapper.bin_thresholds_[j].astype(np.int64)
        own = np.flatnonzero(is_split & (trees.feature == j))
        goes_right = np.zeros((max(len(own), 1), len(categories) + 1))  # unknown ones first
        for row, i in zip(goes_right, own.tolist(), strict=False):
            node = trees.nodes[i]
            # Where a missing value goes, categories go that training did not see.
            row[:] = not node["missing_go_to_left"]
            left = _members(predictors[trees.tree[i]].raw_left_cat_bitsets[node["bitset_idx"]])
            row[known + 1], row[left + 1] = 1.0, 0.0
        splits, places = np.unique(goes_right, axis=0, return_inverse=True)
        feature[own], threshold[own] = n_columns + places.ravel()[: len(own)], 0.5
        place = place_of(graph, columns[at][0], categories, columns[at][1])
        rows = graph.node("Gather", graph.constant(splits.T), place)
        parts.append(graph.reshaped(rows, -1, len(splits)))
        n_columns += len(splits)
    return graph.joined(parts), replace(trees, feature=feature, threshold=threshold)


def _members(words: AnyArray) -> IntArray:
    """Return the members of a set of numbers below 256, a bit each of eight words."""
    bits = np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little")
    return np.flatnonzero(bits)
