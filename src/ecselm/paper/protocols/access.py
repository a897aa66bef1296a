"""Access control by face: members and strangers under costs that may be known or not.

Ten members may enter; everyone else is a stranger, and half of the strangers are absent from
training. A stranger let in is worse than a member rejected, and that is worse than a member
taken for another. Methods get no costs, their order alone, a guess, or the true costs. All
are tuned in folds that keep the pictures of a stranger together, because future strangers are
new persons.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ecselm._typing import AnyArray, FloatArray, IntArray
from ecselm.metrics import mean_cost, savings_score
from ecselm.paper.datasets import Dataset, load_olivetti, make_ar_like
from ecselm.paper.datasets.dataset import Folds
from ecselm.paper.jobs import Measurement
from ecselm.paper.protocols.faces import eigenfaces
from ecselm.paper.protocols.protocol import (
    Budget,
    Case,
    Protocol,
    first_available,
    repeat_generators,
)

STRANGER = "stranger"
UNSEEN = "unseen stranger"  # true label of test pictures alone; the right prediction is STRANGER
N_MEMBERS = 10
MEMBERS = tuple(f"member {n:02d}" for n in range(1, N_MEMBERS + 1))
N_KNOWN = 15  # strangers with training pictures
N_PEOPLE, N_PICTURES = 40, 10  # as in Olivetti
MAX_RATIO = 100.0  # of the most to the least expensive error
N_DRAWS = 10_000


@dataclass(frozen=True, slots=True)
class ErrorCosts:
    """Costs of a stranger let in, a member rejected and a member taken for another.

    A rule for costs, which returns a matrix for the classes of any fold.

    Examples
    --------
    >>> costs = ErrorCosts(10.0, 3.0, 1.0)
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
        """Return the cost matrix (k, k); rows are true classes."""
        strange = np.asarray(classes) == STRANGER
        cost = np.full((len(strange), len(strange)), self.confused)
        cost[:, strange] = self.rejected
        cost[strange] = self.let_in
        np.fill_diagonal(cost, 0.0)
        return cost


def draw_ordered_costs(n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Draw costs (n, 3) in their known order, the highest first.

    The cheapest error is the unit. The logarithms of the two others are uniform between
    those of 1 and 100, and sorted.

    Examples
    --------
    >>> costs = draw_ordered_costs(4, np.random.default_rng(0))
    >>> bool((costs[:, 0] > costs[:, 1]).all() and (costs[:, 1] > costs[:, 2]).all())
    True
    """
    higher = np.sort(MAX_RATIO ** rng.random((n_draws, 2)), axis=1)[:, ::-1]
    return np.column_stack([higher, np.ones(n_draws)])


def mean_ordered_costs(n_draws: int = N_DRAWS, seed: int = 0) -> ErrorCosts:
    """Return the mean of random costs in their known order.

    With the order alone, the objective is the mean cost averaged over the draws. The mean cost
    is linear in the costs, so that this average is the mean cost by one matrix, the mean of
    the draws: an order and a distribution are a guess.

    Examples
    --------
    >>> print(mean_ordered_costs())
    34.3:8.82:1
    """
    draws = draw_ordered_costs(n_draws, np.random.default_rng(seed))
    return ErrorCosts(*draws.mean(axis=0).tolist())


def known_order() -> list[tuple[str, str]]:
    """Return the order by class, as ``cost_order`` takes it: pairs, the more costly first.

    An error about a stranger costs more than one about any member. Costs by class cannot
    express which of the errors about a member is the worse one.

    Examples
    --------
    >>> known_order()[0]
    ('stranger', 'member 01')
    """
    return [(STRANGER, member) for member in MEMBERS]


GUESS = ErrorCosts(4.0, 2.0)
TRUE_COSTS = (
    ErrorCosts(2.0, 1.5),
    ErrorCosts(5.0, 2.0),
    ErrorCosts(10.0, 3.0),
    ErrorCosts(20.0, 5.0),
    ErrorCosts(50.0, 5.0),
    ErrorCosts(100.0, 10.0),
)


@dataclass(frozen=True, slots=True)
class People:
    """Members and strangers of one repeat, by the labels of the data."""

    members: IntArray
    known: IntArray
    unseen: IntArray

    @classmethod
    def draw(cls, persons: IntArray, rng: np.random.Generator) -> People:
        """Draw 10 members and 15 known strangers; all others are absent from training."""
        order = rng.permutation(persons)
        groups = np.split(order, [N_MEMBERS, N_MEMBERS + N_KNOWN])
        return cls(*(np.sort(group) for group in groups))

    @classmethod
    def of_split(cls, data: Dataset, seed: int, split: int) -> People:
        """Draw those of a split."""
        return cls.draw(np.unique(data.y), repeat_generators(split + 1, seed)[split])

    def labels(self, persons: AnyArray) -> AnyArray:
        """Return the labels of pictures of these persons (N,)."""
        names = dict.fromkeys(self.known.tolist(), STRANGER)
        names |= dict.fromkeys(self.unseen.tolist(), UNSEEN)
        names |= dict(zip(self.members.tolist(), MEMBERS, strict=True))
        return np.array([names[person] for person in persons.tolist()])


def access_cases() -> tuple[Case, ...]:
    """Return Olivetti, or as many pictures of the stand-in for AR."""
    found = first_available("Olivetti faces", None, load_olivetti, forty_people)
    return () if found is None else (found,)


def forty_people() -> Dataset:
    """Return ten synthetic pictures of each of forty persons.

    Examples
    --------
    >>> forty_people().X.shape
    (400, 300)
    """
    data = make_ar_like(random_state=0)
    first = [np.flatnonzero(data.y == person)[:N_PICTURES] for person in range(N_PEOPLE)]
    rows = np.concatenate(first)
    return replace(data, X=data.X[rows], y=data.y[rows], classes=np.arange(N_PEOPLE), folds=None)


def access_splits(data: Dataset, budget: Budget, seed: int) -> Folds:
    """Return ``repeats`` splits: half of the pictures of members and known strangers train.

    All others test. Every budget takes all 400 pictures: fewer would be another task.

    Examples
    --------
    >>> train, test = access_splits(forty_people(), Budget(repeats=1), 0)[0]
    >>> len(train), len(test)
    (125, 275)
    """
    splits = []
    for rng in repeat_generators(budget.repeats, seed):
        people = People.draw(np.unique(data.y), rng)
        train = []
        for person in (*people.members, *people.known):
            own = rng.permutation(np.flatnonzero(data.y == person))
            train.append(own[: len(own) // 2])
        chosen = np.sort(np.concatenate(train))
        splits.append((chosen, np.setdiff1d(np.arange(len(data.y)), chosen)))
    return tuple(splits)


def relabel(data: Dataset, seed: int, split: int) -> Dataset:
    """Return the data with the labels of members and strangers of a split.

    Examples
    --------
    >>> data = relabel(forty_people(), 0, 0)
    >>> [int((data.y == label).sum()) for label in ("member 01", "stranger", "unseen stranger")]
    [10, 150, 150]
    """
    labels = People.of_split(data, seed, split).labels(data.y)
    return replace(data, y=labels, classes=np.unique(labels))


def person_groups(data: Dataset, seed: int, split: int) -> IntArray:
    """Return the groups (N,) of pictures: one for every stranger, one for every member picture.

    A member is known by pictures; a stranger at the door is mostly a new person. All pictures
    of a stranger have the number of the person, pictures of members a negative one each.

    Examples
    --------
    >>> data = forty_people()
    >>> groups = person_groups(data, 0, 0)
    >>> len(np.unique(groups[groups >= 0])), len(np.unique(groups[groups < 0]))
    (30, 100)
    """
    member = np.isin(data.y, People.of_split(data, seed, split).members)
    return np.where(member, -1 - np.arange(len(data.y)), data.y)


@dataclass(frozen=True, slots=True)
class AccessEvaluation:
    """Evaluate predictions by true costs that the method may or may not know.

    ``mean_cost`` is the cost per picture; ``savings`` the share saved of the cost of the best
    constant prediction, which is to reject everyone. ``let_in`` is the share of strangers let
    in, ``rejected`` and ``confused`` are shares of members.

    Parameters
    ----------
    true_costs : tuple of ErrorCosts
        Costs to evaluate by.
    known : bool, default=False
        Whether the method knows the only one, which is then named beside its error rates.
    """

    true_costs: tuple[ErrorCosts, ...]
    known: bool = False

    def __call__(
        self, model: Any, X: FloatArray, y: AnyArray, data: Dataset
    ) -> tuple[Measurement, ...]:
        """Return mean cost and savings by all costs, and the error rates."""
        y_pred = model.predict(X)
        y_true = np.where(y == UNSEEN, STRANGER, y)
        by_cost = [
            Measurement(name, score(y_true, y_pred, cost=cost), str(cost))
            for name, score in (("mean_cost", mean_cost), ("savings", savings_score))
            for cost in self.true_costs
        ]
        member, rejected = ~np.isin(y, (STRANGER, UNSEEN)), y_pred == STRANGER
        confused = ~rejected & (y_pred != y)
        costs = known_costs(self.true_costs[0]) if self.known else ""
        rates = [
            Measurement(
                "let_in", float((~rejected)[who].mean()), ", ".join(filter(None, (at, costs)))
            )
            for at, who in (("unseen strangers", y == UNSEEN), ("known strangers", y == STRANGER))
        ]
        rates.append(Measurement("rejected", float(rejected[member].mean()), costs))
        rates.append(Measurement("confused", float(confused[member].mean()), costs))
        return (*by_cost, *rates)


def known_costs(cost: ErrorCosts) -> str:
    """Return the name of known costs in the results.

    Examples
    --------
    >>> known_costs(GUESS)
    'known costs 4:2:1'
    """
    return f"known costs {cost}"


def _protocol(
    name: str, evaluate: AccessEvaluation, cost: ErrorCosts | None = None, **params: Any
) -> Protocol:
    """Return access control where methods get these costs, or none."""
    return Protocol(
        name,
        "classification",
        access_cases,
        access_splits,
        evaluate,
        eigenfaces,
        params={"scale": None, **params},
        scoring="accuracy" if cost is None else "mean_cost",
        cost=cost,
        relabel=relabel,
        groups=person_groups,
    )


ACCESS = _protocol("access", AccessEvaluation(TRUE_COSTS), n_hidden=300)
ACCESS_BY_ORDER = _protocol(
    "access by order", AccessEvaluation(TRUE_COSTS), mean_ordered_costs(), cost_order=known_order()
)
ACCESS_BY_GUESS = _protocol(f"access by {GUESS}", AccessEvaluation(TRUE_COSTS), GUESS)
ACCESS_BY_TRUTH = tuple(
    _protocol(
        f"access by {cost}",
        AccessEvaluation((cost,), known=True),
        cost,
        cost_order=known_order(),
    )
    for cost in TRUE_COSTS
)
