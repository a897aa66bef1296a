"""Scales of the inputs as nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev
from scipy.special import ndtr, ndtri

from ecselm._typing import FloatArray
from ecselm.elm.layer_kinds import DenseScale
from ecselm.hidden import InputScale, RankScale
from ecselm.hidden.ranks import FARTHEST
from ecselm.onnx.graph import Graph, NoOnnxFormError

DEGREE = 21  # of the polynomial for normal quantiles: errors of 1e-13 between the clips


def scaled_rows(graph: Graph, scale: Any, X: str, *, centred: bool = True) -> str:
    """Return the rows ``X`` (N, n) scaled; None leaves them as they are."""
    if scale is None:
        return X
    if isinstance(scale, DenseScale):
        return scaled_rows(graph, scale.scale, X)
    if isinstance(scale, InputScale):
        return _standardised(graph, scale, X, centred)
    if isinstance(scale, RankScale):
        return _ranked(graph, scale, X)
    raise NoOnnxFormError(f"scale must be one of ecselm's to be written as ONNX, got {scale!r}")


def _standardised(graph: Graph, scale: InputScale, X: str, centred: bool) -> str:
    center = scale.center if centred else np.zeros_like(scale.center)
    key = "standardised", X, center.tobytes(), scale.spread.tobytes()
    return graph.once(
        key,
        lambda: graph.node(
            "Div",
            graph.node("Sub", X, graph.constant(center)),
            graph.constant(scale.spread),
        ),
    )


def _ranked(graph: Graph, scale: RankScale, X: str) -> str:
    """Return normal scores of ranks, interpolated from both sides as the scale does."""

    def make() -> str:
        upward = _interpolated(graph, X, scale, "LessOrEqual", _after)
        downward = _interpolated(graph, X, scale, "Less", _before)
        shares = graph.node("Mul", graph.node("Add", upward, downward), graph.constant(0.5))
        return _normal_scores(graph, shares)

    return graph.once(("ranked", X, scale.knots.tobytes(), scale.levels.tobytes()), make)


def _interpolated(
    graph: Graph,
    X: str,
    scale: RankScale,
    is_below: str,
    lines: Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray, FloatArray]],
) -> str:
    """Return the levels (N, n) at ``X``, on the lines between knots.

    ``lines`` gives an anchor, the level there and the slope for every number of knots below
    a value; ``is_below`` says whether a knot of the same value is one of them.
    """
    place = _knots_below(graph, X, scale.knots, is_below)
    anchor, level, slope = (
        graph.node("Gather", graph.constant(np.concatenate(table)), place)
        for table in zip(*(lines(knots, scale.levels) for knots in scale.knots.T), strict=True)
    )
    return graph.node("Add", graph.node("Mul", graph.node("Sub", X, anchor), slope), level)


def _knots_below(graph: Graph, X: str, knots: FloatArray, is_below: str) -> str:
    """Return where the lines of all features, one after the other, have that of each value.

    A search by halves: comparing with all knots at once would take q times the memory.
    """
    q, n = knots.shape
    steps = 1 << np.arange(q.bit_length())[::-1]
    width = int(steps.sum()) + 1
    padded = np.full((n, width), np.inf)
    padded[:, :q] = knots.T
    table = graph.constant(padded.ravel())
    count = graph.constant(np.zeros(n, dtype=np.int64))
    for step in steps:
        further = graph.node("Add", count, graph.constant(step))
        last = graph.node("Add", further, graph.constant(np.arange(n) * width - 1))
        knot = graph.node("Gather", table, last)
        count = graph.node("Where", graph.node(is_below, knot, X), further, count)
    return graph.node("Add", count, graph.constant(np.arange(n) * (q + 1)))


def _after(knots: FloatArray, levels: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the lines that begin at the last of equal knots."""
    anchor, level = np.append(knots[0], knots), np.append(levels[0], levels)
    return anchor, level, np.concatenate([[0.0], _slopes(knots, levels), [0.0]])


def _before(knots: FloatArray, levels: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the lines that end at the first of equal knots."""
    anchor, level = np.append(knots, knots[-1]), np.append(levels, levels[-1])
    return anchor, level, np.concatenate([[0.0], _slopes(knots, levels), [0.0]])


def _slopes(knots: FloatArray, levels: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", over="ignore"):
        slopes = np.diff(levels) / np.diff(knots)
    return np.where(np.isfinite(slopes), slopes, 0.0)  # no value lies between equal knots


def _normal_scores(graph: Graph, shares: str) -> str:
    """Return the normal quantiles of ``shares``, up to ``FARTHEST``.

    A polynomial in ``t = sqrt(-2 log p)`` of the smaller tail p: quantiles are all but
    linear in t. ONNX has no normal quantiles, and ONNX Runtime no erf in float64.
    """
    least = float(ndtr(-FARTHEST))
    kept = graph.node("Clip", shares, graph.constant(least), graph.constant(1.0 - least))
    other = graph.node("Sub", graph.constant(1.0), kept)
    tail = graph.node("Min", kept, other)
    t = graph.node("Sqrt", graph.node("Mul", graph.node("Log", tail), graph.constant(-2.0)))
    score = _tail_scores(graph, t, np.sqrt(-2.0 * np.log([0.5, least])))
    return graph.node("Where", graph.node("Less", kept, other), score, graph.node("Neg", score))


def _tail_scores(graph: Graph, t: str, domain: FloatArray) -> str:
    fitted = chebyshev.Chebyshev.interpolate(
        lambda points: ndtri(np.minimum(np.exp(-(points**2) / 2.0), 0.5)), DEGREE, domain
    )
    middle, half = domain.mean(), (domain[1] - domain[0]) / 2.0
    u = graph.node("Div", graph.node("Sub", t, graph.constant(middle)), graph.constant(half))
    *lower, highest = chebyshev.cheb2poly(fitted.coef)
    value = graph.constant(highest)
    for coefficient in reversed(lower):
        value = graph.node("Add", graph.node("Mul", value, u), graph.constant(coefficient))
    return value
