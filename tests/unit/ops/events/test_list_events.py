import pytest

from termvisor.model.detection.detection import Detection
from termvisor.model.ids import PaneId
from termvisor.testing.asking import ask, lively
from termvisor.testing.detections import RULE
from termvisor.testing.world import MemoryWorld


async def test_the_newest_twenty_come_oldest_first() -> None:
    world = MemoryWorld()
    for number in range(30):
        world.happen("alert", what=f"number {number}")
    data = (await ask(world, "robot", "events")).envelope["data"]
    assert [item["cursor"] for item in data["items"]] == [str(number) for number in range(11, 31)]
    assert (data["cursor"], data["summary"]) == ("30", {"events": 20, "by_kind": {"alert": 20}})


async def test_reading_on_from_a_cursor_gives_the_first_ones_after_it() -> None:
    data = (await ask(await lively(), "robot", "events", "--cursor", "1", "--limit", "2")).envelope["data"]
    assert [item["cursor"] for item in data["items"]] == ["2", "3"]
    empty = (await ask(await lively(), "robot", "events", "--since-cursor", "4")).envelope["data"]
    assert (empty["items"], empty["cursor"]) == ([], "4")


async def test_events_of_one_pane_one_kind_one_time() -> None:
    world = await lively()
    of_pane = (await ask(world, "robot", "events", "--pane", "1")).envelope["data"]["items"]
    of_kind = (await ask(world, "robot", "events", "--kind", "gap_recorded")).envelope["data"]["items"]
    of_time = (await ask(world, "robot", "events", "--since", "11s")).envelope["data"]["items"]
    assert [item["kind"] for item in of_pane] == ["pane_appeared", "gap_recorded"]
    assert [item["data"] for item in of_kind] == [{"cause": "pipe_stolen"}]
    assert [item["kind"] for item in of_time] == ["pane_gone"]


@pytest.mark.parametrize("cursor", ["x", "-1", "1:2", "999"])
async def test_a_foreign_cursor_is_refused(cursor: str) -> None:
    answered = await ask(await lively(), "robot", "events", f"--since-cursor={cursor}")
    assert answered.envelope["error"]["code"] == "invalid_cursor"


async def test_an_unknown_kind_is_answered_with_the_nearest() -> None:
    answered = await ask(await lively(), "events", "--kind", "gap_record")
    assert (answered.status, answered.err.splitlines()[1]) == (2, "hint: Did you mean gap_recorded?")


async def test_people_read_what_happened() -> None:
    assert "gap_recorded    cause=pipe_stolen" in (await ask(await lively(), "events")).out
    assert (await ask(MemoryWorld(), "events")).out == "No events.\n"


async def test_one_of_a_kind_is_found_behind_thousands_of_others_and_the_cursor_is_beyond_them() -> None:
    world = MemoryWorld()
    world.happen("server_found", socket="/s")
    for _ in range(12_000):
        world.happen("alert", what="again")
    data = (await ask(world, "robot", "events", "--kind", "server_found")).envelope["data"]
    assert [item["cursor"] for item in data["items"]] == ["1"]
    assert data["cursor"] == "12001"
    world.happen("server_found", socket="/t")
    data = (await ask(world, "robot", "events", "--kind", "server_found", "--cursor", "12001")).envelope["data"]
    assert ([item["cursor"] for item in data["items"]], data["cursor"]) == (["12002"], "12002")


async def test_a_full_page_of_one_kind_goes_on_right_after_it() -> None:
    world = MemoryWorld()
    for _ in range(5):
        world.happen("server_found", socket="/s")
        world.happen("alert", what="between")
    cursor, pages = "0", []
    for _ in range(4):
        words = ("events", "--kind", "server_found", "--limit", "2", "--cursor", cursor)
        data = (await ask(world, "robot", *words)).envelope["data"]
        cursor = data["cursor"]
        pages.append([item["cursor"] for item in data["items"]])
    assert (pages, cursor) == ([["1", "3"], ["5", "7"], ["9"], []], "10")


@pytest.mark.parametrize("op", [("events",), ("watch-events", "--once")])
@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("--agent", "claude"), "no agent is called 'claude'"),
        (("--rule", "shell.test_faild"), "Did you mean shell.test_failed"),
    ],
)
async def test_a_name_that_nobody_has_is_told_instead_of_nothing(
    op: tuple[str, ...], words: tuple[str, ...], hint: str
) -> None:
    world = await lively()
    world.detections.rules[RULE.id] = RULE
    answered = await ask(world, *op, *words)
    assert answered.status != 0
    assert hint in answered.err


async def test_what_a_rule_found_that_is_gone_is_still_listed() -> None:
    world = await lively()
    one = world.detections.find(Detection(at=1, type="a.b", rule="gone.rule", pane=PaneId(1), source="stream"))
    listed = (await ask(world, "robot", "events", "--rule", "gone.rule")).envelope["data"]["items"]
    assert [item["cursor"] for item in listed] == [str(one.event)]
