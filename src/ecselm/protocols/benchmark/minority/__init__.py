"""When learning costs starts to pay: ECSELM over the number of minority cases."""

from ecselm.protocols.benchmark.minority.report import BenchedMinority
from ecselm.protocols.benchmark.minority.run import bench_minority

__all__ = ["BenchedMinority", "bench_minority"]
