"""Which workflow answers an event: one, by priority and then by name. Pure."""

from collections.abc import Callable, Iterable

from msgspec import Struct

from termvisor.clock import NS
from termvisor.model.detection.detection import Detection
from termvisor.model.event import Scalar
from termvisor.model.workflow.run import Mode, Run
from termvisor.workflows.workflow import Workflow


class Chosen(Struct, frozen=True):
    """``others`` would have answered it too."""

    workflow: Workflow
    others: tuple[str, ...] = ()


def choose(found: Detection, shelf: Iterable[Workflow], mode_of: Callable[[str], Mode], now: int) -> Chosen | None:
    """None where nothing answers it: none fits, all that fit are off, it is too old, or anybody could have said it."""
    if not found.may_start:
        return None
    age = (now - found.at) / NS
    fitting = [
        one for one in shelf if one.trigger.fits(found) and age <= one.trigger.fresh_for and mode_of(one.name) != "off"
    ]
    ordered = sorted(fitting, key=lambda one: (one.priority, one.name))
    return Chosen(ordered[0], tuple(one.name for one in ordered[1:])) if ordered else None


def run_for(found: Detection, chosen: Chosen, mode: Mode, now: int) -> Run:
    """The run that answers an event, before it has a number."""
    also: dict[str, Scalar] = {"also_fits": ", ".join(chosen.others)} if chosen.others else {}
    also |= {name: found.evidence[name] for name in ("resets_at",) if name in found.evidence}
    return Run(
        workflow=chosen.workflow.name,
        version=chosen.workflow.version,
        origin="event",
        event=found.event,
        pane=found.pane,
        runtime=found.runtime,
        agent=found.agent,
        status="waiting",
        why="it waits for its turn",
        at=now,
        correlation=found.correlation or f"event-{found.event}",
        mode=mode,
        facts={**found.captures, **also},
    )
