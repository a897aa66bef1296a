"""When learning costs starts to pay: ECSELM over the number of minority cases."""

from ecselm.paper.bench.minority.report import BenchedMinority
from ecselm.paper.bench.minority.run import bench_minority

__all__ = ["BenchedMinority", "bench_minority"]
