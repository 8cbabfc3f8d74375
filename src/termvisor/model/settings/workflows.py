"""Settings of workflows. In `config.toml` they are in `[workflow]`."""

from typing import Annotated, get_args

from msgspec import Meta

from termvisor.model.settings.limits_and_compaction import LimitAndCompactionSettings
from termvisor.model.workflow.run import WorkflowMode

WORKFLOW_MODES: tuple[WorkflowMode, ...] = get_args(WorkflowMode)


class WorkflowSettings(LimitAndCompactionSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Extends the limit and compaction settings (a msgspec struct can have only one base)."""

    workflow_modes: Annotated[
        tuple[str, ...],
        Meta(
            description="Modes of workflows, each as `name=off`, `name=ask` or `name=on`; `*=off` is for all others."
            " With `ask` every action requires approval. Without an entry the workflow's own default applies, mostly"
            " `ask`.",
            extra={"keyed": True},
        ),
    ] = ()
    workflow_unstick_after: Annotated[
        float,
        Meta(
            description="Seconds without output, screen change or message after which a working agent counts as stuck;"
            " 0: never.",
            ge=0,
            le=86_400,
        ),
    ] = 600.0
    workflow_max_concurrent: Annotated[
        int, Meta(description="Maximum number of running workflows; waiting ones do not count.", ge=1, le=100)
    ] = 3


def resolve_workflow_mode(modes: tuple[str, ...], workflow: str, default: WorkflowMode) -> WorkflowMode:
    """Return the mode of the workflow's entry, else of the entry `*`, else the default."""
    mode_by_name = dict(entry.partition("=")[::2] for entry in modes)
    chosen = mode_by_name.get(workflow, mode_by_name.get("*", default))
    return next((mode for mode in WORKFLOW_MODES if mode == chosen), "off")


def find_mode_entry_problem(entry: str) -> str:
    """Return the problem of an entry of `workflow_modes`, or an empty string."""
    name, equals, mode = entry.partition("=")
    if not equals or not name:
        return "is not `name=mode`"
    return "" if mode in WORKFLOW_MODES else f"has no valid mode ({', '.join(WORKFLOW_MODES)})"
