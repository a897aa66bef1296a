"""The report of a model: one HTML page made of its card."""

from ecselm.report.page import report_html, write_report

__all__ = ["report_html", "write_report"]
