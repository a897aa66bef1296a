"""Hidden layers: from inputs x to the rows of H (paper, eqs. 16-17), and kernels (6)."""

from ecselm.hidden.activations import ACTIVATIONS
from ecselm.hidden.draws import DRAWS, draw_weights
from ecselm.hidden.kernels import KERNELS, KernelMap, limit_rows, resolve_gamma
from ecselm.hidden.landmarks import LandmarkLayer
from ecselm.hidden.layer import HiddenLayer, RandomLayer, SaturationWarning
from ecselm.hidden.ranks import RankScale
from ecselm.hidden.scaling import SCALES, InputScale, ScaleSum, measure_scale
from ecselm.hidden.union import LayerUnion, WeighedLayer

__all__ = [
    "ACTIVATIONS",
    "DRAWS",
    "KERNELS",
    "SCALES",
    "HiddenLayer",
    "InputScale",
    "KernelMap",
    "LandmarkLayer",
    "LayerUnion",
    "RandomLayer",
    "RankScale",
    "SaturationWarning",
    "ScaleSum",
    "WeighedLayer",
    "draw_weights",
    "limit_rows",
    "measure_scale",
    "resolve_gamma",
]
