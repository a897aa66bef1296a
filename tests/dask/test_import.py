"""Dask is an extra: nothing else imports it."""

import subprocess
import sys


def test_dask_is_imported_by_its_own_package_only():
    script = "import sys, ecselm.outofcore; print([name for name in sys.modules if 'dask' in name])"
    assert _printed(script) == "[]"


def test_without_dask_the_extra_is_named():
    script = (
        "import sys; sys.modules['distributed'] = None\n"
        "try:\n    import ecselm.dask\nexcept ImportError as error:\n    print(error)"
    )
    assert _printed(script) == 'ecselm.dask needs dask: pip install "ecselm[dask]"'


def _printed(script):
    run = [sys.executable, "-c", script]
    return subprocess.run(run, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603
