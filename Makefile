# Everything installed goes to .venv/ here and to the user's cache folder. No root needed; where apt-get and root are
# there, `make test` also installs the programs that some tests drive (it says so).

SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
EXTRAS ?= dev
JOBS ?= $(shell expr 2 \* $$(nproc 2>/dev/null || echo 1)) # tests at once: many of them wait for other programs
FAST := $(addprefix tests/,referee stream wire recording contestant importing protocol contests/test_rulebooks.py \
  contests/test_kept.py test_directions.py test_names.py test_plaintext.py test_summary.py test_clocks.py)
export OMP_NUM_THREADS ?= 1
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: run test test-fast setup setup-dev programs lint format coverage mutants bench chaos docs notebooks lock wheel matrix image wheelhouse sbom clean help

help:
	@echo "make run     build the demo contest and serve it on http://127.0.0.1:8000"
	@echo "make test    set up what the tests need and run them all"
	@echo "make setup   only the environment in .venv (command: .venv/bin/arena)"
	@echo "make test-fast   rules, referee, stream, wire and readers: what needs no other program, within a minute"
	@echo "make lint | format | coverage | mutants | bench | chaos | docs | notebooks | lock | wheel | matrix | image | wheelhouse | sbom | clean"

# The first Python that is new enough.
$(BIN)/python:
	@for python in python3 python3.13 python3.12 python3.11; do \
	  if $$python -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then found=$$python; break; fi; \
	done; \
	if [ -z "$$found" ]; then echo "BCI Arena needs Python 3.11 or newer with venv (Debian: apt install python3-venv)"; exit 2; fi; \
	echo "Creating $(VENV) with $$found"; $$found -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "$$found cannot make a virtual environment here; install another Python 3.11 or newer and try again"; exit 2; }

$(VENV)/.setup: pyproject.toml requirements.lock | $(BIN)/python
	@echo "Installing BCI Arena into $(VENV) (first time: two or three minutes)"
	@$(BIN)/python -m pip install --disable-pip-version-check -q -U pip
	@$(BIN)/python -m pip install --disable-pip-version-check -c requirements.lock -e '.[all,docs]' 2>&1 | grep --line-buffered -E '^(Collecting|Installing|Successfully|ERROR)' | cut -c1-100; exit $${PIPESTATUS[0]}
	@touch $@

$(VENV)/.setup-$(EXTRAS): $(VENV)/.setup
	@echo "Installing what the tests need into $(VENV)"
	@$(BIN)/python -m pip install --disable-pip-version-check -c requirements.lock -e '.[$(EXTRAS)]' 2>&1 | grep --line-buffered -E '^(Collecting|Installing|Successfully|ERROR)' | cut -c1-100; exit $${PIPESTATUS[0]}
	@touch $@

# The handbook (/docs on the site) is built into the package: wheels carry it.
HANDBOOK := src/bciarena/handbook/zh/index.html
$(HANDBOOK): $(VENV)/.setup mkdocs.yml mkdocs.zh.yml $(shell find docs scripts/handbook -type f ! -name '*.pyc') $(wildcard *.md)
	@echo "Building the handbook"
	@$(BIN)/python scripts/handbook/build.py

docs: $(HANDBOOK)

setup: $(VENV)/.setup $(HANDBOOK)
	@echo "Ready: $(BIN)/arena --help"

setup-dev: $(VENV)/.setup-$(EXTRAS)

# Plays the notebooks of docs/gallery again and keeps what they show.
notebooks: setup-dev
	@$(BIN)/python scripts/handbook/notebooks.py docs/gallery/*.ipynb

# Only where it can be done without asking: root and apt-get.
programs:
	@missing=""; \
	command -v bwrap >/dev/null || missing="$$missing bubblewrap"; \
	command -v strace >/dev/null || missing="$$missing strace"; \
	command -v chromium >/dev/null || missing="$$missing chromium"; \
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing="$$missing postgresql"; \
	if [ -n "$$missing" ]; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "Tests drive these programs, installing them with apt-get:$$missing"; \
	    apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $$missing; \
	  else echo "Not installed, their tests will be skipped by name:$$missing"; fi; \
	fi

run: setup
	@$(BIN)/arena serve --demo

test: setup-dev programs
	@$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder -m "not realtime"
	@$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m realtime $$(grep -rl --include='test_*.py' mark.realtime tests)

test-fast: setup-dev
	@$(BIN)/python -m pytest -q -n auto $(FAST)

# Lines that the tests run, by room, and the files below 70 %; TESTS="$(FAST)" or some files for a part of it. Python 3.12
# and newer measure with sys.monitoring, which costs least. One process: of several, one was seen to lose what it had measured.
TESTS ?= tests -m "not realtime"
coverage: setup-dev
	@rm -f .coverage .coverage.*
	@if $(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 12))'; then export COVERAGE_CORE=sysmon; fi; \
	$(BIN)/python -m coverage run -m pytest -q $(TESTS); ended=$$?; \
	$(BIN)/python -m coverage combine -q && $(BIN)/python scripts/covered.py && exit $$ended

# Long: changes that no test of referee, stream, match and contests notices; MUTANTS='referee/*.py' for a part of them.
mutants: setup-dev
	@$(BIN)/python scripts/mutants.py $(foreach path,$(MUTANTS),'$(path)')

lint: setup-dev
	$(BIN)/ruff format --check src tests scripts
	$(BIN)/ruff check src tests scripts
	$(BIN)/mypy

format: setup-dev
	$(BIN)/ruff format src tests scripts
	$(BIN)/ruff check --fix src tests scripts

# Long: faults at random against real workers on SQLite, PostgreSQL and Ray; SEEDS=20 for more.
chaos: setup-dev programs
	@$(BIN)/python -m tests.chaos --seeds $(or $(SEEDS),5)

bench: setup-dev
	$(BIN)/arena bench

# The versions that everything here is tested with, for all extras and Python 3.11 to 3.13; refresh, test, commit.
lock: | $(BIN)/python
	@$(BIN)/python -m pip install --disable-pip-version-check -q uv
	@$(BIN)/uv pip compile -q --universal --upgrade --no-header --no-annotate --python-version 3.11 --all-extras pyproject.toml -o requirements.lock

wheel: $(HANDBOOK) | $(BIN)/python
	@$(BIN)/python -m pip install --disable-pip-version-check -q build
	@$(BIN)/python -m build -q --outdir dist . && ls dist

# Long: the wheel in fresh environments, bare, with each extra and [all], on three Pythons; once with the oldest versions.
matrix: wheel
	@$(BIN)/python -m pip install --disable-pip-version-check -q uv
	@$(BIN)/python scripts/matrix.py "$$(ls -t dist/*.whl | head -1)"
	@$(BIN)/python scripts/matrix.py "$$(ls -t dist/*.whl | head -1)" --python 3.11 --extra all --lowest

# The site's container image; BASE names another base, PIP_NO_INDEX=1 takes wheels from wheelhouse/ alone.
image: wheel
	@podman build $(if $(BASE),--build-arg BASE=$(BASE)) $(if $(PIP_NO_INDEX),--build-arg PIP_NO_INDEX=1) -f deploy/Containerfile -t localhost/bciarena .

# Everything a machine without internet needs: pip install --no-index --find-links wheelhouse 'bciarena[all]'
wheelhouse: wheel
	@$(BIN)/python -m pip wheel --disable-pip-version-check -q -c requirements.lock -w wheelhouse "$$(ls -t dist/*.whl | head -1)[all]"
	@echo "$$(ls wheelhouse | wc -l) wheels in wheelhouse/"

# What is installed here, as CycloneDX.
sbom: setup
	@$(BIN)/python -m pip install --disable-pip-version-check -q cyclonedx-bom
	@mkdir -p dist && $(BIN)/cyclonedx-py environment --pyproject pyproject.toml --of JSON -o dist/bciarena.cdx.json $(BIN)/python
	@echo dist/bciarena.cdx.json

clean:
	rm -rf $(VENV) build dist wheelhouse demo src/bciarena/handbook test-output .pytest_cache .mypy_cache .ruff_cache .hypothesis src/*.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
