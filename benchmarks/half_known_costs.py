"""Decisions by costs that are partly known over plain decisions of least cost.

``python -m benchmarks.half_known_costs [--rows N] [--rounds R]``, by default a million rows of
probabilities. Answers, whether they are settled, and their regret are timed together; possible
answers alone, in units of the same baseline.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from benchmarks.tables import comparison_rows, table
from benchmarks.timing import Comparison, blas_threads, interleaved
from ecselm.costs import CostConstraints
from ecselm.costs.policy import DecisionPolicy

TWO_LIMIT, FIVE_LIMIT = 3.0, 30.0
POSSIBLE_SHARE = 20  # possible answers of five classes are timed on one row of so many
BASELINE = "(P @ M).argmin(axis=1)"
TWO = ["ill->well = 3..20"]
FIVE = [
    "a->b = 3..20",
    "a->c = 2..9 * b->a",
    "b->a = 1..4",
    "b->c > b->a",
    "c->a > c->b",
    "c->b = 1..3",
    "d->a > d->b > d->c",
    "d->c = 1..2",
    "d->e = 2..6 * d->c",
    "e->a = 4..40",
    "e->b >= 2 * e->c",
    "e->c = 1..5",
]


def compare(n_rows: int, rounds: int) -> list[Comparison]:
    """Return all comparisons, each on one BLAS thread."""
    with blas_threads(1):
        return [
            *_of("2 classes, an interval", TWO, ["ill", "well"], n_rows, rounds, TWO_LIMIT, 1),
            *_of(
                "5 classes, 12 constraints",
                FIVE,
                list("abcde"),
                n_rows,
                rounds,
                FIVE_LIMIT,
                POSSIBLE_SHARE,
            ),
        ]


def _of(
    name: str,
    sentences: list[str],
    classes: list[str],
    n_rows: int,
    rounds: int,
    limit: float,
    share: int,
) -> list[Comparison]:
    k = len(classes)
    P = np.random.default_rng(0).dirichlet(np.ones(k), n_rows)
    region = CostConstraints.from_sentences(sentences, classes).region
    policy = DecisionPolicy.of_costs(region, np.full(k, 1.0 / k))
    M, some = policy.matrix, P[::share]

    def decided() -> None:
        answers = policy.answers(P)
        policy.settled(P, answers)
        policy.regret(P, answers)

    plain = {BASELINE: lambda: (P @ M).argmin(axis=1)}
    ratio = interleaved(decided, plain, rounds)[BASELINE]
    plain = {BASELINE: lambda: (some @ M).argmin(axis=1)}
    possible = interleaved(lambda: policy.possible_answers(some), plain, rounds)[BASELINE]
    return [
        Comparison(f"{name}: answers, settled, regret", BASELINE, ratio, limit),
        Comparison(f"{name}: possible answers, {len(some)} rows", BASELINE, possible),
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args(arguments)
    found = compare(options.rows, options.rounds)
    print(render(found))


def render(comparisons: list[Comparison]) -> str:
    """Return the table of ratios."""
    header = ["decisions", "baseline", "ratio (quartiles)", "limit", "met"]
    return table(header, comparison_rows(comparisons))


if __name__ == "__main__":
    main()
