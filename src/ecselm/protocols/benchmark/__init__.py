"""ECSELM against what people use today, all tuned alike."""

from ecselm.protocols.benchmark.report import Benched
from ecselm.protocols.benchmark.run import bench

__all__ = ["Benched", "bench"]
