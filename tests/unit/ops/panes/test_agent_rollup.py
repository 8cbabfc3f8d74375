"""Summary of many agents."""

from termvisor.ops.panes._rollup import summarize_states
from tests.unit.agents.state.signal_scene import build_signal, build_working_screens, compute_state_after

WAITING = compute_state_after(2, build_signal(1, "hook", "waiting_approval"))
RUNNING = compute_state_after(2, build_signal(1, "hook", "running"), agent="codex")
IDLE = compute_state_after(2, build_signal(1, "registry", "idle"))
UNKNOWN = compute_state_after(2)
NOBODY = compute_state_after(
    9, build_working_screens(1), build_signal(3, "screen", kind="no_agent"), build_signal(4, "screen", kind="no_agent")
)


def test_the_most_important_state_is_on_top() -> None:
    found = summarize_states([IDLE, RUNNING, WAITING, RUNNING, UNKNOWN])
    assert (found.top, found.total, found.waiting, found.running) == ("waiting_approval", 5, 1, 2)
    assert list(found.by_state.items()) == [("waiting_approval", 1), ("running", 2), ("idle", 1), ("unknown", 1)]
    assert found.by_agent == {"claude_code": 3, "codex": 2}
    assert found.needs_action == 1


def test_panes_without_an_agent_do_not_count() -> None:
    assert (summarize_states([NOBODY]).total, summarize_states([NOBODY]).top) == (0, "unknown")


def test_unknown_is_never_summed_up_as_idle() -> None:
    assert summarize_states([UNKNOWN, UNKNOWN]).top == "unknown"
