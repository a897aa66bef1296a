"""The report of a model: one HTML page, or a sheet of text, made of its card."""

from ecselm.report.page import report_html, write_report
from ecselm.report.sheet import sheet_text, write_sheet

__all__ = ["report_html", "sheet_text", "write_report", "write_sheet"]
