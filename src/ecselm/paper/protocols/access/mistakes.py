"""The three mistakes at a door, what they cost, and what their order alone comes to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ecselm._typing import AnyArray, FloatArray

STRANGER = "stranger"
UNSEEN = "unseen stranger"  # the truth of test pictures alone; the answer to it is STRANGER
N_MEMBERS = 10
MEMBERS = tuple(f"member {n:02d}" for n in range(1, N_MEMBERS + 1))
MOST = 100.0  # how many times the cheapest mistake a dear one is thought to cost at most
N_DRAWS = 10_000


@dataclass(frozen=True, slots=True)
class MistakeCosts:
    """What a stranger let in, a member rejected and a member taken for another cost.

    It is a rule for costs, which gives a matrix for whatever classes a fold has.

    Examples
    --------
    >>> costs = MistakeCosts(10.0, 3.0, 1.0)
    >>> print(costs)
    10:3:1
    >>> costs(np.array(["member 01", "member 02", "stranger"]))
    array([[ 0.,  1.,  3.],
           [ 1.,  0.,  3.],
           [10., 10.,  0.]])
    """

    let_in: float
    rejected: float
    confused: float = 1.0

    def __post_init__(self) -> None:
        if not self.let_in > self.rejected > self.confused > 0:
            raise ValueError(f"let_in > rejected > confused > 0 must hold, got {self}")

    def __str__(self) -> str:
        return f"{self.let_in:.3g}:{self.rejected:.3g}:{self.confused:.3g}"

    def __call__(self, classes: AnyArray) -> FloatArray:
        """Return the cost (k, k) of every mistake; rows are the truth."""
        strange = np.asarray(classes) == STRANGER
        cost = np.full((len(strange), len(strange)), self.confused)
        cost[:, strange] = self.rejected
        cost[strange] = self.let_in
        np.fill_diagonal(cost, 0.0)
        return cost


def drawn_in_order(n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Draw costs (n, 3) that obey the order, the dearest first.

    The cheapest mistake is the unit. The logarithms of the two others are uniform between
    those of 1 and 100, and sorted.

    Examples
    --------
    >>> costs = drawn_in_order(4, np.random.default_rng(0))
    >>> bool((costs[:, 0] > costs[:, 1]).all() and (costs[:, 1] > costs[:, 2]).all())
    True
    """
    dearer = np.sort(MOST ** rng.random((n_draws, 2)), axis=1)[:, ::-1]
    return np.column_stack([dearer, np.ones(n_draws)])


def order_alone(n_draws: int = N_DRAWS, seed: int = 0) -> MistakeCosts:
    """Return the costs that stand for all costs in the order known.

    What is to be small, if no more is known, is the mean cost averaged over the draws. The
    mean cost is linear in the costs, so that this average is the mean cost by one matrix,
    the mean of the draws: an order and a spread are a guess, and no less.

    Examples
    --------
    >>> print(order_alone())
    34.3:8.82:1
    """
    return MistakeCosts(*drawn_in_order(n_draws, np.random.default_rng(seed)).mean(axis=0).tolist())


def known_order() -> list[tuple[str, str]]:
    """Return the order by class, as ``cost_order`` takes it: pairs, the dearer first.

    A mistake about a stranger is dearer than one about any member. Which of the mistakes about
    a member is the worse one, costs by class cannot say.

    Examples
    --------
    >>> known_order()[0]
    ('stranger', 'member 01')
    """
    return [(STRANGER, member) for member in MEMBERS]


GUESS = MistakeCosts(4.0, 2.0)
TRUTHS = (
    MistakeCosts(2.0, 1.5),
    MistakeCosts(5.0, 2.0),
    MistakeCosts(10.0, 3.0),
    MistakeCosts(20.0, 5.0),
    MistakeCosts(50.0, 5.0),
    MistakeCosts(100.0, 10.0),
)
