"""The paper's LFW: pairs with the descriptors of another paper.

The set may not be passed on, and its owners hand it out in forms of their own. So the
loader documents one file that is easily written, checks that it has the paper's sizes,
and says what does not fit.
"""

from __future__ import annotations

import os
from typing import Literal

from ecselm.paper.datasets.dataset import PairSet, Source, find_file
from ecselm.paper.datasets.lfw import read_pairs

SOURCE = Source(
    "lfw",
    "Labeled Faces in the Wild, Huang et al. 2007, view 2, with the descriptors of Sub-SML, "
    "Cao et al. 2013",
    "the authors of Sub-SML; the documentation of load_lfw says how to write the file",
    "research on face recognition",
)


def load_lfw(
    descriptor: Literal["lbp", "sift"] = "lbp", folder: str | os.PathLike[str] | None = None
) -> PairSet:
    """Read LFW view 2 with the paper's descriptors (tables VIII and IX).

    The files are ``lfw/lfw_lbp.npz`` and ``lfw/lfw_sift.npz`` with the arrays ``X``
    (n, 300), a row per picture; ``eigenvalues`` (300,), the variances of its columns, or
    ones; ``pairs`` (6000, 2), positions of rows; ``same`` (6000,), 1 or 0; ``fold`` (6000,),
    0 to 9, each with 300 pairs of either kind; and if wanted ``image`` (n,), names.

    Parameters
    ----------
    descriptor : {"lbp", "sift"}, default="lbp"
    folder : path, default=None
        The folder of all data, by default what ``ECSELM_DATA`` names.

    Returns
    -------
    PairSet

    Examples
    --------
    >>> load_lfw("sift").dataset().X.shape  # doctest: +SKIP
    (6000, 2, 300)
    """
    if descriptor not in {"lbp", "sift"}:
        raise ValueError(f"descriptor must be 'lbp' or 'sift', got {descriptor!r}")
    path = find_file(SOURCE, f"lfw_{descriptor}.npz", folder)
    pairs = read_pairs(path, f"LFW, {descriptor.upper()}", SOURCE.sentence)
    if pairs.descriptors.shape[1] != 300:
        raise ValueError(
            f"{path.name}, array X: must have 300 columns, got {len(pairs.eigenvalues)}"
        )
    return pairs
