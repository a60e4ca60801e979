# make demo [WORDS="..."]: train a small model and look at it.   make test: all fast tests.
# make check: lint and types.   make bench: measure speed.   make docs: build the site.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
DEV_STAMP := $(VENV)/.ready-dev

.PHONY: demo test test-slow check bench docs clean

$(STAMP): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	{ echo 'wanted Python 3.11 or newer, got "$(PYTHON)"; name one: make PYTHON=/path/to/python' >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[pronounce,tensorboard]"
	touch $@

$(DEV_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev,docs]"
	touch $@

demo: $(STAMP)
	$(BIN)/regard demo $(WORDS)

test: $(DEV_STAMP)
	$(BIN)/python -m pytest -n 2

test-slow: $(DEV_STAMP)
	$(BIN)/python -m pytest -m slow

check: $(DEV_STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(STAMP)
	$(BIN)/python -m benchmarks.speed

docs: $(DEV_STAMP)
	$(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) site build dist
