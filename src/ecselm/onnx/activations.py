"""Activation functions as nodes, one for each of :mod:`ecselm.hidden.activations`."""

from __future__ import annotations

from collections.abc import Callable

from ecselm.onnx.graph import Graph


def _radbas(graph: Graph, A: str) -> str:
    return graph.node("Exp", graph.node("Neg", graph.node("Mul", A, A)))


def _plain(operator: str) -> Callable[[Graph, str], str]:
    def activation(graph: Graph, A: str) -> str:
        return graph.node(operator, A)

    return activation


def _hardlim(graph: Graph, A: str) -> str:
    return graph.cast(graph.node("GreaterOrEqual", A, graph.constant(0.0)))


def _tribas(graph: Graph, A: str) -> str:
    return graph.node("Relu", graph.node("Sub", graph.constant(1.0), graph.node("Abs", A)))


def _laplacian(graph: Graph, A: str) -> str:
    return graph.node("Exp", graph.node("Neg", graph.node("Abs", A)))


def _polynomial(graph: Graph, A: str) -> str:
    moved = graph.node("Add", A, graph.constant(1.0))
    return graph.node("Mul", moved, moved)


ACTIVATION_NODES: dict[str, Callable[[Graph, str], str]] = {
    "radbas": _radbas,
    "sigmoid": _plain("Sigmoid"),
    "tanh": _plain("Tanh"),
    "sine": _plain("Sin"),
    "relu": _plain("Relu"),
    "hardlim": _hardlim,
    "tribas": _tribas,
    "laplacian": _laplacian,
    "polynomial": _polynomial,
}
