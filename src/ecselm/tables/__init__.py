"""Tables: files to frames, and columns of frames to numbers."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ecselm.tables.encoder import TableEncoder
    from ecselm.tables.read import Table, read_table

__all__ = ["Table", "TableEncoder", "read_table"]

_MODULES = {"Table": "read", "TableEncoder": "encoder", "read_table": "read"}


def __getattr__(name: str) -> Any:
    """Import names on first access: pandas takes a second, and not every module needs it."""
    if name in _MODULES:
        return getattr(import_module(f"ecselm.tables.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'ecselm.tables' has no attribute {name!r}")
