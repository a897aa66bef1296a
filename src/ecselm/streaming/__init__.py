"""Learn from tables that do not fit in memory, block by block."""

from ecselm.streaming.blocks import BLOCK_ROWS, Blocks, open_blocks
from ecselm.streaming.fitting import SAMPLE_ROWS, fit_stream, refit_stream
from ecselm.streaming.passes import StreamProgress
from ecselm.streaming.rows import placed
from ecselm.streaming.study import study_stream

__all__ = [
    "BLOCK_ROWS",
    "SAMPLE_ROWS",
    "Blocks",
    "StreamProgress",
    "fit_stream",
    "open_blocks",
    "placed",
    "refit_stream",
    "study_stream",
]
