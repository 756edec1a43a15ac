# `make` alone lists the targets. PYTHON=python3.13 make test chooses another Python.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check
INSTALL := $(PIP) install --quiet --constraint constraints.txt --editable
CODE   := $(wildcard src tests benchmarks fuzzing studies tools)
# Each process starts with one half of the tests, in order: what a file sets up is made once.
WORKERS := -n 2 --dist worksteal
# Threads of Polars, of BLAS and of scikit-learn would only wait for those of the other process.
ALONE := POLARS_MAX_THREADS=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help demo install test lint format types imports warm unit slow cluster bench studies fuzz docs wheel lock clean python-version

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(VENV)/.runtime ## Install the program into .venv if needed, and run its demonstration
	$(BIN)/shoal demo

install: $(VENV)/.dev $(VENV)/.docs ## Install all that the other targets need

test: lint types imports unit ## What must hold before a change goes in: lint, types, imports, tests

lint: $(VENV)/.dev ## Check style and formatting
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)

format: $(VENV)/.dev ## Repair style and formatting
	$(BIN)/ruff check --fix $(CODE)
	$(BIN)/ruff format $(CODE)

types: $(VENV)/.dev ## Check the types
	$(BIN)/mypy

imports: $(VENV)/.dev ## Check who may import whom
	$(BIN)/lint-imports

warm: $(VENV)/.dev ## Compile what the tests use, once
	$(BIN)/shoal warm

unit: $(VENV)/.dev ## Run the tests but the slow ones (ARGS=tests/data/spec or ARGS="-k word" for some)
	$(ALONE) $(BIN)/python -m pytest $(WORKERS) -m 'not slow' $(ARGS)

slow: $(VENV)/.dev ## Run the slow studies, which `make test` leaves out
	$(ALONE) $(BIN)/python -m pytest $(WORKERS) -m 'slow and not cluster' $(ARGS)

cluster: $(VENV)/.dev ## Run the tests on Spark clusters of several processes, which take minutes
	$(BIN)/python -m pytest -m cluster $(ARGS)

bench: $(VENV)/.dev ## Run the benchmarks
	$(BIN)/python -m benchmarks $(ARGS)

studies: $(VENV)/.dev ## Repeat the paper's experiments (ARGS="paper --data adult.csv.gz --out DIR")
	$(BIN)/python -m studies $(ARGS)

fuzz: $(VENV)/.dev ## Try random groups and tables, damaged files and kills (ARGS="--seed 2 --seconds 600")
	$(BIN)/python -m fuzzing all $(ARGS)

docs: $(VENV)/.docs ## Build the documentation into site/
	$(BIN)/mkdocs build --strict

wheel: $(VENV)/.dev ## Build the wheel and the source archive into dist/, and check them
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*

lock: python-version ## Renew constraints.txt: the newest versions that pyproject.toml allows
	rm -rf $(VENV)-lock
	$(PYTHON) -m venv $(VENV)-lock
	$(VENV)-lock/bin/python -m pip --disable-pip-version-check install --quiet --editable '.[all,docs,test,dev]'
	{ echo '# Made by `make lock`: the versions that the tests run with.'; \
	  $(VENV)-lock/bin/python -m pip --disable-pip-version-check freeze --exclude-editable; } > $(VENV)-lock/constraints.txt
	@if grep -nE '://| @ |^-' $(VENV)-lock/constraints.txt; then \
	  echo 'The lines above name a place, not a version: constraints.txt was left as it is.' >&2; exit 1; fi
	mv $(VENV)-lock/constraints.txt constraints.txt
	rm -rf $(VENV)-lock

clean: ## Remove .venv, caches and everything that was built
	rm -rf $(VENV) $(VENV)-lock build dist site shoal-demo.html .coverage .coverage.* htmlcov \
	  .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find $(CODE) -type d -name __pycache__ -prune -exec rm -rf {} +

# The stamps: newer than pyproject.toml and constraints.txt means nothing to install.

$(VENV)/.runtime: pyproject.toml constraints.txt | $(VENV)/pyvenv.cfg
	@echo 'Installing shoal into $(VENV)'
	@$(INSTALL) .
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(VENV)/pyvenv.cfg
	@echo 'Installing shoal and its tools into $(VENV)'
	@$(INSTALL) '.[all,test,dev]'
	@touch $(VENV)/.runtime $@

$(VENV)/.docs: pyproject.toml constraints.txt | $(VENV)/pyvenv.cfg
	@echo 'Installing shoal and the documentation tools into $(VENV)'
	@$(INSTALL) '.[docs]'
	@touch $(VENV)/.runtime $@

$(VENV)/pyvenv.cfg: | python-version
	$(PYTHON) -m venv $(VENV)

python-version:
	@command -v $(PYTHON) >/dev/null || { \
	  echo 'shoal needs Python 3.11 or newer, and there is no "$(PYTHON)" here. Name one: make PYTHON=/path/to/python' >&2; exit 1; }
	@$(PYTHON) -c 'import sys; v = "%d.%d" % sys.version_info[:2]; sys.version_info >= (3, 11) or sys.exit("shoal needs Python 3.11 or newer, and \"$(PYTHON)\" is Python " + v + ". Name another: make PYTHON=/path/to/python")'
