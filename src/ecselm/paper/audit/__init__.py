"""Recompute what the paper's claims rest on: ``ecselm audit``."""

from ecselm.paper.audit.report import AuditReport, audit, render, split_table
from ecselm.paper.audit.searches import Effort

__all__ = ["AuditReport", "Effort", "audit", "render", "split_table"]
