# Every target creates the environment it needs; Python >= 3.11 and make are enough.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK = 1
C_FILES = $(wildcard src/ecselm/_native/*.[ch])

.PHONY: help demo test test-slow fuzz soak docs check-site picture bench results clean dist licences lint-files release-check test-matrix

help:
	@echo "make demo       install, run the tumour data: tables, a model, a report, two figures"
	@echo "make test       install, then ruff, mypy, import-linter and pytest"
	@echo "make test-slow  the tests that take minutes"
	@echo "make fuzz       mutate files for every reader, with FUZZ_SECONDS=60 for each"
	@echo "make soak       fit, save, load and ask the studio for SOAK_MINUTES=120"
	@echo "make docs       install, build the documentation site: docs/_build/html/index.html"
	@echo "make check-site build the site; check its links, and its pages on a phone, light and dark"
	@echo "make picture    renew the README's picture of a report, with Chromium"
	@echo "make bench      install the compared packages, rerun every benchmark, rewrite docs/benchmarks.md"
	@echo "make dist       build the sdist and the wheels into dist/: manylinux, and one without the C library"
	@echo "make test-matrix   test the built package with every Python, minimum and newest dependencies"
	@echo "make release-check build, and check packages, metadata, licences, workflows and the container"
	@echo "make results    run the paper's protocols (hours; resumes if stopped), rewrite docs/results.md and access.md"

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

# Without atheris, which some platforms lack, mutations are not guided by coverage.
FUZZ_SECONDS ?= 60
FUZZ_READERS = answers arff card checkpoint csv keel libsvm mat model sentences
fuzz: $(VENV)/.test
	-$(BIN)/python -m pip install --quiet --group fuzz
	for reader in $(FUZZ_READERS); do \
		$(BIN)/python -m fuzz $$reader --seconds $(FUZZ_SECONDS) || exit 1; done
	test ! -d fuzz/found

SOAK_MINUTES ?= 120
soak: $(VENV)/.test
	$(BIN)/python -m benchmarks.soak --minutes $(SOAK_MINUTES)

docs: $(VENV)/.docs
	rm -rf docs/api  # pages of names that were removed would be warned of
	$(BIN)/sphinx-build -W --keep-going -n -q docs docs/_build/html

check-site: docs $(VENV)/.test
	$(BIN)/python tools/website.py --browser

picture: $(VENV)/.plot
	$(BIN)/ecselm demo
	chromium --headless --no-sandbox --hide-scrollbars --force-device-scale-factor=1 \
		--window-size=1000,760 --screenshot=docs/pictures/report.png demo/report.html

# The wheel comes from the sdist, so that both are proved. ECSELM_PURE leaves the C library out.
dist: $(VENV)/.release
	rm -rf dist
	$(BIN)/python -m build
	ECSELM_PURE=1 $(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist dist/*.tar.gz

# make test-matrix MATRIX="--quick --pythons 3.12" runs a part of it.
test-matrix: $(VENV)/.release
	$(BIN)/python tools/matrix.py $(MATRIX)

release-check: dist lint-files $(VENV)/.docs $(VENV)/.bench-gpl
	$(BIN)/twine check --strict dist/*
	$(BIN)/check-wheel-contents dist/*.whl
	$(BIN)/auditwheel show dist/*manylinux*.whl
	$(BIN)/pyroma --min=8 dist/*.tar.gz
	$(BIN)/validate-pyproject pyproject.toml
	$(BIN)/reuse lint --quiet
	$(BIN)/python tools/licences.py --check
	$(BIN)/pytest -m "slow or not slow" tests/test_release*.py tests/typing

lint-files:
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/bug.yml .github/ISSUE_TEMPLATE/feature.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff
	$(BIN)/zizmor --offline --quiet .github
	$(BIN)/hadolint Dockerfile

licences: $(VENV)/.release $(VENV)/.docs $(VENV)/.bench-gpl
	$(BIN)/python tools/licences.py

bench: $(VENV)/.bench-gpl
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
