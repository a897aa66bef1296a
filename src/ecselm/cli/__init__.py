"""The command ``ecselm``: a file per command."""

from ecselm.cli.main import main

__all__ = ["main"]
