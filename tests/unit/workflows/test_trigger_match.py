"""Selection of the workflow for an event."""

import pytest

from termvisor.clock import NS
from termvisor.model.detection.detection import Detection
from termvisor.model.ids import EventId, PaneId
from termvisor.workflows.trigger_match import build_run, match_workflow
from termvisor.workflows.workflow import Trigger, Workflow

NOW = 1000 * NS


def found(**more) -> Detection:
    known = {"event": EventId(7), "at": NOW, "type": "usage.reached", "rule": "codex.usage.reached", "pane": PaneId(3)}
    return Detection(source="stream", **(known | more))


def workflow(name: str, **trigger) -> Workflow:
    async def run(_context) -> None:
        return None

    priority = trigger.pop("priority", 100)
    events = trigger.pop("events", ("usage.*",))
    return Workflow(name=name, summary="", run=run, priority=priority, trigger=Trigger(events=events, **trigger))


def on(_name: str) -> str:
    return "on"


def test_the_lowest_priority_wins_then_the_name_and_the_others_are_noted():
    shelf = [workflow("c"), workflow("b"), workflow("z", priority=1)]
    chosen = match_workflow(found(), shelf, on, NOW)
    assert (chosen.workflow.name, chosen.others) == ("z", ("b", "c"))


@pytest.mark.parametrize(
    "trigger",
    [
        {"events": ()},
        {"events": ("session.*",)},
        {"agents": ("claude_code",)},
        {"rules": ("claude.*",)},
        {"severity": "error"},
    ],
)
def test_a_workflow_that_does_not_match_is_not_chosen(trigger):
    assert match_workflow(found(agent="codex", severity="warning"), [workflow("a", **trigger)], on, NOW) is None


def test_an_old_event_an_unproven_one_and_a_workflow_that_is_off_start_nothing():
    shelf = [workflow("a", fresh_for=60.0)]
    assert match_workflow(found(at=NOW - 61 * NS), shelf, on, NOW) is None
    assert match_workflow(found(evidence={"proven": False}), shelf, on, NOW) is None
    assert match_workflow(found(), shelf, lambda _name: "off", NOW) is None


def test_a_run_knows_its_event_and_what_was_captured():
    told = found(captures={"try_again_at": "3 PM"}, evidence={"resets_at": 5}, agent="codex")
    run = build_run(told, match_workflow(told, [workflow("a"), workflow("b")], on, NOW), "ask", NOW)
    assert (run.event, run.pane, run.agent, run.mode) == (7, 3, "codex", "ask")
    assert run.facts == {"try_again_at": "3 PM", "also_fits": "b", "resets_at": 5}
