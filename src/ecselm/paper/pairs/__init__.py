"""Metric learning from pairs of vectors (paper, section V.B)."""

from ecselm.paper.pairs.csml import CSML
from ecselm.paper.pairs.dmleig import DMLEig
from ecselm.paper.pairs.itml import ITML
from ecselm.paper.pairs.kissme import KISSME
from ecselm.paper.pairs.ldml import LDML
from ecselm.paper.pairs.lmlml import LMLML
from ecselm.paper.pairs.sild import SILD
from ecselm.paper.pairs.similarities import PairSimilarities
from ecselm.paper.pairs.subsml import SubSML

__all__ = [
    "CSML",
    "ITML",
    "KISSME",
    "LDML",
    "LMLML",
    "SILD",
    "DMLEig",
    "PairSimilarities",
    "SubSML",
]
