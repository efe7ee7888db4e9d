# The commands of the project. `make demo` and `make test` are the two a newcomer needs.
PYTHON ?= python3
BIN := .venv/bin
SOURCES := src tests benchmarks tools examples
CXX_SOURCES = $(shell find src/piton/vnpu_cpp src/piton/targets examples kernels src/piton/suites tests -name '*.h' -o -name '*.cpp' -o -name '*.asc')
WORKERS ?= 2
export PYTHON

.DEFAULT_GOAL := help
.PHONY: help demo test fidelity check lint types layers format test-slow test-reference lint-suite sanitize bench adversarial chaos clean

help:
	@echo "make demo       evaluate four reference kernels on the virtual Ascend 910B2 and write a report"
	@echo "make test       install what tests need and run them"
	@echo "make check      format, lint, types, import layers and all tests: what CI runs"
	@echo "make format     rewrite sources in the project's format"
	@echo "make test-slow  the suites that take more than a minute"
	@echo "make test-reference  every reference kernel on its two smallest cases and at the edges of its tilings; builds all of them"
	@echo "make lint-suite the suites' rules with their goldens run, cases up to 4M elements; takes most of an hour, goes on where it was stopped"
	@echo "make sanitize   engine tests under AddressSanitizer and UndefinedBehaviorSanitizer"
	@echo "make adversarial  known cheats and odd but honest submissions: does each get its verdict? then attacks on the cage, at every level"
	@echo "make chaos      100 evaluations whose processes are killed at random points: does the report stay the same?"
	@echo "make bench      speeds against their bounds, the comparison's ratios, fidelity tables; about 3 minutes"
	@echo "make fidelity   simulated times against published and measured ones"
	@echo "make clean      remove what was built here (.venv, runs, caches of tools)"

demo:
	@tools/venv.sh run
	$(BIN)/piton eval kernels/reference --op exp --op gelu --op rms_norm --op softmax --jobs 2 --out runs/demo --overwrite

test:
	@tools/venv.sh dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadscope --max-worker-restart 0 -m "not slow"

check: lint types layers test

lint:
	@tools/venv.sh dev
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/clang-format --dry-run -Werror $(CXX_SOURCES)
	$(BIN)/piton suite lint piton --structural

types:
	@tools/venv.sh dev
	$(BIN)/mypy

layers:
	@tools/venv.sh dev
	$(BIN)/lint-imports

format:
	@tools/venv.sh dev
	$(BIN)/ruff format $(SOURCES)
	$(BIN)/ruff check --fix $(SOURCES)
	$(BIN)/clang-format -i $(CXX_SOURCES)

lint-suite:
	@tools/venv.sh run
	$(BIN)/piton suite lint piton --jobs $(WORKERS)
	$(BIN)/piton suite lint cann-lowbit --jobs $(WORKERS)

test-slow:
	@tools/venv.sh dev
	$(BIN)/python -m pytest -n $(WORKERS) -m "slow and not adversarial"

test-reference:
	@tools/venv.sh dev
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadscope tests/e2e/test_reference_*.py -m "slow or not slow"

sanitize:
	@tools/venv.sh dev
	$(BIN)/python -m pytest tests/sim -m slow

adversarial:
	@tools/venv.sh dev
	$(BIN)/python tests/adversarial/corpus_run.py --jobs $(WORKERS)
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadscope --max-worker-restart 0 tests/adversarial -m "not adversarial"

chaos:
	@tools/venv.sh dev
	$(BIN)/python tests/e2e/chaos.py --runs 100

fidelity:
	@tools/venv.sh dev
	$(BIN)/python benchmarks/fidelity
	$(BIN)/python benchmarks/fidelity/measured.py

bench:
	@tools/venv.sh dev
	$(BIN)/python benchmarks/speed
	$(BIN)/python benchmarks/compare/compare_ratio.py
	$(BIN)/python benchmarks/fidelity

clean:
	rm -rf .venv runs build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
