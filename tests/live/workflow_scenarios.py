"""What happens in a pane that each built-in workflow answers, and what must come of it when nobody disturbs."""

from typing import NamedTuple


class ScenarioCue(NamedTuple):
    """A cue for when the run has come to its nth step of this kind."""

    kind: str
    nth: int
    cue: str
    is_over: bool = False
    """When that step is over, not when it begins."""


class WorkflowScenario(NamedTuple):
    """``cue`` starts it all. What the run waits for happens when it waits for it, so that it always sees it."""

    workflow: str
    cue: str
    next_cues: tuple[ScenarioCue, ...] = ()
    status: str = "completed"
    expected_input: str = ""
    """What must have arrived at the understudy, once."""
    expected_starts: int = 1
    """How many understudies there were in the end."""
    has_no_answers: bool = False
    """Nobody answers its questions."""
    is_resumed: bool = False
    """A person has it go on when it pauses."""
    event: str = ""
    """What its run answers, where the same thing is told in two ways, and the other run leaves it to this one."""
    failure_state: str = ""
    """The state in which the daemon finds the agent to be in trouble, by and by."""


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
