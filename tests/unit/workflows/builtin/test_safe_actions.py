"""What stands against an act says who has the pane."""

import pytest

from termvisor.errors import Conflict, MuxError, NotDone
from termvisor.testing.runs import Scene
from termvisor.workflows.builtin import safe_actions as caution
from termvisor.workflows.calls import Deed, SendTo
from termvisor.workflows.workflow import Workflow
from tests.unit.workflows.engine.test_engine import asked_for
from tests.unit.workflows.living import ended, living


async def looks(context) -> None:
    await context.note("looked")


async def acts(context) -> str:
    return (await caution.act(context, SendTo(text="hello"), looks)).status


async def run_with(*errors):
    scene = Scene(Workflow(name="refresh", summary="", run=acts))
    scene.hands.errors = list(errors)
    async with living(scene) as engine:
        await engine.begin(asked_for(scene))
        return await ended(scene), scene


async def test_what_passes_is_tried_again_and_looked_at_again():
    run, scene = await run_with(MuxError("busy"), MuxError("busy"))
    assert (run.status, len(scene.hands.done)) == ("completed", 1)
    assert [step.kind for step in scene.runs.journal[1].values()].count("note") == 3


@pytest.mark.parametrize(
    ("why", "status", "words"),
    [
        ("human_typing", "cancelled", "a person has the pane"),
        ("unknown_screen", "cancelled", "another program has the screen"),
        ("dialog_open", "failed", "it was refused"),
    ],
)
async def test_what_does_not_pass_ends_it_at_once(why, status, words):
    run, scene = await run_with(Conflict("it was refused", details={"why": why}))
    assert (run.status, scene.hands.done) == (status, [])
    assert words in run.why


async def test_what_does_not_pass_in_time_fails():
    run, scene = await run_with(*(MuxError("busy") for _ in range(4)))
    assert (run.status, run.why, scene.hands.done) == ("failed", "busy", [])


@pytest.mark.parametrize("status", ["unknown", "typed_not_submitted"])
def test_a_text_of_which_nothing_is_known_is_no_ground_to_build_on(status):
    with pytest.raises(NotDone, match="not known whether it was taken"):
        caution.sure(Deed(status=status, why="not_seen", text="it was never seen"))


def test_a_text_that_arrived_is():
    caution.sure(Deed(status="delivered"))
