"""Data sets: readers for public ones and the paper's own, and synthetic stand-ins.

None is part of the package. Loaders read from a folder, the argument ``folder`` or the
environment variable ``ECSELM_DATA``, write nothing to disk, and say where to get what is
missing. What scikit-learn brings along (``load_bundled``) and stand-ins need no folder.
"""

from ecselm.datasets.ar import load_ar
from ecselm.datasets.bank import load_bank_marketing
from ecselm.datasets.beauty import beauty_levels
from ecselm.datasets.bundled import list_bundled, load_bundled
from ecselm.datasets.dataset import Dataset
from ecselm.datasets.enose import load_enose
from ecselm.datasets.gas import load_gas
from ecselm.datasets.german import load_german
from ecselm.datasets.keel import list_keel, load_keel
from ecselm.datasets.lfw import load_lfw_metrics, load_lfw_pairs
from ecselm.datasets.lfw_images import lfw_pairs_from_images
from ecselm.datasets.lfw_paper import load_lfw
from ecselm.datasets.m2b import load_m2b
from ecselm.datasets.olivetti import load_olivetti
from ecselm.datasets.ordinal import load_ordinal
from ecselm.datasets.pairs import PairSet
from ecselm.datasets.scut import load_scut
from ecselm.datasets.synthetic import make_ar_like, make_enose_like, make_lfw_like, make_m2b_like

__all__ = [
    "Dataset",
    "PairSet",
    "beauty_levels",
    "lfw_pairs_from_images",
    "list_bundled",
    "list_keel",
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
    "make_ar_like",
    "make_enose_like",
    "make_lfw_like",
    "make_m2b_like",
]
