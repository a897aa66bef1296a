"""What the paper's claims rest on, computed again: ``ecselm audit``."""

from ecselm.paper.audit.report import AuditReport, NoiseRun, audit, split_table
from ecselm.paper.audit.searches import Arm, Effort
from ecselm.paper.audit.words import render

__all__ = ["Arm", "AuditReport", "Effort", "NoiseRun", "audit", "render", "split_table"]
