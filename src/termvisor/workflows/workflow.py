"""What a workflow is: a name, what starts it, and an ordinary async function that wants things of a Context.

One file is one workflow: a module in `workflow/builtin/`, listed in `BUILTIN`, that holds ``WORKFLOW = Workflow(…)``;
or an entry point of the kind `termvisor.workflows` that leads to such a value; or a file of steps (see `document`).
Change ``version`` whenever the function asks for other things or in another order: a run goes on only with the version
that it began with.
"""

from collections.abc import Awaitable, Callable
from fnmatch import fnmatchcase
from importlib import import_module

from msgspec import Struct
from msgspec.structs import replace

from termvisor.log import get_logger
from termvisor.model.detection.detection import Detection
from termvisor.model.detection.rule import Severity
from termvisor.model.workflow.info import WorkflowReference
from termvisor.model.workflow.run import WorkflowMode
from termvisor.plugins import read_plugins
from termvisor.redaction import redact
from termvisor.workflows.context import Context

log = get_logger("workflow")
WorkflowFunction = Callable[[Context], Awaitable[str | None]]
"""What a run does; the text that it gives back says for a person how it ended."""
SEVERITY_ORDER: tuple[Severity, ...] = ("info", "warning", "error", "critical")
BUILTIN: tuple[str, ...] = (
    "answer_permission",
    "handle_auth_required",
    "handle_compaction",
    "handle_session_end",
    "handle_usage_limits",
    "restart_crashed",
    "unstick",
)
"""Modules of `termvisor.workflows.builtin`, by name."""


class Trigger(Struct, frozen=True, kw_only=True):
    """Which events start it; all that is given must fit. Without events it is started by people and programs only."""

    events: tuple[str, ...] = ()
    """Types such as `session.compaction`; `usage.*` means all of those."""
    agents: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    severity: Severity = "info"
    """At least this one."""
    fresh_for: float = 600.0
    """Seconds after which an event is too old to be answered."""

    def matches(self, detection: Detection) -> bool:
        is_severe = SEVERITY_ORDER.index(detection.severity) >= SEVERITY_ORDER.index(self.severity)
        return (
            is_severe
            and any(fnmatchcase(detection.type, one) for one in self.events)
            and (not self.agents or detection.agent in self.agents)
            and (not self.rules or any(fnmatchcase(detection.rule, one) for one in self.rules))
        )


class Workflow(Struct, frozen=True, kw_only=True):
    """``run`` does it; ``cleanup`` is done once at every end, also after a failure or a cancel."""

    name: str
    version: int = 1
    summary: str
    trigger: Trigger = Trigger()
    priority: int = 100
    """Of those that fit an event, the lowest number answers it; names decide a tie."""
    mode: WorkflowMode = "ask"
    """Where the settings say nothing of it."""
    timeout: float = 3600.0
    """Seconds of work in all its steps; waiting for people and for a time does not count."""
    takes_pane: bool = True
    """It acts on its pane, so no other run does meanwhile."""
    outlives_agent: bool = False
    """It goes on when the agent in its pane ends; others are cancelled then."""
    outlives_pane: bool = False
    """It goes on when its pane is gone; others are cancelled then."""
    run: WorkflowFunction
    cleanup: WorkflowFunction | None = None
    origin: str = "built-in"
    """Where it comes from: `built-in`, a package's entry point, or a file."""
    steps: tuple[str, ...] = ()
    """What it does, step by step, for people; of a file these are its steps."""
    names: tuple[WorkflowReference, ...] = ()
    """The events, agents and rules that a file speaks of."""


def load_installed_workflows() -> tuple[list[Workflow], dict[str, str]]:
    """The built-in ones and those of other packages; and by entry point why one is left out, as the log says too."""
    own = [import_module(f"termvisor.workflows.builtin.{name}").WORKFLOW for name in BUILTIN]
    found = {one.name: one for one in own}
    values, broken = read_plugins("workflows")
    troubles = {name: f"it cannot be loaded: {redact(why)}" for name, why in broken.items()}
    for name, value in values.items():
        if isinstance(value, Workflow) and value.name not in found:
            found[value.name] = replace(value, origin=f"entry point {name}")
        else:
            troubles[name] = _describe_rejection(value)
    for name, why in troubles.items():
        log.error("the workflow %s is not taken: %s", name, why)
    return list(found.values()), troubles


def _describe_rejection(value: object) -> str:
    return f"its name {value.name} is taken" if isinstance(value, Workflow) else "it is no Workflow"
