"""Data sets: readers for public ones and the paper's own, and synthetic stand-ins.

None is part of the package. Loaders read from a folder, the argument ``folder`` or the
environment variable ``ECSELM_DATA``, write nothing to disk, and say where to get what is
missing. What scikit-learn brings along (``load_bundled``) and stand-ins need no folder.
"""

from ecselm.paper.datasets.beauty import beauty_levels, load_m2b, load_scut
from ecselm.paper.datasets.bundled import list_bundled, load_bundled
from ecselm.paper.datasets.dataset import Dataset, PairSet
from ecselm.paper.datasets.faces import load_ar, load_olivetti
from ecselm.paper.datasets.gases import load_enose, load_gas
from ecselm.paper.datasets.keel import list_keel, load_keel
from ecselm.paper.datasets.lfw import (
    lfw_pairs_from_images,
    load_lfw,
    load_lfw_metrics,
    load_lfw_pairs,
)
from ecselm.paper.datasets.synthetic import (
    make_ar_like,
    make_enose_like,
    make_lfw_like,
    make_m2b_like,
)
from ecselm.paper.datasets.uci import load_bank_marketing, load_german, load_ordinal
from ecselm.paper.datasets.uci121 import list_uci121, load_uci121

__all__ = [
    "Dataset",
    "PairSet",
    "beauty_levels",
    "lfw_pairs_from_images",
    "list_bundled",
    "list_keel",
    "list_uci121",
    "load_ar",
    "load_bank_marketing",
    "load_bundled",
    "load_enose",
    "load_gas",
    "load_german",
    "load_keel",
    "load_lfw",
    "load_lfw_metrics",
    "load_lfw_pairs",
    "load_m2b",
    "load_olivetti",
    "load_ordinal",
    "load_scut",
    "load_uci121",
    "make_ar_like",
    "make_enose_like",
    "make_lfw_like",
    "make_m2b_like",
]
