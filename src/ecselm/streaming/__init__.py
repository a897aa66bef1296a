"""Learn from tables that do not fit in memory, block by block."""

from ecselm.streaming.blocks import Blocks, open_blocks
from ecselm.streaming.fitting import fit_stream, refit_stream
from ecselm.streaming.passes import StreamProgress

__all__ = ["Blocks", "StreamProgress", "fit_stream", "open_blocks", "refit_stream"]
