"""One page about one model, for somebody who has to decide whether to trust it."""

from ecselm.report.page import report_html, write_report

__all__ = ["report_html", "write_report"]
