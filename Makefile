PYTHON ?= python3
KIND ?= scan
CONFIG ?= exporter.yaml
RUN := .venv/bin/python -m

.DEFAULT_GOAL := help
.PHONY: help demo run test test-slow test-lowest coverage check lint types docs test-chart chart incidents bench lock package collector clean

help: ## List all targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-11s  %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: .venv/installed ## Run the exporter on a simulated network: http://localhost:10066/
	@.venv/bin/canton-exporter demo

run: .venv/installed ## Run the exporter on your nodes: make run CONFIG=exporter.yaml
	@.venv/bin/canton-exporter --config.file=$(CONFIG)

test: .venv/installed ## Run the tests, but for slow ones: the demo, and rules over days
	@$(RUN) pytest -n auto --dist worksteal -m "not slow"

test-slow: .venv/installed ## Run the slow tests
	@$(RUN) pytest -m slow

test-lowest: .venv/lowest/installed ## Run the tests of what uses dependencies, on the lowest versions allowed
	@.venv/lowest/bin/python -m pytest -n auto --dist worksteal -m "not slow" -p no:cacheprovider tests/node tests/scheduling \
	  tests/config tests/exposition tests/metrics tests/web tests/test_every_collector.py

coverage: .venv/installed ## Run all tests and list the lines that none of them reaches
	@$(RUN) pytest -n auto --dist worksteal --cov=exporter --cov-report=term:skip-covered

check: test test-slow lint types ## Check tests, style, imports, types, generated files (CI checks more: .ci/run)
	@.venv/bin/python -m tools.generate --check

lint: .venv/installed ## Check style, and that imports point down only
	@$(RUN) ruff check . && $(RUN) ruff format --check . && .venv/bin/lint-imports

types: .venv/installed ## Check types
	@$(RUN) mypy

docs: .venv/installed ## Write all generated files: references, pages, example, rules, dashboards, chart
	@.venv/bin/python -m tools.generate

collector: .venv/installed ## Start a collector: make collector NAME=my_collector KIND=scan ROUTE=/v0/dso
	@$(RUN) tools.new_collector $(NAME) $(KIND) $(ROUTE)
	@$(RUN) ruff format -q . && $(RUN) tools.generate && $(RUN) tools.left_to_do

test-chart: .venv/chart ## Run the tests of the Helm chart, which need the real engine (100 MB)
	@$(RUN) pytest -n auto tests/chart

chart: .venv/chart ## Package the Helm chart into dist/
	@$(RUN) tools.chart_package

incidents: .venv/installed ## Play incidents against a real Prometheus: make incidents ONLY="node-down restart"
	@.venv/bin/python -m incidents $(ONLY)

bench: .venv/installed ## Measure speed, as ratios within one run: make bench ONLY="watches counting"
	@.venv/bin/python -m benchmarks $(ONLY)

lock: .venv/installed ## Lock the versions of everything, with hashes
	@.venv/bin/uv pip compile -q --universal --generate-hashes --no-header --no-annotate --python-version 3.11 pyproject.toml --group dev -o requirements/dev.txt
	@.venv/bin/uv pip compile -q --universal --generate-hashes --no-header --no-annotate --python-version 3.11 pyproject.toml -c requirements/dev.txt -o requirements/run.txt
	@.venv/bin/uv pip compile -q --universal --generate-hashes --no-header --no-annotate --python-version 3.11 --group chart -c requirements/dev.txt -o requirements/chart.txt
	@.venv/bin/uv pip compile -q --universal --generate-hashes --no-header --no-annotate --python-version 3.11 --group build -c requirements/dev.txt -o requirements/build.txt

package: .venv/installed ## Build the wheel into dist/
	@$(RUN) pip wheel -q --no-deps --no-build-isolation -w dist .

clean: ## Remove what was made
	rm -rf .venv dist .coverage .mypy_cache .pytest_cache .ruff_cache .import_linter_cache

# The stamp is written last: what was broken off is made again. Nothing is asked of the network while it stands.
.venv/installed: requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; name one with make PYTHON=...")'
	@echo "Setting up .venv, once"
	@$(PYTHON) -m venv .venv
	@$(RUN) pip install -q --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@$(RUN) pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

# The lowest versions of what pyproject.toml names, with what those need, and the tools of tests as they are locked.
.venv/lowest/installed: .venv/installed
	@rm -rf .venv/lowest && $(PYTHON) -m venv .venv/lowest
	@.venv/bin/uv pip compile -q --resolution lowest-direct --python .venv/lowest/bin/python pyproject.toml -o .venv/lowest/lowest.txt
	@.venv/bin/uv pip compile -q --python .venv/lowest/bin/python pyproject.toml --group dev -c .venv/lowest/lowest.txt -o .venv/lowest/all.txt
	@.venv/bin/uv pip install -q --python .venv/lowest/bin/python -r .venv/lowest/all.txt
	@.venv/bin/uv pip install -q --python .venv/lowest/bin/python --no-deps --no-build-isolation -e .
	@touch $@

.venv/chart: requirements/chart.txt .venv/installed
	@$(RUN) pip install -q --disable-pip-version-check --require-hashes -r requirements/chart.txt
	@touch $@
