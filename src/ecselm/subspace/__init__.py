"""Linear subspaces for a nearest neighbour to work in, with and without costs.

The formulas of the cost-sensitive ones are readings: only the abstracts of Lu and Tan
(CVPR 2010; IEEE TIFS 8(3), 2013) could be had. Each class says which reading it takes.
"""

from ecselm.subspace.cspca import CSPCA
from ecselm.subspace.discriminant import CSLDA
from ecselm.subspace.importance import gallery_impostor_cost
from ecselm.subspace.locality import CSLPP, LPP
from ecselm.subspace.margin import CSMFA, MFA

__all__ = ["CSLDA", "CSLPP", "CSMFA", "CSPCA", "LPP", "MFA", "gallery_impostor_cost"]
