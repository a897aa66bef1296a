"""How much a run may cost."""

from __future__ import annotations

from dataclasses import dataclass

LEAST = {
    "repeats": 1,
    "sensitive": 1,
    "most_rows": 60,
    "most_cases": 1,
    "folds": 2,
    "population": 6,
    "components": 1,
}


@dataclass(frozen=True, slots=True)
class Budget:
    """How much a run may cost.

    Parameters
    ----------
    repeats : int, default=10
        Random splits, where the protocol draws them.
    sensitive : int, default=2
        Splits on which figures 11 and 12 try their values.
    most_rows : int or None, default=None
        About how many rows of a case are used; None is all that the paper uses.
    most_cases : int or None, default=None
        How many data sets of an item are used, evenly chosen; None is all there are.
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
    sensitive: int = 2
    most_rows: int | None = None
    most_cases: int | None = None
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
QUICK = Budget(
    repeats=2, sensitive=1, most_rows=180, most_cases=12, tuned=False, population=6, components=30
)
