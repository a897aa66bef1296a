"""Linear subspaces for a nearest neighbour to work in, with and without costs.

The formulas of the cost-sensitive ones are readings: only the abstracts of Lu and Tan
(CVPR 2010; IEEE TIFS 8(3), 2013) could be had. Each class says which reading it takes.
"""

from ecselm.paper.subspace.cslda import CSLDA
from ecselm.paper.subspace.cspca import CSPCA
from ecselm.paper.subspace.importance import gallery_impostor_cost
from ecselm.paper.subspace.lpp import CSLPP, LPP
from ecselm.paper.subspace.mfa import CSMFA, MFA

__all__ = ["CSLDA", "CSLPP", "CSMFA", "CSPCA", "LPP", "MFA", "gallery_impostor_cost"]
