"""Learn from pairs which vectors belong together (paper, section V.B)."""

from ecselm.pairs.csml import CSML
from ecselm.pairs.dmleig import DMLEig
from ecselm.pairs.itml import ITML
from ecselm.pairs.kissme import KISSME
from ecselm.pairs.ldml import LDML
from ecselm.pairs.lmlml import LMLML
from ecselm.pairs.sild import SILD
from ecselm.pairs.similarities import PairSimilarities
from ecselm.pairs.subsml import SubSML

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
