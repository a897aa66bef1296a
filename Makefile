# Every target makes the environment it needs; Python >= 3.11 and make are enough.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK = 1
C_FILES = $(wildcard src/ecselm/_native/*.[ch])

.PHONY: help demo test test-slow docs picture bench results clean

help:
	@echo "make demo       install, learn from the tumour data: tables, a model, a report, two pictures"
	@echo "make test       install, then ruff, mypy, import-linter and pytest"
	@echo "make test-slow  the proofs that take minutes"
	@echo "make docs       install, build the documentation site: docs/_build/html/index.html"
	@echo "make picture    the README's picture of a report again, with Chromium"
	@echo "make bench      install the peers, rerun every benchmark, rewrite docs/benchmarks.md"
	@echo "make results    run the paper's protocols (hours; goes on if stopped), rewrite docs/results.md and access.md"

demo: $(VENV)/.plot
	$(BIN)/ecselm demo
	$(BIN)/python examples/plot_tumour_costs.py
	$(BIN)/python examples/plot_learned_costs.py

test: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n 2
	ECSELM_COMPILED=0 $(BIN)/pytest -n 2 tests/_native tests/linalg tests/fitness tests/estimators/test_ecselm.py tests/golden/test_golden.py

test-slow: $(VENV)/.test
	$(BIN)/pytest -m slow

docs: $(VENV)/.docs
	$(BIN)/sphinx-build -W --keep-going -n -q docs docs/_build/html

picture: $(VENV)/.plot
	$(BIN)/ecselm demo
	chromium --headless --no-sandbox --hide-scrollbars --force-device-scale-factor=1 \
		--window-size=1000,760 --screenshot=docs/pictures/report.png demo/report.html

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks

results: $(VENV)/.test
	$(BIN)/ecselm reproduce all --no-synthetic --jobs 2 --output reproduced
	$(BIN)/python -m benchmarks.results_page reproduced
	$(BIN)/python -m benchmarks.access_page

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache demo
	rm -rf docs/_build docs/api docs/gallery examples/demo

# One stamp per extra: installed again when pyproject.toml or the C sources change.
$(VENV)/.%: pyproject.toml hatch_build.py $(C_FILES) | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[$*]"
	touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python >= 3.11 is needed; say which with: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
