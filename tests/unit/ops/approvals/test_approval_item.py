from msgspec.structs import replace

from termvisor.model.action.approval import Voice
from termvisor.model.ids import PaneId
from termvisor.ops.approvals._approval_item import lines, told
from termvisor.testing.asking import lively


async def test_a_question_says_what_where_who_why_and_how_long() -> None:
    world = await lively()
    text = "\n".join(lines(told(world.door.inbox.approvals[0], world.clock.now())))
    for part in ("make deploy", "work:1.0", "robot 1000 (builder)", "others.input", "open, 9m left"):
        assert part in text


async def test_where_two_people_are_needed_it_says_how_many_spoke() -> None:
    world = await lively()
    asked = replace(world.door.inbox.approvals[0], needs=2, voices=(Voice("human:1", "allow", 1),))
    assert "1 of 2 people said yes" in lines(told(asked, world.clock.now()))[-1]


async def test_what_came_from_a_pane_stays_in_its_row() -> None:
    world = await lively()
    asked = replace(world.door.inbox.approvals[0], place="x\x1b[2J\nforged: yes")
    assert not any("\x1b" in line or "\n" in line for line in lines(told(asked, world.clock.now())))


async def test_a_question_about_a_pane_names_it_also_where_nothing_else_is_known_of_it() -> None:
    world = await lively()
    asked = replace(world.door.inbox.approvals[0], place="", pane=PaneId(7))
    assert lines(told(asked, world.clock.now()))[1] == "   where  pane 7"
    assert lines(told(replace(asked, pane=None), world.clock.now()))[1] == "   where  no pane"
