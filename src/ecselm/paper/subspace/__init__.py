"""Linear subspaces for a nearest neighbour to work in, with and without costs.

The formulas of the cost-sensitive ones are readings: only the abstracts of Lu and Tan
(CVPR 2010; IEEE TIFS 8(3), 2013) could be had. Each class says which reading it takes.
"""

from ecselm.paper.subspace._base import gallery_impostor_cost
from ecselm.paper.subspace.graph import CSLPP, CSMFA, LPP, MFA
from ecselm.paper.subspace.scatter import CSLDA, CSPCA

__all__ = ["CSLDA", "CSLPP", "CSMFA", "CSPCA", "LPP", "MFA", "gallery_impostor_cost"]
