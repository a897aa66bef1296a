"""Learn from tables that do not fit in memory, block by block."""

from ecselm.streaming.blocks import BLOCK_ROWS, Blocks, StreamProgress, can_open_blocks, open_blocks
from ecselm.streaming.fit import SAMPLE_ROWS, fit_stream, refit_stream
from ecselm.streaming.study import new_blocks, study_stream

__all__ = [
    "BLOCK_ROWS",
    "SAMPLE_ROWS",
    "Blocks",
    "StreamProgress",
    "can_open_blocks",
    "fit_stream",
    "new_blocks",
    "open_blocks",
    "refit_stream",
    "study_stream",
]
