"""Every example of the gallery runs and draws something."""

import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
# The demonstration of the whole takes minutes, and is run by `make demo`.
DEMONSTRATED = {"plot_learned_costs.py", "plot_tumour_costs.py"}
GALLERY = sorted(path.name for path in EXAMPLES.glob("plot_*.py") if path.name not in DEMONSTRATED)


@pytest.mark.slow
@pytest.mark.parametrize("name", GALLERY)
def test_an_example_draws_what_it_shows(name, monkeypatch):
    shown = []
    monkeypatch.setattr(plt, "show", lambda: shown.extend(plt.get_fignums()))
    runpy.run_path(str(EXAMPLES / name))
    assert shown


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("plot_*.py")), ids=lambda path: path.name)
def test_an_example_begins_with_a_title(path):
    quotes, title, underline, *_ = path.read_text(encoding="utf-8").splitlines()
    assert quotes == '"""'
    assert underline == "=" * len(title)
