"""For each built-in workflow: what happens in a pane, and the expected result without crashes."""

from typing import NamedTuple


class ScenarioCue(NamedTuple):
    """A cue to send when the run reaches its nth step of this kind."""

    kind: str
    nth: int
    cue: str
    is_over: bool = False
    """Send the cue at the end of that step instead of its start."""


class WorkflowScenario(NamedTuple):
    """``cue`` starts the scenario. ``next_cues`` are sent while the run waits for them, so that it cannot miss them."""

    workflow: str
    cue: str
    next_cues: tuple[ScenarioCue, ...] = ()
    status: str = "completed"
    expected_input: str = ""
    """Text that the fake agent must receive once."""
    expected_starts: int = 1
    """How often the fake agent was started."""
    has_no_answers: bool = False
    """Its requests are never answered."""
    is_resumed: bool = False
    """A user resumes it when it pauses."""
    event: str = ""
    """Event of the run that counts, if two events report the same thing and the other run yields."""
    failure_state: str = ""
    """The state in which the daemon will consider the agent stuck."""


SCENARIOS = (
    WorkflowScenario(
        workflow="handle_compaction",
        cue="compact",
        next_cues=(ScenarioCue("wait_for", 2, "finish", is_over=True),),
        expected_input="Please re-read AGENTS.md and any key project context files.",
    ),
    WorkflowScenario(
        workflow="handle_usage_limits",
        cue="limit in 2 hours",
        next_cues=(ScenarioCue("wait_for", 2, "finish"),),
        expected_input="proceed.",
        is_resumed=True,
    ),
    WorkflowScenario(
        workflow="handle_auth_required",
        cue="login ABCD-12345",
        next_cues=(ScenarioCue("ask_person", 1, "welcome"),),
        has_no_answers=True,
        event="auth.device_code",
    ),
    WorkflowScenario(workflow="handle_session_end", cue="leave"),
    WorkflowScenario(workflow="restart_crashed", cue="crash", expected_starts=2),
    WorkflowScenario(
        workflow="unstick",
        cue="work",
        next_cues=(ScenarioCue("wait_for", 1, "finish"),),
        expected_input="You have shown no progress for",
        failure_state="running",
    ),
    WorkflowScenario(
        workflow="answer_permission", cue="permission touch here", expected_input="y", failure_state="waiting_approval"
    ),
)
