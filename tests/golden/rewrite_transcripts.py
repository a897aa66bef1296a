"""Write the transcripts again: ``python -m tests.golden.rewrite_transcripts [SCENARIO ...]``.

They say what the command, model cards and report pages are, byte for byte. A deliberate change
of any of them comes as a commit of its own that rewrites the transcripts and says why; a commit
that moves or tidies code rewrites none.
"""

import json
import sys
import tempfile
from pathlib import Path

from tests.golden.scenario_tables import write_tables
from tests.golden.scenarios import SCENARIOS
from tests.golden.transcribe import fingerprint, transcribed

STORED = Path(__file__).parent / "transcripts"
MACHINE = STORED / "machine.json"


def files_of(name):
    """Return the files of a scenario as they are now, texts by file name."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made).resolve()
        write_tables(folder)
        done = transcribed(SCENARIOS[name], folder)
    pages = list(done.pages.values())
    assert len(pages) <= 1, f"{name} writes {len(pages)} pages, and a scenario has one"
    return {f"{name}.txt": done.text} | {f"{name}.html": page for page in pages}


def stored_files(name):
    """Return the files of a scenario as they were stored."""
    paths = [STORED / f"{name}{ending}" for ending in (".txt", ".html")]
    return {path.name: path.read_bytes().decode() for path in paths if path.is_file()}


def rewrite(names):
    """Store scenarios as they are now, and the machine."""
    STORED.mkdir(exist_ok=True)
    for name in names:
        for path in (STORED / f"{name}.txt", STORED / f"{name}.html"):
            path.unlink(missing_ok=True)
        for file, text in files_of(name).items():
            (STORED / file).write_bytes(text.encode())
    MACHINE.write_text(json.dumps(fingerprint(), indent=2) + "\n")


if __name__ == "__main__":
    for path in STORED.glob("*"):
        if path.stem not in SCENARIOS and path != MACHINE:
            path.unlink()
    rewrite(sys.argv[1:] or list(SCENARIOS))
