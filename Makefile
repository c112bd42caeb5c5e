# make lab     a student's way in: the environment, then JupyterLab on the first chapter
# make test    every check, as continuous integration runs it
#
# The environment is made once, in .venv, and brought up to date when pyproject.toml or constraints.txt change.

PYTHON ?= python3
VENV   := .venv
PIP    := $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)

# One thread and one hash seed: what the checks compare must come out the same on every machine.
test: export OMP_NUM_THREADS ?= 1
test: export PYTHONHASHSEED ?= 0
test: export TQDM_DISABLE ?= 1

.PHONY: help lab test build grade clean

help:  ## Say what can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "make %-6s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

lab: $(VENV)/lab  ## Open the course in JupyterLab: make lab [NN=02]
	course lab $(NN)

test: $(VENV)/dev  ## Run every check but the slow ones
	ruff check .
	ruff format --check .
	course build --check
	pytest -n auto --dist loadfile --nbval --nbval-current-env --durations=15 tests solutions chapters

build: $(VENV)/lab  ## Make chapters/ and paramshare/ from solutions/
	course build

grade: $(VENV)/lab  ## Grade a folder of submissions: make grade NN=01 FOLDER=path [ROSTER=path]
	$(if $(and $(NN),$(FOLDER)),,$(error Say which chapter and which folder: make grade NN=01 FOLDER=path))
	course grade "$(NN)" "$(FOLDER)" $(if $(ROSTER),--roster "$(ROSTER)")

clean:  ## Remove what can be made again; never work/ or class/
	rm -rf $(VENV) build artefacts *.egg-info .pytest_cache .ruff_cache .hypothesis
	find autograder benchmarks data paramshare tests -name __pycache__ -prune -exec rm -rf {} +

$(VENV)/lab: pyproject.toml constraints.txt
	@echo "Making the environment in $(VENV). The first time takes a few minutes."
	test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	$(PIP) -e '.[lab]'
	touch $@

$(VENV)/dev: $(VENV)/lab
	$(PIP) -e '.[dev]'
	touch $@
