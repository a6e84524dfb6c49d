# `make demo` and `make test` work on a fresh machine with nothing but Python 3.11+ and make.
# Every target first brings `.venv` in line with the checkout (a no-op where it is).

PYTHON ?= python3
# The Python that was asked for, by the command line or the environment; else empty.
ASKED := $(if $(filter file,$(origin PYTHON)),,$(PYTHON))
# An environment that stands is kept, whatever `python3` is today.
HOST := $(or $(wildcard .venv/bin/python),$(PYTHON))
RUN := .venv/bin/python

SOURCES = $(wildcard core/src operator_sdk/*/src plugins/*/src contrib_ops/*/src)
# Hundreds of processes of the tests import operad, and each would compile all of it again: 0.6 s.
unexport PYTHONDONTWRITEBYTECODE
TEST_ARGS ?=
# For example: make test-gpu GPU_ARGS="--results /results --stages operators streams"
GPU_ARGS ?=
# For example: make bench BENCH_ARGS="--rows tanh --threads 2"
BENCH_ARGS ?=
# Processes that share the tests; 0: this one alone, for a debugger or for few tests.
WORKERS ?=
PYTEST = $(RUN) -m pytest --numprocesses $(or $(WORKERS),2) --dist worksteal
ONE_THREAD := OPERAD_NUM_THREADS=$${OPERAD_NUM_THREADS:-1}
# Each test is of one suite: of these two, or of the fast one, which pyproject.toml chooses.
FAST := "not more and not slow and not contract"
MORE := "more and not slow and not contract"
SLOW := "slow"
BOTH := "not slow and not contract"
# Tests beside the fast ones take up to 30 seconds of processor time, and several times that on a busy machine.
LONGER := -o timeout=600 -o watchdog_timeout=900

.PHONY: help host setup demo test test-more test-all test-slow test-cupy test-gpu test-pythons test-installs test-arm test-x86 test-next-python bench bench-peers bench-layers check-corpus exports docs check lint types layers tables changes format release clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "make %-16s %s\n", $$1, $$2}' Makefile

host:
	@command -v $(HOST) >/dev/null 2>&1 || { echo "operad needs Python 3.11 or newer, and there is no $(HOST); name one: make PYTHON=/path/to/python" >&2; exit 1; }
	@$(HOST) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "operad needs Python 3.11 or newer; $(HOST) is %s. Name another: make PYTHON=python3.12" % sys.version.split()[0])'

setup: host  ## make .venv and install every distribution in place
	@$(HOST) -m tools.workspace

demo: setup  ## train a digit classifier symbolically and imperatively
	$(RUN) -m examples.digits

# Many of its tests wait for a process, so that two of the suite leave a sixth of two cores idle.
test: WORKERS := $(or $(WORKERS),3)
test: setup  ## the fast suite: every module, operator and tutorial (minutes on two cores)
	$(ONE_THREAD) $(PYTEST) $(TEST_ARGS)

test-more: setup  ## the rest of the tests that take seconds: several together, workers, faults, devices
	@$(HOST) -m tools.workspace docs || echo "without MkDocs: tests of the site are skipped" >&2
	$(ONE_THREAD) $(PYTEST) -m $(MORE) $(LONGER) $(TEST_ARGS)

test-all: setup  ## both, each test once
	$(ONE_THREAD) $(PYTEST) -m $(BOTH) $(LONGER) $(TEST_ARGS)

test-slow: setup  ## the long tests, and every contract check of every operator, with many more examples
	@$(HOST) -m tools.workspace cuda || echo "without NVIDIA's compilers: their tests are skipped" >&2
	@$(RUN) -m tools.cupy_wheels || echo "without CuPy's wheels: their tests are skipped" >&2
	HYPOTHESIS_PROFILE=$${HYPOTHESIS_PROFILE:-nightly} $(PYTEST) -m $(SLOW) -o timeout=1800 -o watchdog_timeout=2400 $(TEST_ARGS)
	$(if $(TEST_ARGS),,$(RUN) -m operad check --all --profile dev)

test-cupy: setup  ## compare the stand-in for CuPy with CuPy's wheels, which need no device (300 MB)
	@$(RUN) -m tools.cupy_wheels
	$(RUN) -m pytest -m "slow or not slow" core/tests/devices/test_names.py $(TEST_ARGS)

test-gpu: setup  ## what to run first on a CUDA device, 8 minutes; GPU_ARGS="--stand-in": without one
	$(RUN) -m tests.devices.day $(GPU_ARGS)

test-pythons: host  ## make test-all on every Python here, newest and oldest packages; PYTHON= names one
	OPERAD_NUM_THREADS=$${OPERAD_NUM_THREADS:-1} $(HOST) -m tools.pythons --python "$(ASKED)" --numprocesses $(or $(WORKERS),2) --dist worksteal -m $(BOTH) $(LONGER) $(TEST_ARGS)

test-installs: host  ## make test-all without numba, and without LLVM too, as installs may be
	OPERAD_NUM_THREADS=$${OPERAD_NUM_THREADS:-1} $(HOST) -m tools.pythons --python "$(HOST)" --packages vector,plain --numprocesses $(or $(WORKERS),2) --dist worksteal -m $(BOTH) $(LONGER) $(TEST_ARGS)

# The suites of vector code, for processors with fewer instructions.
VECTOR := operator_sdk/sdk/tests/vector operator_sdk/sdk/tests/mapper operator_sdk/sdk/tests/test_products.py \
	plugins/convolution plugins/fully_connected plugins/fusion plugins/matrix

test-arm: setup  ## an ARM, emulated: vector code, tests, checks (exit 2 where something is missing)
	$(RUN) -m tools.emulated arm

test-x86: setup  ## an x86 without AVX-512 and one without FMA: suites of vector code, and both emulated
	$(ONE_THREAD) $(PYTEST) -p tools.instruction_set --instructions avx2 -m $(FAST) $(LONGER) $(VECTOR)
	$(ONE_THREAD) $(PYTEST) -p tools.instruction_set --instructions sse -m $(FAST) $(LONGER) $(VECTOR)
	$(RUN) -m tools.emulated avx2,sse

test-next-python: setup  ## compile every file by Python 3.14, which node runs (seconds)
	$(RUN) -m tools.next_python

bench: setup  ## time operad, and PyTorch beside it where installed
	$(RUN) -m tests.benchmarks --json build/bench.json $(BENCH_ARGS)

bench-peers: setup  ## time operad beside PyTorch, JAX and MXNet, and write the page of it
	$(RUN) -m tests.benchmarks --peers --json build/bench-peers.json --page docs/measurements/peers.md $(BENCH_ARGS)

bench-layers: setup  ## time convolutions pass by pass, beside PyTorch and MXNet, and write the page of it
	$(RUN) -m tests.benchmarks.convolution --page docs/measurements/convolution.md $(BENCH_ARGS)

check-corpus: host  ## check functions of PyTorch, JAX and libraries upon them, in an environment of their own, and write their pages
	@$(HOST) -m tests.corpus

exports: setup  ## check every operator in PyTorch and JAX, and write the page of it
	$(RUN) -m tests.exports --json build/exports.json --page docs/measurements/exports.md

docs: setup  ## build the documentation as a site, into build/site
	@$(HOST) -m tools.workspace docs
	$(RUN) -m tools.site

check: lint types layers tables changes  ## lint, formatting, types, layers, generated tables, changelog

lint: setup
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .

types: setup
	$(RUN) -m mypy $(SOURCES) tools

layers: setup
	$(RUN) -m tools.layers

tables: setup
	$(RUN) -m tools.operator_table --check
	$(RUN) -m tools.package_table --check
	$(RUN) -m tools.cli_reference --check
	$(RUN) -m tools.second_order --check
	$(RUN) -m tools.operator_pages --check
	$(RUN) -m tools.scalar_forms --check
	$(RUN) -m tools.standard_stubs --check
	$(RUN) -m tools.onnx_table --check
	$(RUN) -m tools.project_metadata --check
	$(RUN) -m tools.harness_table --check

changes: setup  ## show the next entry of the changelog, as its fragments make it
	$(RUN) -m towncrier build --draft --version next

format: setup  ## rewrite the sources and tables the way `make check` wants them
	$(RUN) -m ruff check --fix-only .
	$(RUN) -m ruff format .
	$(RUN) -m tools.operator_table
	$(RUN) -m tools.package_table
	$(RUN) -m tools.cli_reference
	$(RUN) -m tools.second_order
	$(RUN) -m tools.operator_pages
	$(RUN) -m tools.scalar_forms
	$(RUN) -m tools.standard_stubs
	$(RUN) -m tools.onnx_table
	$(RUN) -m tools.project_metadata

release: setup  ## bump, check and build (twice) all distributions in clones: VERSION=0.3.0; ARGS=--tag tags it here
	$(RUN) -m tools.release $(VERSION) --twice $(ARGS)

clean:  ## remove everything that make made
	rm -rf .venv build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
