"""Check the claims of the paper: ``ecselm audit``."""

from ecselm.paper.audit.report import AuditReport, audit, render, split_table
from ecselm.paper.audit.searches import Effort

__all__ = ["AuditReport", "Effort", "audit", "render", "split_table"]
