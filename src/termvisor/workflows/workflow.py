"""The definition of a workflow: its name, its trigger, and an async function that takes a ``Context``.

A workflow is a module in `workflows/builtin/`, listed in `BUILTIN`, with ``WORKFLOW = Workflow(…)``; an entry point in
the group `termvisor.workflows` with such a value; or a YAML or TOML file (see `files.loader`). Increase ``version``
whenever the function's calls or their order change, because a run continues only with the version it started with.
"""

from collections.abc import Awaitable, Callable
from fnmatch import fnmatchcase
from importlib import import_module

from msgspec import Struct
from msgspec.structs import replace

from termvisor.log import get_logger
from termvisor.model.detection.detection import Detection
from termvisor.model.detection.rule import Severity
from termvisor.model.workflow import WorkflowMode, WorkflowReference
from termvisor.plugins import read_plugins
from termvisor.redaction import redact
from termvisor.workflows.context import Context

log = get_logger("workflow")
WorkflowFunction = Callable[[Context], Awaitable[str | None]]
"""The work of a run. The returned text describes the result to people."""
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
"""Names of the modules in `termvisor.workflows.builtin`."""


class Trigger(Struct, frozen=True, kw_only=True):
    """The events that start a workflow. All given fields must match. Without events it starts only on request."""

    events: tuple[str, ...] = ()
    """Event types such as `session.compaction`. Patterns such as `usage.*` are allowed."""
    agents: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    severity: Severity = "info"
    """The minimum severity."""
    fresh_for: float = 600.0
    """Seconds after which an event is too old to start a run."""

    def matches(self, detection: Detection) -> bool:
        is_severe = SEVERITY_ORDER.index(detection.severity) >= SEVERITY_ORDER.index(self.severity)
        return (
            is_severe
            and any(fnmatchcase(detection.type, pattern) for pattern in self.events)
            and (not self.agents or detection.agent in self.agents)
            and (not self.rules or any(fnmatchcase(detection.rule, pattern) for pattern in self.rules))
        )


class Workflow(Struct, frozen=True, kw_only=True):
    """``run`` is the work. ``cleanup`` runs once at the end, even after a failure or a cancellation."""

    name: str
    version: int = 1
    summary: str
    trigger: Trigger = Trigger()
    priority: int = 100
    """If several workflows match an event, the one with the lowest number runs. Ties are broken by name."""
    mode: WorkflowMode = "ask"
    """The mode if the settings do not set one."""
    timeout: float = 3600.0
    """Maximum seconds of work in all steps, not counting waits for people or for a time."""
    takes_pane: bool = True
    """Lock the pane against other runs while a run is open."""
    outlives_agent: bool = False
    """Continue when the agent in the pane exits, instead of being cancelled."""
    outlives_pane: bool = False
    """Continue when the pane is gone, instead of being cancelled."""
    run: WorkflowFunction
    cleanup: WorkflowFunction | None = None
    origin: str = "built-in"
    """`built-in`, a package's entry point, or the path of a file."""
    steps: tuple[str, ...] = ()
    """A description of the steps for people; for a file, the steps themselves."""
    names: tuple[WorkflowReference, ...] = ()
    """The events, agents and rules that a file refers to."""


def load_installed_workflows() -> tuple[list[Workflow], dict[str, str]]:
    """Return the built-in and third-party workflows, and the problems (also logged) by entry point."""
    # Import by name, so that the built-in modules can import this module.
    builtin = [import_module(f"termvisor.workflows.builtin.{name}").WORKFLOW for name in BUILTIN]
    workflows = {workflow.name: workflow for workflow in builtin}
    values, broken = read_plugins("workflows")
    problems = {name: f"it cannot be loaded: {redact(why)}" for name, why in broken.items()}
    for name, value in values.items():
        if not isinstance(value, Workflow):
            problems[name] = "it is not a Workflow"
        # A package must not silently replace a built-in workflow or another package's workflow.
        elif value.name in workflows:
            problems[name] = f"the name {value.name} is already used"
        else:
            workflows[value.name] = replace(value, origin=f"entry point {name}")
    for name, why in problems.items():
        log.error("the workflow of entry point %s was not loaded: %s", name, why)
    return list(workflows.values()), problems
