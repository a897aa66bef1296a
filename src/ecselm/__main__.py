"""Run the command as ``python -m ecselm``."""

import sys

from ecselm.cli import main

sys.exit(main())
