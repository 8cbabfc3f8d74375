# Every target installs what it needs; `make help` lists them.
.DEFAULT_GOAL := help
CHECKS = check-types check-architecture check-style check-pages
.PHONY: $(CHECKS) run install uninstall test test-live test-all read check fix bench accuracy latency golden record docs demo mutate help
BIN := .venv/bin
# Tests start hundreds of short processes: without cached bytecode each of them would compile all its imports.
unexport PYTHONDONTWRITEBYTECODE
# Where live tests are: every worker parses all files that it is given, and the others would cost it ten seconds.
LIVE = tests/live tests/unit/ops/docs/completions

run: ## install what is missing, start the daemon and show all panes
	@.ci/setup run
	@$(BIN)/visor up --demo-if-empty

install: ## put visor on PATH (~/.local/bin), with completion; make uninstall reverts it
	@.ci/setup run
	@.ci/install

uninstall: ## remove what make install made
	@.ci/install remove

demo: ## start a private tmux server with six sample panes
	@.ci/setup run
	@$(BIN)/visor demo

test: read check ## everything that needs only Python and tmux
	.ci/pytest -m "not live" --ignore tests/architecture -n 4 --dist worksteal $(ARGS)

test-live: ## tests that need further programs, and full sizes
	@.ci/setup live
	.ci/pytest $(LIVE) -m live -n 4 --dist loadfile $(ARGS)

test-all: ## both, with more property-test examples, as continuous integration runs them
	FUZZ=5 $(MAKE) test ARGS="-o timeout=600 $(ARGS)"
	$(MAKE) test-live

# Compile the tests once, while types are checked; otherwise every pytest worker compiles all of them.
read:
	@.ci/setup dev
	@$(BIN)/pytest --collect-only -p no:cacheprovider -m "not live" --ignore tests/architecture > /dev/null 2>&1 &

check: ## lint, format, types, import contracts, architecture, generated pages up to date
	@.ci/setup dev
	@$(MAKE) --no-print-directory -j 2 --output-sync $(CHECKS)

check-types:
	$(BIN)/mypy

# In one process: the workers of `make test` would each parse the whole source for these tests.
check-architecture:
	$(BIN)/pytest -q tests/architecture

check-style:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

check-pages:
	{ $(BIN)/python -m termvisor.ops.docs.reference_pages --check . && \
		$(BIN)/python -m tests.recordings.version_table --check; } || { echo "The generated pages are stale: run 'make docs'." >&2; exit 1; }

fix: ## let the tools repair what they can
	@.ci/setup dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: ## measure against the budgets; fails when one is missed; ARGS="rules chatty" for some
	@.ci/setup dev
	$(BIN)/python -m tests.bench.run $(ARGS)

accuracy: ## measure state recognition on recordings of the real agents; fails when a budget is missed
	@.ci/setup dev
	$(BIN)/python -m tests.accuracy.run

golden: ## rewrite the golden files and show what changed
	@.ci/setup dev
	GOLDEN=write $(BIN)/pytest tests/golden tests/unit/agents/adapters/test_recorded_versions.py tests/unit/workflows $(ARGS)
	git --no-pager diff --stat -- tests/golden tests/unit/workflows

record: ## record the real agents again; ARGS="-k codex" for one, AGENT=codex VERSION=0.142.5 for a released version
	@.ci/setup live
ifdef AGENT
	$(BIN)/python -m tests.live.versions.record $(AGENT) $(VERSION) $(ARGS)
else
	RECORD=1 $(BIN)/pytest -m live tests/live/agents/test_claude_code.py tests/live/agents/test_codex.py \
		tests/live/agents/test_other_agents.py $(ARGS)
	RECORD=1 $(BIN)/pytest -m live tests/live/test_near_misses.py $(ARGS)
endif
	git --no-pager diff --stat -- tests/recordings

latency: ## measure how soon the states of the real agents are known; a table, nothing fails
	@.ci/setup live
	$(BIN)/python -m tests.live.agents.latency

mutate: ## report small faults in the source of PKG=actions that no test notices; SEED=7, MINUTES=5
	@.ci/setup dev
	nice $(BIN)/python -m tests.mutation.run $(PKG) $(if $(SEED),--seed $(SEED)) $(if $(MINUTES),--minutes $(MINUTES))

docs: ## write the generated pages: docs/reference, docs/json-schema, the versions in docs/states.md
	@.ci/setup dev
	$(BIN)/python -m termvisor.ops.docs.reference_pages .
	$(BIN)/python -m tests.recordings.version_table

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1|/p' $(MAKEFILE_LIST) | while IFS='|' read -r name text; do printf '  make %-10s %s\n' "$$name" "$$text"; done
