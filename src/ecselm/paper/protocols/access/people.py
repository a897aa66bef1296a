"""Who comes to the door: members, strangers seen in training, strangers never seen."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ecselm._typing import AnyArray, IntArray
from ecselm.paper.datasets import Dataset, load_olivetti, make_ar_like
from ecselm.paper.datasets.dataset import Folds
from ecselm.paper.protocols.access.mistakes import MEMBERS, N_MEMBERS, STRANGER, UNSEEN
from ecselm.paper.protocols.budget import Budget
from ecselm.paper.protocols.protocol import Case, found_case
from ecselm.paper.protocols.splits import streams

N_KNOWN = 15  # strangers of whom there are pictures to learn from
N_PEOPLE, N_PICTURES = 40, 10  # as Olivetti has them


@dataclass(frozen=True, slots=True)
class People:
    """Who is who in one repeat, by the labels that the data give to persons."""

    members: IntArray
    known: IntArray
    unseen: IntArray

    @classmethod
    def drawn(cls, persons: IntArray, rng: np.random.Generator) -> People:
        """Draw 10 members and 15 known strangers; all others are never seen in training."""
        order = rng.permutation(persons)
        groups = np.split(order, [N_MEMBERS, N_MEMBERS + N_KNOWN])
        return cls(*(np.sort(group) for group in groups))

    def labels(self, persons: AnyArray) -> AnyArray:
        """Return what pictures of these persons (N,) show."""
        names = dict.fromkeys(self.known.tolist(), STRANGER)
        names |= dict.fromkeys(self.unseen.tolist(), UNSEEN)
        names |= dict(zip(self.members.tolist(), MEMBERS, strict=True))
        return np.array([names[person] for person in persons.tolist()])


def cases() -> tuple[Case, ...]:
    """Return Olivetti, or as many pictures of the stand-in for AR."""
    found = found_case("Olivetti faces", None, load_olivetti, forty_people)
    return () if found is None else (found,)


def forty_people() -> Dataset:
    """Return ten pictures of each of forty persons who do not exist.

    Examples
    --------
    >>> forty_people().X.shape
    (400, 300)
    """
    data = make_ar_like(random_state=0)
    first = [np.flatnonzero(data.y == person)[:N_PICTURES] for person in range(N_PEOPLE)]
    rows = np.concatenate(first)
    return replace(data, X=data.X[rows], y=data.y[rows], classes=np.arange(N_PEOPLE), folds=None)


def splits(data: Dataset, budget: Budget, seed: int) -> Folds:
    """Return ``repeats`` galleries: half of the pictures of who is known train, the rest test.

    A short budget takes all 400 pictures: there are few, and fewer would be another task.

    Examples
    --------
    >>> train, test = splits(forty_people(), Budget(repeats=1), 0)[0]
    >>> len(train), len(test)
    (125, 275)
    """
    return tuple(_dealt(data.y, rng) for rng in streams(budget.repeats, seed))


def _dealt(y: IntArray, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    people = People.drawn(np.unique(y), rng)
    train = []
    for person in (*people.members, *people.known):
        own = rng.permutation(np.flatnonzero(y == person))
        train.append(own[: len(own) // 2])
    chosen = np.sort(np.concatenate(train))
    return chosen, np.setdiff1d(np.arange(len(y)), chosen)


def relabel(data: Dataset, seed: int, split: int) -> Dataset:
    """Return the data with members by name and strangers as such, as a split has them.

    Examples
    --------
    >>> data = relabel(forty_people(), 0, 0)
    >>> [int((data.y == label).sum()) for label in ("member 01", "stranger", "unseen stranger")]
    [10, 150, 150]
    """
    labels = _people(data, seed, split).labels(data.y)
    return replace(data, y=labels, classes=np.unique(labels))


def persons(data: Dataset, seed: int, split: int) -> IntArray:
    """Return who is to be judged as a whole: every stranger, and every picture of a member.

    A member is known by pictures; a stranger who comes to the door is mostly a new one.
    So all pictures (N,) of a stranger have one number, that of the person, and pictures of
    members a negative one each.

    Examples
    --------
    >>> data = forty_people()
    >>> groups = persons(data, 0, 0)
    >>> len(np.unique(groups[groups >= 0])), len(np.unique(groups[groups < 0]))
    (30, 100)
    """
    member = np.isin(data.y, _people(data, seed, split).members)
    return np.where(member, -1 - np.arange(len(data.y)), data.y)


def _people(data: Dataset, seed: int, split: int) -> People:
    return People.drawn(np.unique(data.y), streams(split + 1, seed)[split])
