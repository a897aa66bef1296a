"""Configuration of Sphinx. ``make docs`` builds the site without a network."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import ecselm
from ecselm.estimators import FewCasesWarning

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
from public_names import constants, public_packages  # noqa: E402  found by the line above

# The problems of the gallery are small and slower on several threads.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
warnings.simplefilter("ignore", FewCasesWarning)

project = "ecselm"
author = "the authors of ecselm"
release = version = ecselm.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_nb",  # with myst_parser
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "math_in_html",
    "public_names",
]
exclude_patterns = ["_build", "_templates", "**sg_execution_times.rst", "gallery/*.ipynb"]
templates_path = ["_templates"]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"
nb_execution_mode = "force"  # notebooks are kept without results
nb_execution_timeout = 300
nb_execution_raise_on_error = True

autosummary_generate = True
autosummary_imported_members = True
autosummary_ignore_module_all = False
autosummary_context = {"constants": constants(public_packages(HERE / "api.rst"))}
autodoc_typehints = "none"  # docstrings have the types of parameters
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"(^|/)(?!plot_)[^/]*\.py$",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "min_reported_time": 5,
    "abort_on_example_error": False,
}

# Types of other libraries are not resolved, so that a build needs no network.
nitpick_ignore_regex = [(r"py:.*", r"(sklearn|scipy|numpy|pandas|matplotlib|skops|onnx)\b.*")]

html_theme = "furo"
html_title = f"ecselm {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_copyright = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
