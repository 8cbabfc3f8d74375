from msgspec.structs import replace

from termvisor.model.action.approval import ApprovalVote
from termvisor.model.ids import PaneId
from termvisor.ops.approvals._approval_item import build_approval_item, format_approval_lines
from termvisor.testing.sample_services import build_sample_services


async def test_a_request_has_action_place_requester_reason_and_remaining_time() -> None:
    services = await build_sample_services()
    text = "\n".join(format_approval_lines(build_approval_item(services.gate.requests[0], services.clock.now())))
    for part in ("make deploy", "work:1.0", "robot builder", "others.input", "open, 9m left"):
        assert part in text


async def test_missing_approvals_of_two_people_are_counted() -> None:
    services = await build_sample_services()
    asked = replace(services.gate.requests[0], needs=2, voices=(ApprovalVote("human:1", "allow", 1),))
    assert "1 of 2 approvals" in format_approval_lines(build_approval_item(asked, services.clock.now()))[-1]


async def test_pane_text_in_a_request_stays_in_one_line() -> None:
    services = await build_sample_services()
    asked = replace(services.gate.requests[0], place="x\x1b[2J\nforged: yes")
    assert not any(
        "\x1b" in line or "\n" in line
        for line in format_approval_lines(build_approval_item(asked, services.clock.now()))
    )


async def test_a_request_without_a_place_shows_its_pane_id() -> None:
    services = await build_sample_services()
    asked = replace(services.gate.requests[0], place="", pane=PaneId(7))
    assert format_approval_lines(build_approval_item(asked, services.clock.now()))[1] == "   where  pane 7"
    assert (
        format_approval_lines(build_approval_item(replace(asked, pane=None), services.clock.now()))[1]
        == "   where  no pane"
    )
