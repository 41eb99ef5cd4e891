# Two commands do everything: `make demo` and `make test`. Each sets up .venv by itself.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Tests run side by side; each worker keeps its BLAS and thread pool to what is left for it.
JOBS ?= 2

.PHONY: help demo test test-all test-browser plain-loops lint format bench docs gallery clean
.DEFAULT_GOAL := help

help:
	@echo "make demo      write a report on built-in data and say where the page is"
	@echo "make test      run the tests (make test-all: the slow ones too)"
	@echo "make test-browser  look at the report's page in a real browser"
	@echo "make lint      check format, style and types (make format: mend what can be mended)"
	@echo "make bench     race the peers; the table goes to docs/benchmarks.md"
	@echo "make docs      build the documentation into docs/_build/html (make gallery: its pictures only)"
	@echo "make clean     remove what was built"

demo: $(VENV)/ready-demo
	@mkdir -p build
	@$(BIN)/bisector report --demo wine --minutes 0.5 --out build/demo.html

test: $(VENV)/ready-test plain-loops
	$(BIN)/python -m pytest -n $(JOBS) -m "not slow"

test-all: $(VENV)/ready-test plain-loops
	$(BIN)/python -m pytest -n $(JOBS)

# The report's page in a real browser; skipped where Chromium cannot be had.
test-browser: $(VENV)/ready-test
	@tests/reports/install_browser.sh
	$(BIN)/python -m pytest -q -rs tests/reports/test_page_in_browser.py

# Every compiled loop also runs as the plain Python it is written in.
plain-loops: $(VENV)/ready-test
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q -n $(JOBS) -m "not slow" $(PLAIN)

PLAIN := tests/engine/test_loops.py tests/engine/test_column_products.py tests/engine/test_values.py \
  tests/solvers/test_double_double.py tests/distances/test_vectors.py tests/distances/test_reductions.py \
  tests/distances/test_matrix_products.py tests/distances/test_exemplar_loops.py tests/distances/test_groups.py \
  tests/engine/test_exponential.py tests/kernels/test_algebra.py tests/solvers/test_isotonic.py \
  tests/solvers/test_logistic.py tests/solvers/test_coordinate_descent.py tests/solvers/test_kernel_lines.py \
  tests/solvers/test_dual_coordinate.py tests/facts/test_svm_facts.py tests/facts/test_svm_path_facts.py \
  tests/facts/test_perceptron_facts.py tests/svm/test_support_report.py tests/solvers/test_medoid_swap.py \
  tests/solvers/test_density_loops.py tests/facts/test_tree_facts.py

lint: $(VENV)/ready-lint
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(VENV)/ready-lint
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/ready-bench
	$(BIN)/python -m benchmarks $(NAMES)

docs: $(VENV)/ready-docs
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

gallery: $(VENV)/ready-docs
	$(BIN)/sphinx-build -W --keep-going -b dummy -t gallery docs docs/_build/gallery
	$(BIN)/python docs/contact_sheet.py

clean:
	rm -rf $(VENV) docs/_build docs/api/generated docs/gallery dist build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One environment, filled as far as a command needs: ready-test holds what the tests import, and so on.
# The stamp is newer than pyproject.toml when nothing is left to install, so a second run starts at once.
$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "bisector needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/ready-demo: EXTRA := [cli]
$(VENV)/ready-test: EXTRA := [test]
$(VENV)/ready-lint: EXTRA := [lint]
$(VENV)/ready-bench: EXTRA := [bench]
$(VENV)/ready-docs: EXTRA := [docs]
$(VENV)/ready-%: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".$(EXTRA)"
	@touch $@
