import asyncio

import pytest

from termvisor.model.detection.detection import Detection
from termvisor.model.ids import PaneId
from termvisor.testing.fake_services import FakeServices
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import SAMPLE_RULE, build_sample_services


async def test_the_newest_twenty_events_are_listed_oldest_first() -> None:
    services = FakeServices()
    for number in range(30):
        services.add_event("alert", what=f"number {number}")
    data = (await run_command(services, "robot", "events")).envelope["data"]
    assert [item["cursor"] for item in data["items"]] == [str(number) for number in range(11, 31)]
    assert (data["cursor"], data["summary"]) == ("30", {"events": 20, "by_kind": {"alert": 20}})


async def test_a_cursor_continues_with_the_first_events_after_it() -> None:
    data = (
        await run_command(await build_sample_services(), "robot", "events", "--cursor", "1", "--limit", "2")
    ).envelope["data"]
    assert [item["cursor"] for item in data["items"]] == ["2", "3"]
    empty = (await run_command(await build_sample_services(), "robot", "events", "--since-cursor", "4")).envelope[
        "data"
    ]
    assert (empty["items"], empty["cursor"]) == ([], "4")


async def test_events_are_filtered_by_pane_kind_and_time() -> None:
    services = await build_sample_services()
    of_pane = (await run_command(services, "robot", "events", "--pane", "1")).envelope["data"]["items"]
    of_kind = (await run_command(services, "robot", "events", "--kind", "gap_recorded")).envelope["data"]["items"]
    of_time = (await run_command(services, "robot", "events", "--since", "11s")).envelope["data"]["items"]
    assert [item["kind"] for item in of_pane] == ["pane_appeared", "gap_recorded"]
    assert [item["data"] for item in of_kind] == [{"cause": "pipe_stolen"}]
    assert [item["kind"] for item in of_time] == ["pane_gone"]


async def test_a_call_without_events_waits_for_one_and_returns_it() -> None:
    services = await build_sample_services()
    async with asyncio.TaskGroup() as group:
        call = group.create_task(run_command(services, "robot", "events", "--since-cursor", "4", "--wait", "30"))
        await services.clock.wait_until_asleep()
        services.add_event("alert", what="fire")
    data = call.result().envelope["data"]
    assert ([item["kind"] for item in data["items"]], data["cursor"]) == (["alert"], "5")


async def test_a_wait_for_events_ends_in_time() -> None:
    services = await build_sample_services()
    async with asyncio.TaskGroup() as group:
        call = group.create_task(run_command(services, "robot", "events", "--unhandled", "--wait", "30"))
        await services.clock.wait_until_asleep()
        await services.clock.advance(30)
    assert (call.result().envelope["data"]["items"], call.result().status) == ([], 0)


@pytest.mark.parametrize("cursor", ["x", "-1", "1:2", "999"])
async def test_a_foreign_cursor_is_rejected(cursor: str) -> None:
    result = await run_command(await build_sample_services(), "robot", "events", f"--since-cursor={cursor}")
    assert result.envelope["error"]["code"] == "invalid_cursor"


async def test_an_unknown_kind_suggests_the_closest_name() -> None:
    result = await run_command(await build_sample_services(), "events", "--kind", "gap_record")
    assert (result.status, result.err.splitlines()[1]) == (2, "hint: Did you mean gap_recorded?")


async def test_text_output_describes_each_event() -> None:
    assert "gap_recorded    cause=pipe_stolen" in (await run_command(await build_sample_services(), "events")).out
    assert (await run_command(FakeServices(), "events")).out == "No events.\n"


async def test_a_rare_kind_is_found_and_the_cursor_skips_other_events() -> None:
    services = FakeServices()
    services.add_event("server_found", socket="/s")
    for _ in range(12_000):
        services.add_event("alert", what="again")
    data = (await run_command(services, "robot", "events", "--kind", "server_found")).envelope["data"]
    assert [item["cursor"] for item in data["items"]] == ["1"]
    assert data["cursor"] == "12001"
    services.add_event("server_found", socket="/t")
    data = (await run_command(services, "robot", "events", "--kind", "server_found", "--cursor", "12001")).envelope[
        "data"
    ]
    assert ([item["cursor"] for item in data["items"]], data["cursor"]) == (["12002"], "12002")


async def test_a_full_page_continues_right_after_its_last_event() -> None:
    services = FakeServices()
    for _ in range(5):
        services.add_event("server_found", socket="/s")
        services.add_event("alert", what="between")
    cursor, pages = "0", []
    for _ in range(4):
        words = ("events", "--kind", "server_found", "--limit", "2", "--cursor", cursor)
        data = (await run_command(services, "robot", *words)).envelope["data"]
        cursor = data["cursor"]
        pages.append([item["cursor"] for item in data["items"]])
    assert (pages, cursor) == ([["1", "3"], ["5", "7"], ["9"], []], "10")


@pytest.mark.parametrize("op", [("events",), ("watch-events", "--once")])
@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("--agent", "claude"), "unknown agent 'claude'"),
        (("--rule", "shell.test_faild"), "Did you mean shell.test_failed"),
    ],
)
async def test_an_unknown_name_is_an_error_not_an_empty_result(
    op: tuple[str, ...], words: tuple[str, ...], hint: str
) -> None:
    services = await build_sample_services()
    services.pipeline.matcher.set_rules([SAMPLE_RULE], None)
    result = await run_command(services, *op, *words)
    assert result.status != 0
    assert hint in result.err


async def test_detections_of_a_removed_rule_are_listed() -> None:
    services = await build_sample_services()
    one = services.add_detection(Detection(at=1, type="a.b", rule="gone.rule", pane=PaneId(1), source="stream"))
    listed = (await run_command(services, "robot", "events", "--rule", "gone.rule")).envelope["data"]["items"]
    assert [item["cursor"] for item in listed] == [str(one.event)]
