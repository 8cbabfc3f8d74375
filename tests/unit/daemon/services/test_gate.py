"""One caller before the real gate."""

import pytest
from msgspec.structs import replace

from termvisor.errors import Conflict, NeedsApproval
from termvisor.model.action.action import Actor, SendText
from termvisor.model.action.audit import AuditFilter
from termvisor.model.action.preconditions import Terms
from termvisor.testing.tmux import short_folder
from tests.unit.actions.house import house

ROBOT = Actor(kind="robot", uid=1000, pid=1)


@pytest.fixture
async def home():
    with short_folder() as folder:
        async with house(folder) as opened:
            yield opened


async def test_a_robot_asks_a_person_answers_and_the_record_shows_it(home):
    mux_id, pane = await home.bash()
    robot, person = (
        home.world.called_by(actor).door for actor in (ROBOT, Actor(kind="human", uid=1000, pid=2**22 + 5))
    )
    action = SendText(pane=pane, text="true by-a-robot")
    foreseen = await robot.foresee(action, Terms())
    assert (foreseen.verdict.answer, foreseen.refused) == ("ask", "")
    with pytest.raises(NeedsApproval) as asked:
        await robot.do(action, Terms())
    (question,) = await person.inbox.list()
    assert question.id == asked.value.details["question"] and question.shown["text"] == "true by-a-robot"
    await person.inbox.answer(question.id, "allow", lasting=True)
    assert (await robot.do(action, Terms())).status == "delivered"
    assert "true by-a-robot" in home.screen(mux_id)
    stages = [(one.stage, one.actor.kind) for one in await person.ledger.list(only=AuditFilter(pane=pane))]
    assert stages == [("asked", "robot"), ("answered", "human"), ("intent", "robot"), ("outcome", "robot")]
    assert await person.ledger.verify() is None
    (permit,) = await person.inbox.permits()
    assert await person.inbox.revoke(permit.id) and await person.inbox.permits() == ()


async def test_a_reserved_pane_is_for_its_owner(home):
    _, pane = await home.bash()
    door = home.world.called_by(replace(ROBOT, kind="human")).door
    held = await door.reservations.hold(pane, "ann", 60)
    with pytest.raises(Conflict, match="reserved by ann"):
        await door.reservations.hold(pane, "bob", 60)
    with pytest.raises(Conflict, match="reserved by ann"):
        await door.do(SendText(pane=pane, text="true"), Terms(owner="bob"))
    assert [one.owner for one in await door.reservations.list()] == ["ann"]
    assert await door.reservations.release(held.id)
    assert (await door.do(SendText(pane=pane, text="true"), Terms(owner="bob"))).status == "delivered"


async def test_a_caller_is_known_by_its_terminal(home):
    _, pane = await home.bash()
    facts = next(view.facts for view in await home.world.fleet.panes() if view.id == pane)
    assert home.world.called_by(Actor(kind="human", uid=1000, pid=facts.pid)).door.actor.pane == pane


async def test_without_a_file_the_default_policy_holds(home):
    policy, trouble = home.world.called_by(ROBOT).door.ledger.policy()
    assert policy is not None and trouble == ""
