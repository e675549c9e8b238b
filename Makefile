# Commands for contributors and CI. Needs GNU make, a POSIX shell and Python 3.11 to 3.13 with venv; nothing else.

SHELL = /bin/sh
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo dev check test lint lint-python schemas panel kill-loop fault-matrix bench-ingest bench-windows bench-coherence bench-llm bench-offline bench-dedupe bench-understanding bench-wishes train-standing train-wishes train-comparer train-sentences train-questions train-messages bench-embed bench-recall bench-curate bench-serve bench-import bench-stages lock clean

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export MEMSTREAM_SETUP_PYTHON := $(PYTHON)
# A Python named on the command line or in the environment counts even when .venv has another version.
export MEMSTREAM_SETUP_CHOSEN := $(if $(filter file,$(origin PYTHON)),,yes)

RUNTIME_LOCK := deploy/requirements.lock
EXTRAS_LOCK := deploy/extras.lock
DEV_LOCK := tests/requirements.lock
RUNTIME := $(VENV)/.runtime
DEV := $(VENV)/.dev
# quixstreams' pins conflict with the runtime's, so it is benchmarked in an environment of its own.
QUIX_LOCK := tests/benchmarks/quixstreams.lock
QUIX := $(VENV)/quixstreams
# JAX, which only training needs, has its own environment, too; it also sees the development packages.
TRAINING_LOCK := tests/benchmarks/classification/requirements.lock
TRAINING := $(VENV)/training

# An environment that is missing, broken or of another Python is made anew, whatever its stamps say. (GNU make hands
# exported variables to $(shell ...) only from 4.4 on.)
USABLE := $(shell MEMSTREAM_SETUP_PYTHON='$(PYTHON)' MEMSTREAM_SETUP_CHOSEN=$(MEMSTREAM_SETUP_CHOSEN) deploy/setup.sh usable && echo yes)
REMAKE := $(if $(USABLE),,remake)

PROVIDER ?=
SEED ?= 1
RUNS ?= 2
KILLS ?= 20
CONVERSATIONS ?= 2000
WORKER ?= memstream
MESSAGES ?= 100000
MEMORIES ?= 1000,10000
STORED ?= 10000,100000
ROUNDS ?= 3
CPUS ?= 1
# Test processes, each with its own servers. Heavy tests mostly wait for servers, so four keep two cores busy.
check: JOBS ?= 2
test: JOBS ?= 4
PYTEST := $(BIN)/python -m pytest
UV_VERSION := 0.13.9

# Tests start many processes that load the same modules: keep compiled modules, even if a container disables it.
unexport PYTHONDONTWRITEBYTECODE

# Directory of public data sets for some tests and benchmarks. Without it they are skipped.
export MEMSTREAM_SHARED_DATA ?= $(abspath $(wildcard ../shared/data))

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24

demo: environment $(RUNTIME) ## the whole path on this machine with sample conversations (PROVIDER=claude for a model)
	@$(BIN)/memstream demo $(if $(PROVIDER),--provider $(PROVIDER))

dev: environment $(RUNTIME) ## Kafka, PostgreSQL, Qdrant, a worker and the API, kept running for a chat service on this machine
	@$(BIN)/memstream dev

check: lint ## run before each commit: lint, unit and contract tests
	$(PYTEST) -n $(JOBS) --dist loadfile --no-loadscope-reorder --durations=5 --hypothesis-profile=quick tests/contract tests/unit

test: lint ## everything CI runs: lint, then all tests, the heavy ones last
	$(PYTEST) -n $(JOBS) --dist loadfile --no-loadscope-reorder --durations=30

lint: environment $(DEV) ## ruff, mypy, import contracts, generated schemas, the built panel
	@deploy/panel/build.sh --check & panel=$$!; $(BIN)/mypy & types=$$!; \
		$(MAKE) --no-print-directory lint-python; found=$$?; wait $$types || found=$$?; wait $$panel && exit $$found

# `lint` without mypy, which runs beside these, and without the panel.
lint-python:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/python -m schemas.documents.generate --check
	$(BIN)/python -m agents.api.generate --check

schemas: environment $(RUNTIME) ## write schemas/generated
	@$(BIN)/python -m schemas.documents.generate
	@$(BIN)/python -m agents.api.generate

panel: ## build the web panel from deploy/panel (needs Node 20.19 or newer, and npm)
	@deploy/panel/build.sh

kill-loop: environment $(DEV) ## kill -9 workers under load (SEED, RUNS, KILLS, CONVERSATIONS, WORKER=stock); the last line is JSON
	@$(BIN)/python -m tests.chaos.kill_loop --worker $(WORKER) \
		--seed $(SEED) --runs $(RUNS) --kills $(KILLS) --conversations $(CONVERSATIONS)

# The default of CONVERSATIONS above is for the kill loop.
fault-matrix: environment $(DEV) ## every fault of a model's API, each for 200 conversations (CONVERSATIONS)
	MEMSTREAM_FAULT_CONVERSATIONS=$(if $(filter file,$(origin CONVERSATIONS)),200,$(CONVERSATIONS)) \
		$(PYTEST) -m heavy --durations=0 tests/chaos/test_fault_matrix.py

bench-ingest: environment $(DEV) $(QUIX)/.installed ## throughput of the window stage, stock Faust, quixstreams and aiokafka (MESSAGES, ROUNDS, CPUS); the last line is JSON
	@$(BIN)/python -m tests.benchmarks.ingest --messages $(MESSAGES) --rounds $(ROUNDS) --cpus $(CPUS)

bench-windows: environment $(DEV) ## CPU time, memory and changelog bytes of token windows; the last line is JSON
	@$(BIN)/python -m tests.benchmarks.windows $(if $(CHECK),--check)

bench-coherence: environment $(DEV) ## coherence of real conversations after pruning by each strategy (MEMSTREAM_SHARED_DATA); the last line is JSON
	@$(BIN)/python -m tests.benchmarks.coherence

bench-llm: environment $(DEV) ## model tokens of extraction and resolve per token of conversation (MEMSTREAM_SHARED_DATA); the last line is JSON
	@$(BIN)/python -m tests.benchmarks.llm

bench-offline: environment $(DEV) ## coverage and junk of the offline rules on public conversations (MEMSTREAM_SHARED_DATA); the last line is JSON
	@$(BIN)/python -m tests.benchmarks.offline

bench-dedupe: environment $(DEV) ## precision and recall of deduplication on labelled pairs; the last line is JSON
	@$(BIN)/python -m tests.benchmarks.dedupe --plot deploy/docs/curation.svg

bench-understanding: environment $(DEV) ## correct and wrong memories after scripted conversations (PROVIDER=offline|claude|ollama|oracle|oracle-unaided, RESOLVE=1); the last line is JSON
	@$(BIN)/python -m tests.benchmarks.understanding.run --provider $(or $(PROVIDER),offline) $(if $(RESOLVE),--resolve)

train-standing: environment $(DEV) ## train the classifier of limits and standing wishes (MEMSTREAM_SHARED_DATA) and measure it on unseen topics; the last line is JSON
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.benchmarks.standing.train

bench-wishes: environment $(DEV) ## wishes to forget in indirect words that the rules and the classifier of offline read; the last line is JSON
	@$(BIN)/python -m tests.benchmarks.wishes.indirect

train-wishes: environment $(DEV) ## train the classifier of wishes to forget (MEMSTREAM_SHARED_DATA) and measure it by cross-validation; the last line is JSON
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.benchmarks.wishes.train

train-comparer: environment $(TRAINING)/.installed ## train the model that compares statements (half an hour; MEMSTREAM_SHARED_DATA) and measure it on unseen ones; the last line is JSON
	@$(TRAINING)/bin/python -m tests.benchmarks.classification.train_comparer

train-questions: environment $(TRAINING)/.installed ## train the encoder of questions (ten minutes; MEMSTREAM_SHARED_DATA) and measure it on unseen chats; the last line is JSON
	@$(TRAINING)/bin/python -m tests.benchmarks.questions.train

train-messages: environment $(TRAINING)/.installed ## then train the encoders of questions and messages together (an hour; MEMSTREAM_SHARED_DATA) and measure them; the last line is JSON
	@$(TRAINING)/bin/python -m tests.benchmarks.questions.train_messages

train-sentences: environment $(TRAINING)/.installed ## train the sentence classifier (twenty minutes; MEMSTREAM_SHARED_DATA) and measure it on unseen sentences; the last line is JSON
	@$(TRAINING)/bin/python -m tests.benchmarks.classification.train_sentences

bench-embed: environment $(DEV) ## texts a second of each in-process embedding model; the last line is JSON
	@$(BIN)/python -m tests.benchmarks.embed

bench-recall: environment $(DEV) ## search quality on questions with known answers, and the contribution of each part (MEMSTREAM_SHARED_DATA); the last line is JSON
	@$(BIN)/python -m tests.benchmarks.recall

bench-curate: environment $(DEV) ## candidates a second through the curator, by store size (MEMORIES=1000,10000); the last line is JSON
	@$(BIN)/python -m tests.benchmarks.curate --sizes $(MEMORIES)

bench-import: environment $(DEV) ## memories a second through /v1/import, compared with the embedder alone; the last line is JSON
	@$(BIN)/python -m tests.benchmarks.imports

bench-serve: environment $(DEV) ## response times of the API, by store size (STORED=10000,100000); the last line is JSON
	@$(BIN)/python -m tests.benchmarks.serve --sizes $(STORED) $(if $(CHECK),--check)

bench-stages: environment $(DEV) ## resident memory of a worker of each stage and of the API, idle and under load; the last line is JSON
	@$(BIN)/python -m tests.benchmarks.stages

lock: environment ## write the lock files, keeping pinned versions (UPGRADE=1: newest versions)
	@deploy/lock.sh $(UV_VERSION) $(RUNTIME_LOCK) $(EXTRAS_LOCK) $(DEV_LOCK)

clean: ## remove the environment and caches; data in .memstream stays
	rm -rf $(VENV) *.egg-info build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: environment remake
remake:
environment:
	@deploy/setup.sh check

$(RUNTIME): $(RUNTIME_LOCK) pyproject.toml $(REMAKE) | environment
	@deploy/setup.sh install $(RUNTIME_LOCK)
	@touch $@

# The development lock holds the runtime lock's versions and more.
$(DEV): $(DEV_LOCK) pyproject.toml $(REMAKE) | environment
	@deploy/setup.sh install $(DEV_LOCK)
	@touch $(RUNTIME) $@

$(TRAINING)/.installed: $(TRAINING_LOCK) $(REMAKE) | $(DEV)
	$(BIN)/python -m venv --clear $(TRAINING)
	$(TRAINING)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r $(TRAINING_LOCK)
	$(BIN)/python -c 'import site; print(site.getsitepackages()[0])' \
		> "$$($(TRAINING)/bin/python -c 'import site; print(site.getsitepackages()[0])')/development.pth"
	@touch $@

$(QUIX)/.installed: $(QUIX_LOCK) $(REMAKE) | $(DEV)
	$(BIN)/python -m venv --clear $(QUIX)
	$(QUIX)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r $(QUIX_LOCK)
	@touch $@
