"""Write ONNX graphs: nodes, and constants that are stored once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx.helper import np_dtype_to_tensor_dtype
from onnx.numpy_helper import from_array
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

from ecselm._typing import AnyArray, FloatArray
from onnx import TensorProto


class NoOnnxFormError(ValueError):
    """A part of a model has no ONNX form; the message names it."""


ML = "ai.onnx.ml"  # the operators for classical models


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph that converters write to; tensors are identified by name.

    ``scope`` provides unused names, ``container`` holds nodes and constants, and ``dtype`` is
    the type of all real numbers.
    """

    scope: Any
    container: Any
    dtype: np.dtype[np.floating]
    _known: dict[Any, str] = field(default_factory=dict)

    @property
    def real(self) -> int:
        """Return the ONNX code of the type of real numbers."""
        return int(np_dtype_to_tensor_dtype(self.dtype))

    @property
    def tensor_type(self) -> Any:
        """Return the class of variables that hold real numbers."""
        return DoubleTensorType if self.dtype == np.float64 else FloatTensorType

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add a node of the standard operators and return the name of its output."""
        return self._add(operator, inputs, "", attributes)

    def classical_node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add a node of the operators for classical models."""
        return self._add(operator, inputs, ML, attributes)

    def constant(self, values: Any) -> str:
        """Store an array and return its name; equal arrays are stored once.

        Real numbers get the type of the graph, integers become int64.
        """
        array = self._typed(np.asarray(values))
        key = (
            array.dtype.kind,
            array.shape,
            array.tobytes() if array.dtype != object else tuple(array.ravel()),
        )
        return self.once(("constant", key), lambda: self._stored(array))

    def once(self, key: Any, make: Callable[[], str]) -> str:
        """Return the tensor of a key, created on first use."""
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]

    def cast(self, name: str) -> str:
        """Return a tensor as real numbers."""
        return self.node("Cast", name, to=self.real)

    def product(self, name: str, matrix: FloatArray) -> str:
        """Return a tensor (N, n) times a matrix (n, m).

        ONNX Runtime fuses a matrix product with a scalar factor of one of its inputs, and
        rounds the scalar to float32. A single column is divided by such a scalar, its scale,
        and is therefore multiplied entry by entry.
        """
        return self.node("Mul" if len(matrix) == 1 else "MatMul", name, self.constant(matrix))

    def times(self, name: str, factor: float, width: int) -> str:
        """Return a tensor (N, width) times a number, written as a row for the same reason."""
        return self.node("Mul", name, self.constant(np.full(width, factor)))

    def joined(self, names: list[str]) -> str:
        """Return tensors (N, n_i) side by side."""
        return names[0] if len(names) == 1 else self.node("Concat", *names, axis=1)

    def reshaped(self, name: str, *shape: int) -> str:
        """Return a tensor in another shape."""
        return self.node("Reshape", name, self.constant(np.array(shape)))

    def put_out(self, name: str, output: Any) -> None:
        """Write a tensor to an output variable."""
        self.container.add_node(
            "Identity",
            [name],
            [output.full_name],
            name=self.scope.get_unique_operator_name("Identity"),
        )

    def _add(
        self, operator: str, inputs: tuple[str, ...], domain: str, attributes: dict[str, Any]
    ) -> str:
        output: str = self.scope.get_unique_variable_name(operator.lower())
        self.container.add_node(
            operator,
            list(inputs),
            [output],
            op_domain=domain,
            name=self.scope.get_unique_operator_name(operator),
            **attributes,
        )
        return output

    def _typed(self, array: AnyArray) -> AnyArray:
        if array.dtype.kind in "OU":
            return array.astype(object)
        if array.dtype.kind == "b":
            return array
        return array.astype(self.dtype if array.dtype.kind == "f" else np.int64)

    def _stored(self, array: AnyArray) -> str:
        name: str = self.scope.get_unique_variable_name("constant")
        if array.dtype == object:
            words = [str(word).encode() for word in array.ravel()]
            self.container.add_initializer(name, TensorProto.STRING, array.shape, words)
        else:
            self.container.add_initializer(name, None, None, from_array(array))
        return name


def graph_of(scope: Any, operator: Any, container: Any) -> Graph:
    """Return the graph to write an operator to, with real numbers as in its inputs."""
    double = isinstance(operator.inputs[0].type, DoubleTensorType)
    return Graph(scope, container, np.dtype(np.float64 if double else np.float32))


def joined_inputs(graph: Graph, operator: Any) -> str:
    """Return the inputs of an operator as one tensor (N, n) of real numbers."""
    names = [
        one.full_name if isinstance(one.type, graph.tensor_type) else graph.cast(one.full_name)
        for one in operator.inputs
    ]
    return graph.joined(names)
