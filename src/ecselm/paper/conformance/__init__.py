"""Checks of any implementation of the ELM family against the paper's equations, as printed.

An :class:`Implementation` states by functions what a library offers. :func:`check` compares it
with every equation that these functions reach: by the formula, solved literally, where the
hidden layer can be seen, and by identities that follow from the formula where it cannot.
"""

from ecselm.paper.conformance.implementation import (
    Fitted,
    Implementation,
    Search,
    from_estimators,
)
from ecselm.paper.conformance.ours import ecselm_implementation
from ecselm.paper.conformance.result import Check, Result
from ecselm.paper.conformance.suite import CHECKS, check, conformance_table

__all__ = [
    "CHECKS",
    "Check",
    "Fitted",
    "Implementation",
    "Result",
    "Search",
    "check",
    "conformance_table",
    "ecselm_implementation",
    "from_estimators",
]
