"""Minimise a function on a box by ask and tell (paper, Algorithm 2, equations 23 to 34)."""

from ecselm.search.backtracking import BacktrackingSearch
from ecselm.search.cma import CovarianceAdaptation
from ecselm.search.differential import DifferentialEvolution
from ecselm.search.interrupts import interruptible
from ecselm.search.run import SearchHistory, minimize, minimize_bsa
from ecselm.search.sampling import RandomSearch, SobolSearch
from ecselm.search.space import AskTell, Box

__all__ = [
    "AskTell",
    "BacktrackingSearch",
    "Box",
    "CovarianceAdaptation",
    "DifferentialEvolution",
    "RandomSearch",
    "SearchHistory",
    "SobolSearch",
    "interruptible",
    "minimize",
    "minimize_bsa",
]
