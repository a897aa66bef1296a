"""From somebody's table to a model and to what is known of it."""

from ecselm.study.card import (
    Asked,
    Card,
    ClassCount,
    ColumnNote,
    Compared,
    Curve,
    DataGlance,
    Estimate,
    HeldOut,
    Learned,
    Progress,
)

__all__ = [
    "Asked",
    "Card",
    "ClassCount",
    "ColumnNote",
    "Compared",
    "Curve",
    "DataGlance",
    "Estimate",
    "HeldOut",
    "Learned",
    "Progress",
]
