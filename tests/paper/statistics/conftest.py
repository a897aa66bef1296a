"""Diagrams are drawn without a window, and none outlives its test."""

from tests.displays.conftest import ax, closed

__all__ = ["ax", "closed"]
