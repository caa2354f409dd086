# Every task of the project, by name. `make help` lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.NOTPARALLEL:

JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 60
PYTHON := .venv/bin/python
# One more than there are processors: tests of recordings wait more than they work. Worksteal: a worker that has nothing
# left takes from another.
PYTEST := $(PYTHON) -m pytest -n $(shell expr $(JOBS) + 1) --dist worksteal
# What each room's tests say of themselves is shown, too: how many there were.
CTEST := ctest --verbose --no-tests=error -j$(JOBS)
# ThreadSanitizer cannot place its shadow memory where the kernel randomises addresses widely.
FIXED_ADDRESSES := $(shell setarch -R true 2>/dev/null && echo setarch -R)

# Packages are installed without bytecode, which Python then writes of what is imported. Where this is set it would never
# be written, and every process of the tests would compile torch again: most of what they take.
unexport PYTHONDONTWRITEBYTECODE

WITH_PYTHON = grep -qs '^STEPSCOPE_PYTHON:BOOL=ON' build/CMakeCache.txt || \
  cmake -S . -B build -DSTEPSCOPE_PYTHON=ON -DPython_EXECUTABLE=$(CURDIR)/$(PYTHON) >/dev/null

.PHONY: help setup setup-build build demo test training check format format-check lint ruff mypy tidy layers sizes docs \
        python wheel sbom unit unit-dev golden golden-dev e2e pytest dev tsan serve-dev serve-tsan clang aarch64 slurm fuzz bench verdicts clean \
        web web-lint web-test page-tests python-tests quick compile nightly

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## install what is missing: Debian packages, and Python tools into .venv
	@tools/setup

setup-build:
	@tools/setup build

build: build/build.ninja ## build the program: build/stepscope
	@cmake --build build -j$(JOBS)

python: build/build.ninja ## build the extension of the Python package beside python/stepscope, over the same objects
	@$(WITH_PYTHON)
	@cmake --build build -j$(JOBS) --target all _core _capture

# One build for all that the gate runs: the processors are busy until the end of it.
compile: build/build.ninja
	@$(WITH_PYTHON)
	@cmake --build build -j$(JOBS) --target all _core _capture unit_tests

web: build/web/index.html ## build the page that the program serves: build/web

web-lint: ## format, lint and types of the page
	@tools/web biome check --error-on-warnings .
	@tools/web tsc --noEmit

web-test: web build page-tests ## tests of the page, alone and in a browser

page-tests: web-lint
	@$(PYTHON) tools/check_page.py
	@tools/web vitest run
	@tools/web vitest run --config tests/vitest.config.ts

wheel: web ## a wheel with the page for other machines in dist/, checked by auditwheel
	@rm -rf build-wheel-plain dist
	@CC=$${CC:-cc} CXX=$${CXX:-c++} $(PYTHON) -m pip wheel . --quiet --no-deps --no-build-isolation -w build-wheel-plain
	@PATH=$(CURDIR)/.venv/bin:$$PATH $(PYTHON) -m auditwheel repair -w dist \
	  --plat manylinux_2_34_$$(uname -m) build-wheel-plain/stepscope-*.whl >/dev/null 2>&1 || \
	  $(PYTHON) -m auditwheel show build-wheel-plain/stepscope-*.whl
	@ls dist/*.whl

sbom: web ## what a wheel holds of others, as in the wheel: build/sbom/sboms/stepscope.cdx.json and build/sbom/licenses
	@$(PYTHON) tools/sbom.py --out build/sbom --page build/web

demo: setup-build build web ## the tour on the bundled samples, and the address of their page
	@examples/demo.sh

test: setup training check ## setup, then the gate

# Torch is two gigabytes that only the last tests need: it comes while everything is built. The tests wait for it, and try
# again where it failed here.
training:
	@(tools/training_env >/dev/null 2>&1 &)

# Tests of the page wait for a browser half of the time: the Python tests fill the rest.
check: quick compile tidy docs unit web ## the one gate: format, lint, layers, sizes, docs, all tests; docs/dev/gate.md
	@tools/side_by_side page-tests python-tests

quick: ## what needs no build: format, ruff, mypy, layers, sizes
	@tools/side_by_side mypy format-check layers ruff sizes

nightly: setup python web ## what takes too long for the gate, resumable; PART=tsan runs one; tools/nightly --list
	@tools/training_env >/dev/null
	@tools/nightly $(PART)

format: ## rewrite C++, Python and TypeScript sources in the project's format
	@$(PYTHON) tools/format.py --write
	@$(PYTHON) -m ruff format --quiet
	@$(PYTHON) -m ruff check --quiet --select I --fix
	@tools/web biome check --write .

format-check:
	@$(PYTHON) tools/format.py
	@$(PYTHON) -m ruff format --check

lint: ruff mypy tidy ## clang-tidy, ruff and mypy

ruff:
	@$(PYTHON) -m ruff check --quiet

mypy:
	@$(PYTHON) -m mypy --no-error-summary

tidy: build/build.ninja ## clang-tidy on what changed against origin/main; ALL=1 on every file
	@$(PYTHON) tools/tidy.py -j$(JOBS) $(if $(ALL),--all)

layers: ## which room may include which, what the core may not do
	@$(PYTHON) tools/check_layers.py
	@$(PYTHON) tools/check_core.py
	@$(PYTHON) tools/check_pins.py
	@$(PYTHON) tools/check_words.py

sizes: ## no source file over 700 lines
	@$(PYTHON) tools/check_sizes.py

docs: python ## links, marks, command output shown in the docs, generated files
	@$(PYTHON) tools/check_docs.py
	@$(PYTHON) tools/make_stubs.py --check

unit: build ## unit tests, optimised build
	@cmake --build build -j$(JOBS) --target unit_tests
	@$(CTEST) --test-dir build

unit-dev: dev ## unit tests with ASan, UBSan and library assertions
	@$(CTEST) --test-dir build-dev

golden: build ## goldens alone; UPDATE=1 rewrites them
	@$(PYTEST) tests/test_golden.py $(if $(UPDATE),--update-goldens)

# The longest first, one at a time: a few of them take as long as a hundred others.
golden-dev: dev ## goldens with ASan and UBSan
	@STEPSCOPE_BIN=build-dev/stepscope $(PYTEST) --dist load --maxschedchunk 1 tests/e2e/test_every_question.py tests/test_golden.py

e2e: build ## end-to-end and differential tests
	@$(PYTEST) tests/e2e

pytest: ## every Python test but the nightly ones: goldens, e2e, examples, recordings, the checks themselves
pytest: python python-tests

python-tests:
	@$(PYTEST) tests

dev: build-dev/build.ninja ## build with clang, ASan and UBSan in build-dev
	@cmake --build build-dev -j$(JOBS) --target all unit_tests

tsan: build-tsan/build.ninja ## unit tests with ThreadSanitizer
	@$(FIXED_ADDRESSES) cmake --build build-tsan -j$(JOBS) --target all unit_tests
	@$(FIXED_ADDRESSES) $(CTEST) --test-dir build-tsan

serve-dev: build-dev/build.ninja ## the server under its tests, built with ASan and UBSan
	@cmake --build build-dev -j$(JOBS) --target stepscope
	@STEPSCOPE_BIN=build-dev/stepscope $(PYTEST) $(wildcard tests/e2e/test_serve_*.py)

serve-tsan: build-tsan/build.ninja ## the same with ThreadSanitizer
	@$(FIXED_ADDRESSES) cmake --build build-tsan -j$(JOBS) --target stepscope
	@STEPSCOPE_BIN=build-tsan/stepscope $(FIXED_ADDRESSES) $(PYTEST) $(wildcard tests/e2e/test_serve_*.py)

clang: setup ## unit tests, optimised by the second compiler, warnings are errors
	@cmake --preset clang
	@cmake --build build-clang -j$(JOBS) --target all unit_tests
	@$(CTEST) --test-dir build-clang

aarch64: ## build for aarch64 and run the unit tests in an emulator
	@tools/setup aarch64
	@cmake --preset aarch64
	@cmake --build build-aarch64 -j$(JOBS) --target all unit_tests
	@$(CTEST) --test-dir build-aarch64

slurm: setup build python ## recording below a real Slurm of one node, batch scripts included
	@tools/setup slurm
	@tools/training_env
	@STEPSCOPE_SLURM=1 $(PYTHON) -m pytest -q tests/recording/test_slurm.py

fuzz: ## run each fuzz target for FUZZ_SECONDS (60)
	@tools/setup fuzz
	@cmake --preset fuzz
	@cmake --build build-fuzz -j$(JOBS) --target fuzz_targets
	@tools/fuzz $(FUZZ_SECONDS)

bench: setup build ## measure what the docs claim; BENCH_ARGS go to bench/run.py
	@$(PYTHON) bench/run.py $(BENCH_ARGS)

verdicts: build ## what findings say of recordings whose faults are known; VERDICTS_ARGS go to bench/verdicts.py
	@$(PYTHON) bench/verdicts.py $(VERDICTS_ARGS)

clean: ## remove everything that was built; .venv stays
	@rm -rf build build-* python/stepscope/*.so dist

# Built again only when one of its sources changed.
build/web/index.html: $(shell find web/src web/public web/index.html web/*.json web/*.ts -type f ! -name '*.test.ts*')
	@tools/web vite build --logLevel warn

build/build.ninja: CMakePresets.json
	@cmake --preset release

build-%/build.ninja: CMakePresets.json
	@cmake --preset $*
