# Every command sets itself up: it creates .venv and installs what it needs on top of what is there.
PYTHON ?= python3
VENV := .venv
BENCH := .venv-bench
BIN := $(VENV)/bin
WORKERS ?= 2
# Bytecode is compiled where a module is first used: most modules of most libraries never are.
INSTALL := -m pip install --quiet --disable-pip-version-check --prefer-binary --no-compile
PYTEST := $(BIN)/python -m pytest -q -n $(WORKERS) --dist

# Spark is 400 MB, and of no use without Java: its tests say so and are left out.
SPARK := $(if $(shell command -v java)$(JAVA_HOME),$(VENV)/.spark)

.PHONY: demo test test-long lint bench docs clean
.NOTPARALLEL:

demo: $(VENV)/.demo
	$(BIN)/discreet demo -o demo-output

# All but what is marked long or slow; ARGS="--run-long --run-slow" runs everything.
test: $(VENV)/.test $(SPARK)
	$(PYTEST) worksteal $(ARGS)

test-long: $(VENV)/.test $(SPARK)
	$(PYTEST) loadfile --run-long -m long $(ARGS)

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.docs
	$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

bench: $(BENCH)/.bench
	$(BENCH)/bin/python -m benchmarks $(ARGS)

# One stamp for each extra of pyproject.toml, all in one environment.
$(VENV)/.%: pyproject.toml | $(BIN)/python
	$(BIN)/python $(INSTALL) -e ".[$*]"
	@touch $@

# Peers pin old versions of shared libraries, so they live in an environment of their own.
$(BENCH)/.bench: pyproject.toml | $(BENCH)/bin/python
	$(BENCH)/bin/python $(INSTALL) -e ".[bench]"
	@touch $@

$(BIN)/python $(BENCH)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "discreet needs Python 3.11 or newer: make PYTHON=python3.11 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(@:/bin/python=)

clean:
	rm -rf $(VENV) $(BENCH) demo-output docs/_build .mypy_cache .ruff_cache .pytest_cache
