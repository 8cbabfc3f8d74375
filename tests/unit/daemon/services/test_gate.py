"""The gate of one caller, with real panes."""

import pytest
from msgspec.structs import replace

from termvisor.errors import Conflict, NeedsApproval
from termvisor.model.action.action import Actor, SendText
from termvisor.model.action.audit import AuditFilter
from termvisor.model.action.preconditions import Preconditions
from termvisor.testing.private_tmux import make_short_folder
from tests.unit.actions.gate_scene import open_gate_scene

ROBOT = Actor(kind="robot", uid=1000, pid=1)


@pytest.fixture
async def scene():
    with make_short_folder() as folder:
        async with open_gate_scene(folder) as opened:
            yield opened


async def test_a_robot_request_is_approved_executed_and_logged(scene):
    mux_id, pane = await scene.start_bash()
    robot, person = (
        scene.services.bind_caller(actor).gate for actor in (ROBOT, Actor(kind="human", uid=1000, pid=2**22 + 5))
    )
    action = SendText(pane=pane, text="true by-a-robot")
    preview = await robot.preview(action, Preconditions())
    assert (preview.verdict.answer, preview.refused) == ("ask", "")
    with pytest.raises(NeedsApproval) as asked:
        await robot.run(action, Preconditions())
    (question,) = await person.approvals.list()
    assert question.id == asked.value.details["question"] and question.shown["text"] == "true by-a-robot"
    await person.approvals.answer(question.id, "allow", is_lasting=True)
    assert (await robot.run(action, Preconditions())).status == "delivered"
    assert "true by-a-robot" in scene.capture_screen(mux_id)
    stages = [(one.stage, one.actor.kind) for one in await person.audit.list(filters=AuditFilter(pane=pane))]
    assert stages == [("asked", "robot"), ("answered", "human"), ("intent", "robot"), ("outcome", "robot")]
    assert await person.audit.verify() is None
    (permit,) = await person.approvals.list_permits()
    assert await person.approvals.revoke_permit(permit.id) and await person.approvals.list_permits() == ()


async def test_services_bound_again_act_for_the_new_caller_only(scene):
    first = scene.services.bind_caller(Actor(kind="human", uid=1000, pid=2**22 + 5))
    assert first.gate.actor.kind == "human"
    second = first.bind_caller(ROBOT)
    assert (second.gate.actor.kind, first.gate.actor.kind) == ("robot", "human")


async def test_a_reserved_pane_is_usable_by_its_owner_only(scene):
    _, pane = await scene.start_bash()
    gate = scene.services.bind_caller(replace(ROBOT, kind="human")).gate
    held = await gate.reservations.reserve(pane, "ann", 60)
    with pytest.raises(Conflict, match="reserved by ann"):
        await gate.reservations.reserve(pane, "bob", 60)
    with pytest.raises(Conflict, match="reserved by ann"):
        await gate.run(SendText(pane=pane, text="true"), Preconditions(owner="bob"))
    assert [one.owner for one in await gate.reservations.list()] == ["ann"]
    assert await gate.reservations.release(held.id)
    assert (await gate.run(SendText(pane=pane, text="true"), Preconditions(owner="bob"))).status == "delivered"


async def test_a_caller_is_identified_by_its_terminal(scene):
    _, pane = await scene.start_bash()
    facts = next(view.facts for view in await scene.services.panes.list_panes() if view.id == pane)
    assert scene.services.bind_caller(Actor(kind="human", uid=1000, pid=facts.pid)).gate.actor.pane == pane


async def test_without_a_file_the_default_policy_applies(scene):
    policy, problem = scene.services.bind_caller(ROBOT).gate.audit.load_policy()
    assert policy is not None and problem == ""
