"""Learn from tables that do not fit in memory, block by block."""

from ecselm.streaming.blocks import BLOCK_ROWS, Blocks, can_open_blocks, open_blocks
from ecselm.streaming.fitting import SAMPLE_ROWS, fit_stream, refit_stream
from ecselm.streaming.new_rows import new_blocks
from ecselm.streaming.passes import StreamProgress
from ecselm.streaming.study import study_stream

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
