"""How much a run may cost."""

from __future__ import annotations

from dataclasses import dataclass

LEAST = {"repeats": 1, "most_rows": 60, "folds": 2, "population": 6, "components": 1}


@dataclass(frozen=True, slots=True)
class Budget:
    """How much a run may cost.

    Parameters
    ----------
    repeats : int, default=10
        Random splits, where the protocol draws them.
    most_rows : int or None, default=None
        About how many rows of a case are used; None is all that the paper uses.
    tuned : bool, default=True
        Whether main parameters are chosen within the training rows.
    folds : int, default=3
        Of that choice.
    population : int or None, default=None
        Size and epochs of evolutionary searches; None leaves them to the methods.
    components : int or None, default=None
        Principal components behind the five similarities of pairs; None leaves them, too.

    Examples
    --------
    >>> Budget(repeats=0)
    Traceback (most recent call last):
        ...
    ValueError: repeats must be at least 1, got 0
    """

    repeats: int = 10
    most_rows: int | None = None
    tuned: bool = True
    folds: int = 3
    population: int | None = None
    components: int | None = None

    def __post_init__(self) -> None:
        for name, least in LEAST.items():
            value = getattr(self, name)
            if value is not None and value < least:
                raise ValueError(f"{name} must be at least {least}, got {value}")


FULL = Budget()
QUICK = Budget(repeats=2, most_rows=180, tuned=False, population=6, components=30)
