"""All checks, and the table of several implementations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from ecselm.paper.conformance.implementation import Implementation
from ecselm.paper.conformance.result import FAILED, Check, Result
from ecselm.paper.conformance.searches import SEARCH_CHECKS
from ecselm.paper.conformance.solutions import SOLUTION_CHECKS

if TYPE_CHECKING:
    import pandas as pd

CHECKS: Mapping[str, Check] = MappingProxyType(
    {one.name: one for one in (*SOLUTION_CHECKS, *SEARCH_CHECKS)}
)


def check(implementation: Implementation, names: Iterable[str] | None = None) -> list[Result]:
    """Run the checks of an implementation.

    Parameters
    ----------
    implementation : Implementation
    names : iterable of str, default=None
        Names of ``CHECKS`` to run; None runs all.

    Returns
    -------
    list of Result
        In the order of the names.

    Examples
    --------
    >>> from ecselm.paper.conformance import check, ecselm_implementation
    >>> for result in check(ecselm_implementation(), ["weights W1", "weights W2"]):
    ...     print(result.check.equations, result.outcome)
    (9) passed
    (10) passed
    """
    return [one.run(implementation) for one in _chosen(names)]


def conformance_table(
    implementations: Iterable[Implementation], names: Iterable[str] | None = None
) -> pd.DataFrame:
    """Return what every implementation passes, one row per check.

    Parameters
    ----------
    implementations : iterable of Implementation
    names : iterable of str, default=None
        Names of ``CHECKS``; None takes all.

    Returns
    -------
    DataFrame
        The index is the name of the check; columns are ``equations`` and one per
        implementation, with the outcome and, where it failed, the deviation or the error.

    Examples
    --------
    >>> from ecselm.paper.conformance import conformance_table, ecselm_implementation
    >>> table = conformance_table([ecselm_implementation()], ["interpolation"])
    >>> table.loc["interpolation", "ecselm"]
    'passed'
    """
    import pandas as pd  # noqa: PLC0415  imported on first use

    chosen = _chosen(names)
    table = pd.DataFrame(
        {"equations": [one.equations for one in chosen]},
        index=pd.Index([one.name for one in chosen], name="check"),
    )
    for implementation in implementations:
        table[implementation.name] = [_cell(one.run(implementation)) for one in chosen]
    return table


def _chosen(names: Iterable[str] | None) -> list[Check]:
    chosen = list(CHECKS if names is None else names)
    unknown = [name for name in chosen if name not in CHECKS]
    if unknown:
        raise ValueError(f"names must be in CHECKS, got {unknown[0]!r}")
    return [CHECKS[name] for name in chosen]


def _cell(result: Result) -> str:
    if result.outcome != FAILED:
        return result.outcome
    found = result.note if result.deviation is None else f"{result.deviation:.1g}"
    return f"{FAILED} ({found})"
