# Two commands set everything up: `make demo` and `make test`. Both can be run again at any time.
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= python3
# Any build of torch will do; by default the one that pip finds.
TORCH ?= torch==2.13.0

.DEFAULT_GOAL := help
.PHONY: help setup demo ui test test-packages lint types check lock clean

help: ## Show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: $(VENV)/installed ## Install packages into .venv and toolchains into the cache folder
	@$(BIN)/cass toolchain install

$(VENV)/installed: requirements.lock pyproject.toml
	@echo "== System packages"
	@scripts/system_packages.sh
	@echo "== Python packages (into $(VENV), versions and hashes from requirements.lock)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@# The lock is complete; resolving it once more would only take time.
	@$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet $(TORCH)
	@$(BIN)/python -m pip install --quiet --no-deps --editable .
	@$(BIN)/python -m pip check
	@touch $@

demo: setup ## Run the whole chain on the examples and on real CUDA, then show where every file went
	@echo "== Materializing every asset"
	@$(BIN)/dagster asset materialize --select '*' -m cass_pipeline.definitions
	@echo "== The ledger"
	@$(BIN)/cass ledger
	@echo "== Reading the corpus with datasets.load_dataset"
	@$(BIN)/python examples/read_corpus.py

ui: setup ## Start the Dagster UI (with the nightly schedule) on port 3000
	@DAGSTER_HOME=$(CURDIR) $(BIN)/dagster dev -w workspace.yaml

test: setup test-packages lint types check ## Install, then lint, types and all tests

test-packages:
	@scripts/system_packages.sh tests

lint:
	@echo "== Lint"
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

types:
	@echo "== Types"
	@$(BIN)/mypy

check:
	@echo "== Tests"
	@$(BIN)/pytest -n auto

lock: ## Resolve requirements.lock anew from pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet uv
	@$(BIN)/uv pip compile --quiet pyproject.toml --all-extras --generate-hashes \
		--no-emit-index-url --no-header --python-version 3.11 -o requirements.lock

clean: ## Remove what the pipeline wrote (var/) and the virtual environment
	rm -rf var $(VENV)
