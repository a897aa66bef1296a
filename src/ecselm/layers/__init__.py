"""Hidden layers: from inputs x to the rows of H (paper, eqs. 16-17), and kernels (6)."""

from ecselm.layers.activations import ACTIVATIONS
from ecselm.layers.kernels import (
    KERNELS,
    KernelMap,
    kernel_distances,
    limit_rows,
    resolve_gamma,
)
from ecselm.layers.random import (
    DRAWS,
    HiddenLayer,
    LayerUnion,
    RandomLayer,
    SaturationWarning,
    draw_weights,
)
from ecselm.layers.scaling import SCALES, InputScale, RankScale, ScaleSum, measure_scale

__all__ = [
    "ACTIVATIONS",
    "DRAWS",
    "KERNELS",
    "SCALES",
    "HiddenLayer",
    "InputScale",
    "KernelMap",
    "LayerUnion",
    "RandomLayer",
    "RankScale",
    "SaturationWarning",
    "ScaleSum",
    "draw_weights",
    "kernel_distances",
    "limit_rows",
    "measure_scale",
    "resolve_gamma",
]
