from msgspec.structs import replace

from termvisor.model.action.approval import ApprovalVote
from termvisor.model.ids import PaneId
from termvisor.ops.approvals._approval_item import build_approval_item, format_approval_lines
from termvisor.testing.sample_services import build_sample_services


async def test_a_request_says_what_where_who_why_and_how_long() -> None:
    services = await build_sample_services()
    text = "\n".join(format_approval_lines(build_approval_item(services.gate.requests[0], services.clock.now())))
    for part in ("make deploy", "work:1.0", "robot 1000 (builder)", "others.input", "open, 9m left"):
        assert part in text


async def test_two_required_people_are_counted() -> None:
    services = await build_sample_services()
    asked = replace(services.gate.requests[0], needs=2, voices=(ApprovalVote("human:1", "allow", 1),))
    assert "1 of 2 approvals" in format_approval_lines(build_approval_item(asked, services.clock.now()))[-1]


async def test_what_came_from_a_pane_stays_in_its_row() -> None:
    services = await build_sample_services()
    asked = replace(services.gate.requests[0], place="x\x1b[2J\nforged: yes")
    assert not any(
        "\x1b" in line or "\n" in line
        for line in format_approval_lines(build_approval_item(asked, services.clock.now()))
    )


async def test_a_request_about_a_pane_names_it_also_where_nothing_else_is_known_of_it() -> None:
    services = await build_sample_services()
    asked = replace(services.gate.requests[0], place="", pane=PaneId(7))
    assert format_approval_lines(build_approval_item(asked, services.clock.now()))[1] == "   where  pane 7"
    assert (
        format_approval_lines(build_approval_item(replace(asked, pane=None), services.clock.now()))[1]
        == "   where  no pane"
    )
