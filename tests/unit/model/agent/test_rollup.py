"""Many agents in one line."""

from termvisor.model.agent.rollup import rollup
from tests.unit.agents.state.scene import says, state, working

WAITING = state(2, says(1, "hook", "waiting_approval"))
RUNNING = state(2, says(1, "hook", "running"), agent="codex")
IDLE = state(2, says(1, "registry", "idle"))
UNKNOWN = state(2)
NOBODY = state(9, working(1), says(3, "screen", kind="no_agent"), says(4, "screen", kind="no_agent"))


def test_what_matters_most_speaks_for_a_window() -> None:
    found = rollup([IDLE, RUNNING, WAITING, RUNNING, UNKNOWN])
    assert (found.top, found.total, found.waiting, found.running) == ("waiting_approval", 5, 1, 2)
    assert list(found.by_state.items()) == [("waiting_approval", 1), ("running", 2), ("idle", 1), ("unknown", 1)]
    assert found.by_agent == {"claude_code": 3, "codex": 2}
    assert found.needs_action == 1


def test_panes_without_an_agent_do_not_count() -> None:
    assert (rollup([NOBODY]).total, rollup([NOBODY]).top) == (0, "unknown")


def test_unknown_is_never_summed_up_as_idle() -> None:
    assert rollup([UNKNOWN, UNKNOWN]).top == "unknown"
