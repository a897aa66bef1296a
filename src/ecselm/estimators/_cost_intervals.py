"""Uncertainty of learned costs: which costs would win on other samples of validation rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ecselm._typing import AnyArray, FloatArray
from ecselm.estimators._cost_search import CostSearch, SearchResult
from ecselm.estimators._decision import DecisionEngine
from ecselm.fitness import ConfusionFitness, Fitness
from ecselm.fitness.confusion import decided_classes, smoothed_decisions

RESAMPLES = 100
INTERVAL = (0.025, 0.975)  # quantiles
FARTHEST = 3.0  # logarithm of a factor
POINTS_OF_TWO, POINTS = 61, 21  # on a line, of two classes and of each of more
MOST_PRODUCTS = 2e8  # of points, resamples, rows and classes
BATCH = 16  # points at a time


def class_costs_interval(
    search: CostSearch,
    engine: DecisionEngine,
    fitness: Fitness,
    result: SearchResult,
    row_ids: AnyArray,
    by_class: FloatArray,
    rng: np.random.Generator,
) -> FloatArray | None:
    """Return 95 % bootstrap intervals (k, 2) of learned costs by class.

    Validation rows are drawn with repetition, those of one group together. For every class,
    the best factor of its costs on each sample counts, all other costs as they are. No model
    is fitted again, and probabilities stay as they are. None where the fitness is no metric of
    the confusion matrix, and where this would take long.

    Parameters
    ----------
    search : CostSearch
    engine : DecisionEngine
        Of the validation rows.
    fitness : Fitness
        By which the costs were learned.
    result : SearchResult
    row_ids : array of shape (n,)
        Hashes or groups of the rows: those of the same draw share one.
    by_class : array of shape (k,)
        The learned costs, whose mean is the unit of the intervals.
    rng : numpy.random.Generator
    """
    if not isinstance(fitness, ConfusionFitness):
        return None
    n, k = engine.P.shape
    n_points = POINTS_OF_TWO if k == 2 else POINTS
    lines = [1] if k == 2 else list(range(k))  # of two classes only the ratio matters
    if len(lines) * n_points * RESAMPLES * n * k > MOST_PRODUCTS:
        return None
    # Factors of the costs of a class, dense around 1.
    t = np.linspace(-1.0, 1.0, n_points)
    factors = np.exp(FARTHEST * t * np.abs(t))

    # Samples: how often every row is drawn.
    _, ids = np.unique(row_ids, return_inverse=True)
    n_ids = int(ids.max()) + 1
    drawn = rng.multinomial(n_ids, np.full(n_ids, 1.0 / n_ids), size=RESAMPLES)[:, ids]
    weight = drawn if fitness.weight is None else drawn * fitness.weight

    ends = np.empty((k, 2))
    for c in lines:
        points = _line(search, result.point, c, factors)
        values = np.empty((len(points), RESAMPLES))
        for start in range(0, len(points), BATCH):
            part = slice(start, start + BATCH)
            Z = engine.scores(search.encoding.decode(points[part]))
            values[part] = _resampled(fitness, Z, weight.astype(np.float64))
        if search.shrinkage is not None:
            values -= search.shrinkage(search.encoding.entries(points))[:, np.newaxis]
        costs = engine.matrices(search.encoding.decode(points)).sum(axis=2)
        shares = costs[:, c] / costs.sum(axis=1)  # of the costs of all classes
        ends[c] = np.quantile(shares[values.argmax(axis=0)], INTERVAL) * float(by_class.sum())
    if k == 2:
        ends[0] = float(by_class.sum()) - ends[1, ::-1]
    return ends


def _line(search: CostSearch, point: FloatArray, c: int, factors: FloatArray) -> FloatArray:
    """Return the points (P, D) at which mistakes on class ``c`` cost so many times as much.

    Those that are not allowed are left out; the learned costs are the first.
    """
    learned = search.encoding.entries(point[np.newaxis])[0]
    mine = np.isin(np.arange(len(learned)), search.encoding.level.entries_of(c, None))
    tried = (search.allowed(np.where(mine, learned * one, learned)) for one in factors.tolist())
    found = [search.encoding.encode(one) for one in tried if one is not None]
    return np.stack([point, *found])


def _resampled(fitness: ConfusionFitness, Z: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the fitness (P, B) of scores (P, n, k) for weights (B, n) of the rows.

    The widths of smoothed decisions are those of all rows, so that decisions are made once.
    """
    (P, _, k), y = Z.shape, fitness.y
    found = np.zeros((P, len(weight)))
    kinds: list[tuple[float, Any]] = [(fitness.smoothing, None), (1.0 - fitness.smoothing, None)]
    if fitness.smoothing > 0:
        kinds[0] = (fitness.smoothing, smoothed_decisions(Z, y, fitness.weight))
    if fitness.smoothing < 1:
        kinds[1] = (1.0 - fitness.smoothing, np.eye(k)[decided_classes(Z)])
    for share, decisions in kinds:
        if decisions is None:
            continue
        counts = np.zeros((P, len(weight), k, k))
        for c in range(k):
            rows = y == c
            counts[:, :, c] = weight[:, rows] @ decisions[:, rows]
        found += share * fitness.metric(counts.reshape(-1, k, k)).reshape(P, -1)
    return np.where(np.isfinite(found), found, -np.inf)
