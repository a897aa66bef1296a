"""Which rows a model is fitted on, and which are kept to judge it by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ecselm._typing import AnyArray, BoolArray, IntArray
from ecselm.elm.groups import Groups, read_groups
from ecselm.objectives import holdout
from ecselm.study.wording import listed


@dataclass(frozen=True, slots=True)
class Dealt:
    """Positions of the rows on both sides, and what is to be told of them."""

    train: IntArray
    held_out: IntArray
    notes: tuple[str, ...] = ()


def hold_out(
    X: Any,
    codes: IntArray,
    names: AnyArray,
    *,
    share: float,
    rng: np.random.Generator,
    groups: Any = None,
) -> Dealt:
    """Hold out a share of the rows of every class.

    Rows that are equal, or of one group, stay together; a class that cannot give a row
    without losing its last one stays with the training rows, which a note tells.

    Parameters
    ----------
    X : array, sparse matrix or dataframe of shape (N, n)
    codes : array of shape (N,)
        Positions in ``names``; all 0 where numbers are predicted.
    names : array of shape (k,)
        The classes.
    share : float
        Between 0 and 1.
    rng : numpy.random.Generator
    groups : array of shape (N,), default=None
        Labels of what rows belong to, such as patients.

    Examples
    --------
    >>> X, codes = np.arange(9.0)[:, np.newaxis], np.repeat([0, 1], [8, 1])
    >>> dealt = hold_out(X, codes, np.array(["well", "ill"]), share=0.25,
    ...                  rng=np.random.default_rng(0))
    >>> len(dealt.train), len(dealt.held_out), dealt.notes
    (7, 2, ('No row of ill was held out: every class keeps rows to train on.',))
    """
    if not 0 < share < 1:
        raise ValueError(f"held_out must lie between 0 and 1, got {share}")
    together = read_groups(groups, len(codes), None)
    inputs = X if sparse.issparse(X) else np.asarray(X)
    (split,) = holdout(inputs, codes, share, rng, None if together is None else together.codes)
    held = np.zeros(len(codes), dtype=bool)
    held[split.test] = True
    held &= ~_last_of_class(held, codes, together)
    if not held.any():
        raise ValueError(
            f"held_out must leave rows to judge by, got {share} of {len(codes)} rows whose "
            "classes or groups cannot be parted"
        )
    notes = _notes(codes[held], names) if len(names) > 1 else ()
    return Dealt(np.flatnonzero(~held), np.flatnonzero(held), notes)


def _last_of_class(held: BoolArray, codes: IntArray, groups: Groups | None) -> BoolArray:
    """Return the rows held out whose class would have none to train on, with their groups.

    That can happen only to classes that share all their groups with rarer ones.
    """
    missing = np.setdiff1d(codes[held], codes[~held])
    rows = held & np.isin(codes, missing)
    return rows if groups is None else np.isin(groups.codes, groups.codes[rows])


def _notes(held: IntArray, names: AnyArray) -> tuple[str, ...]:
    without = [str(names.tolist()[c]) for c in np.setdiff1d(np.arange(len(names)), held)]
    if not without:
        return ()
    return (f"No row of {listed(without)} was held out: every class keeps rows to train on.",)
