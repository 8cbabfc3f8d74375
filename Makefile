# The habits of this repository. Every target sets up what it needs; `make help` lists them.
.DEFAULT_GOAL := help
.PHONY: run test test-live test-all read check fix bench accuracy latency golden record docs demo help
BIN := .venv/bin
# Tests start hundreds of short processes: where bytecode may not be kept, every one compiles all it imports anew.
unexport PYTHONDONTWRITEBYTECODE
# What failed beside others is tried once more alone: a machine that stood still fails nothing, a defect fails twice.
AGAIN = $(BIN)/pytest --last-failed --last-failed-no-failures none
# Where live tests stand: every worker reads all files that it is given, and the others would cost it ten seconds.
LIVE = tests/live tests/unit/ops/docs/completions

run: ## set up what is missing, start the daemon and show all panes
	@.ci/setup run
	@$(BIN)/visor up --demo-if-empty

demo: ## start a private tmux server with six lively panes to try things on
	@.ci/setup run
	@$(BIN)/visor demo

test: read check ## everything that needs only Python and tmux
	$(BIN)/pytest -m "not live" -n 4 --dist worksteal $(ARGS) || $(AGAIN) -m "not live" $(ARGS)

test-live: ## what needs further parts installed, and the full sizes
	@.ci/setup live
	$(BIN)/pytest $(LIVE) -m live -n 4 --dist loadfile $(ARGS) || $(AGAIN) $(LIVE) -m live $(ARGS)

test-all: ## both, with a longer search for what breaks a law, as continuous integration runs them
	FUZZ=5 $(MAKE) test ARGS="-o timeout=600 $(ARGS)"
	$(MAKE) test-live

# Each of several runners would compile all tests by itself; read before, while types are checked, they are compiled once.
read:
	@.ci/setup dev
	@$(BIN)/pytest --collect-only -p no:cacheprovider -m "not live" > /dev/null 2>&1 &

check: ## lint, format, types, import contracts, generated pages fresh
	@.ci/setup dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m termvisor.ops.docs.reference_pages --check . || { echo "The generated pages are stale: run 'make docs'." >&2; exit 1; }

fix: ## let the tools mend what they can
	@.ci/setup dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: ## measure against the budgets; fails when one is missed; ARGS="rules chatty" for some
	@.ci/setup dev
	$(BIN)/python -m tests.bench.run $(ARGS)

accuracy: ## how well agents' states are known, on recordings of the real programs; fails when a budget is missed
	@.ci/setup dev
	$(BIN)/python -m tests.accuracy.run

golden: ## write the golden files anew, on purpose, and show what changed
	@.ci/setup dev
	GOLDEN=write $(BIN)/pytest tests/golden tests/unit/agents/adapters/test_recorded_versions.py $(ARGS)
	git --no-pager diff --stat -- tests/golden

record: ## record the real agents' scenes anew, on purpose, and show what changed; ARGS="-k codex" for one
	@.ci/setup live
	RECORD=1 $(BIN)/pytest -m live tests/live/agents/test_claude_code.py tests/live/agents/test_codex.py \
		tests/live/agents/test_other_agents.py $(ARGS)
	RECORD=1 $(BIN)/pytest -m live tests/live/test_near_misses.py $(ARGS)
	git --no-pager diff --stat -- tests/recordings

latency: ## how long the real agents' changes take to be their states here; a table, nothing fails
	@.ci/setup live
	$(BIN)/python -m tests.live.agents.latency

docs: ## write the generated pages: docs/reference and docs/json-schema
	@.ci/setup dev
	$(BIN)/python -m termvisor.ops.docs.reference_pages .

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1|/p' $(MAKEFILE_LIST) | while IFS='|' read -r name text; do printf '  make %-10s %s\n' "$$name" "$$text"; done
