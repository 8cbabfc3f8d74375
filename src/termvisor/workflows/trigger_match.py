"""Select the workflow that handles an event, by priority and then by name. Pure."""

from collections.abc import Callable, Iterable

from msgspec import Struct

from termvisor.clock import NS
from termvisor.model.detection.detection import Detection
from termvisor.model.event import Scalar
from termvisor.model.workflow.run import Run, WorkflowMode
from termvisor.workflows.workflow import Workflow


class WorkflowMatch(Struct, frozen=True):
    """The selected workflow; ``others`` matched too."""

    workflow: Workflow
    others: tuple[str, ...] = ()


def match_workflow(
    detection: Detection, workflows: Iterable[Workflow], get_mode: Callable[[str], WorkflowMode], now: int
) -> WorkflowMatch | None:
    """Return the workflow for an event; None if none matches, all are off, the event is too old or not trusted."""
    if not detection.can_start_workflow:
        return None
    age = (now - detection.at) / NS
    matching = [
        workflow
        for workflow in workflows
        if workflow.trigger.matches(detection)
        and age <= workflow.trigger.fresh_for
        and get_mode(workflow.name) != "off"
    ]
    ordered = sorted(matching, key=lambda workflow: (workflow.priority, workflow.name))
    return WorkflowMatch(ordered[0], tuple(workflow.name for workflow in ordered[1:])) if ordered else None


def build_run(detection: Detection, match: WorkflowMatch, mode: WorkflowMode, now: int) -> Run:
    """Build the run for an event; the store assigns its id."""
    extra: dict[str, Scalar] = {"also_fits": ", ".join(match.others)} if match.others else {}
    extra |= {name: detection.evidence[name] for name in ("resets_at",) if name in detection.evidence}
    return Run(
        workflow=match.workflow.name,
        version=match.workflow.version,
        origin="event",
        event=detection.event,
        pane=detection.pane,
        runtime=detection.runtime,
        agent=detection.agent,
        status="waiting",
        why="waiting for its turn",
        at=now,
        correlation=detection.correlation or f"event-{detection.event}",
        mode=mode,
        facts={**detection.captures, **extra},
    )
