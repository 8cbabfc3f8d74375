"""The settings that say what workflows may do. In `config.toml` they stand in `[workflow]`."""

from typing import Annotated, get_args

from msgspec import Meta

from termvisor.model.settings.limits_and_compaction import LimitAndCompactionSettings
from termvisor.model.workflow.run import WorkflowMode

WORKFLOW_MODES: tuple[WorkflowMode, ...] = get_args(WorkflowMode)


class WorkflowSettings(LimitAndCompactionSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A struct has one line of ancestors: those of remedies come before."""

    workflow_modes: Annotated[
        tuple[str, ...],
        Meta(
            description="What workflows may do, each as `name=off`, `name=ask` or `name=on`; `*=off` is for all others."
            " `ask` asks a person about every action. Without an entry it is as the workflow itself says, mostly"
            " `ask`.",
            extra={"keyed": True},
        ),
    ] = ()
    workflow_unstick_after: Annotated[
        float,
        Meta(
            description="Seconds without anything new from an agent that is said to work, after which it counts as"
            " stuck; 0: never.",
            ge=0,
            le=86_400,
        ),
    ] = 600.0
    workflow_max_concurrent: Annotated[
        int, Meta(description="How many runs of workflows work at once; those that wait do not count.", ge=1, le=100)
    ] = 3


def resolve_workflow_mode(modes: tuple[str, ...], workflow: str, default: WorkflowMode) -> WorkflowMode:
    """The entry of its name, else that of all, else what is usual."""
    given = dict(entry.partition("=")[::2] for entry in modes)
    found = given.get(workflow, given.get("*", default))
    return next((mode for mode in WORKFLOW_MODES if mode == found), "off")


def find_mode_entry_problem(entry: str) -> str:
    """Why an entry says nothing; empty where it does."""
    name, equals, mode = entry.partition("=")
    if not equals or not name:
        return "is not `name=mode`"
    return "" if mode in WORKFLOW_MODES else f"names no mode: {', '.join(WORKFLOW_MODES)}"
