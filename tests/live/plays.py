"""What happens in a pane that each built-in workflow answers, and what must come of it when nobody disturbs."""

from typing import NamedTuple


class Then(NamedTuple):
    """A cue for when the run has come to its nth step of this kind."""

    kind: str
    nth: int
    cue: str
    is_over: bool = False
    """When that step is over, not when it begins."""


class Play(NamedTuple):
    """``cue`` starts it all. What the run waits for happens when it waits for it, so that it always sees it."""

    workflow: str
    cue: str
    then: tuple[Then, ...] = ()
    status: str = "completed"
    typed: str = ""
    """What must have arrived at the understudy, once."""
    started: int = 1
    """How many understudies there were in the end."""
    is_silent: bool = False
    """Nobody answers its questions."""
    is_resumed: bool = False
    """A person has it go on when it pauses."""
    event: str = ""
    """What its run answers, where the same thing is told in two ways, and the other run leaves it to this one."""
    minded: str = ""
    """The state in which the daemon finds the agent to be in trouble, by and by."""


PLAYS = (
    Play(
        workflow="handle_compaction",
        cue="compact",
        then=(Then("wait_for", 2, "finish", is_over=True),),
        typed="Please re-read AGENTS.md and any key project context files.",
    ),
    Play(
        workflow="handle_usage_limits",
        cue="limit in 2 hours",
        then=(Then("wait_for", 2, "finish"),),
        typed="proceed.",
        is_resumed=True,
    ),
    Play(
        workflow="handle_auth_required",
        cue="login ABCD-12345",
        then=(Then("ask_person", 1, "welcome"),),
        is_silent=True,
        event="auth.device_code",
    ),
    Play(workflow="handle_session_end", cue="leave"),
    Play(workflow="restart_crashed", cue="crash", started=2),
    Play(
        workflow="unstick",
        cue="work",
        then=(Then("wait_for", 1, "finish"),),
        typed="You have shown no progress for",
        minded="running",
    ),
    Play(workflow="answer_permission", cue="permission touch here", typed="y", minded="waiting_approval"),
)
