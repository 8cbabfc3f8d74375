"""Which workflow answers an event: one, by priority and then by name. Pure."""

from collections.abc import Callable, Iterable

from msgspec import Struct

from termvisor.clock import NS
from termvisor.model.detection.detection import Detection
from termvisor.model.event import Scalar
from termvisor.model.workflow.run import Run, WorkflowMode
from termvisor.workflows.workflow import Workflow


class WorkflowMatch(Struct, frozen=True):
    """``others`` would have answered it too."""

    workflow: Workflow
    others: tuple[str, ...] = ()


def match_workflow(
    detection: Detection, workflows: Iterable[Workflow], get_mode: Callable[[str], WorkflowMode], now: int
) -> WorkflowMatch | None:
    """None where nothing answers it: none fits, all that fit are off, it is too old, or anybody could have said it."""
    if not detection.can_start_workflow:
        return None
    age = (now - detection.at) / NS
    fitting = [
        one
        for one in workflows
        if one.trigger.matches(detection) and age <= one.trigger.fresh_for and get_mode(one.name) != "off"
    ]
    ordered = sorted(fitting, key=lambda one: (one.priority, one.name))
    return WorkflowMatch(ordered[0], tuple(one.name for one in ordered[1:])) if ordered else None


def build_run(detection: Detection, match: WorkflowMatch, mode: WorkflowMode, now: int) -> Run:
    """The run that answers an event, before it has a number."""
    also: dict[str, Scalar] = {"also_fits": ", ".join(match.others)} if match.others else {}
    also |= {name: detection.evidence[name] for name in ("resets_at",) if name in detection.evidence}
    return Run(
        workflow=match.workflow.name,
        version=match.workflow.version,
        origin="event",
        event=detection.event,
        pane=detection.pane,
        runtime=detection.runtime,
        agent=detection.agent,
        status="waiting",
        why="it waits for its turn",
        at=now,
        correlation=detection.correlation or f"event-{detection.event}",
        mode=mode,
        facts={**detection.captures, **also},
    )
