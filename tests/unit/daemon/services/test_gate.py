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
async def home():
    with make_short_folder() as folder:
        async with open_gate_scene(folder) as opened:
            yield opened


async def test_a_robot_asks_a_person_answers_and_the_record_shows_it(home):
    mux_id, pane = await home.bash()
    robot, person = (
        home.world.bind_caller(actor).gate for actor in (ROBOT, Actor(kind="human", uid=1000, pid=2**22 + 5))
    )
    action = SendText(pane=pane, text="true by-a-robot")
    foreseen = await robot.preview(action, Preconditions())
    assert (foreseen.verdict.answer, foreseen.refused) == ("ask", "")
    with pytest.raises(NeedsApproval) as asked:
        await robot.run(action, Preconditions())
    (question,) = await person.approvals.list()
    assert question.id == asked.value.details["question"] and question.shown["text"] == "true by-a-robot"
    await person.approvals.answer(question.id, "allow", is_lasting=True)
    assert (await robot.run(action, Preconditions())).status == "delivered"
    assert "true by-a-robot" in home.screen(mux_id)
    stages = [(one.stage, one.actor.kind) for one in await person.audit.list(filters=AuditFilter(pane=pane))]
    assert stages == [("asked", "robot"), ("answered", "human"), ("intent", "robot"), ("outcome", "robot")]
    assert await person.audit.verify() is None
    (permit,) = await person.approvals.list_permits()
    assert await person.approvals.revoke_permit(permit.id) and await person.approvals.list_permits() == ()


async def test_a_reserved_pane_is_for_its_owner(home):
    _, pane = await home.bash()
    door = home.world.bind_caller(replace(ROBOT, kind="human")).gate
    held = await door.reservations.reserve(pane, "ann", 60)
    with pytest.raises(Conflict, match="reserved by ann"):
        await door.reservations.reserve(pane, "bob", 60)
    with pytest.raises(Conflict, match="reserved by ann"):
        await door.run(SendText(pane=pane, text="true"), Preconditions(owner="bob"))
    assert [one.owner for one in await door.reservations.list()] == ["ann"]
    assert await door.reservations.release(held.id)
    assert (await door.run(SendText(pane=pane, text="true"), Preconditions(owner="bob"))).status == "delivered"


async def test_a_caller_is_known_by_its_terminal(home):
    _, pane = await home.bash()
    facts = next(view.facts for view in await home.world.panes.list_panes() if view.id == pane)
    assert home.world.bind_caller(Actor(kind="human", uid=1000, pid=facts.pid)).gate.actor.pane == pane


async def test_without_a_file_the_default_policy_holds(home):
    policy, trouble = home.world.bind_caller(ROBOT).gate.audit.load_policy()
    assert policy is not None and trouble == ""
