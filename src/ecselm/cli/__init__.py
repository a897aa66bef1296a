"""The command ``ecselm``: a file per verb."""

from ecselm.cli.main import main

__all__ = ["main"]
