"""Fit estimators to rows that do not fit in memory, block by block.

:mod:`ecselm.streaming` and :mod:`ecselm.dask` are the two sources of blocks.
"""

from ecselm.outofcore.blocks import Blocks, RowBlock
from ecselm.outofcore.fit import (
    MAX_VALIDATION_ROWS,
    fit_blocks,
    fit_search,
    sampled_source,
    search_sampled,
)
from ecselm.outofcore.refit import refit_blocks

__all__ = [
    "MAX_VALIDATION_ROWS",
    "Blocks",
    "RowBlock",
    "fit_blocks",
    "fit_search",
    "refit_blocks",
    "sampled_source",
    "search_sampled",
]
