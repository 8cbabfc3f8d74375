"""What rules found, as people and programs see it, and what they say to it."""

import pytest

from termvisor.model.workflow.info import WorkflowInfo
from termvisor.model.workflow.run import WorkflowMode
from termvisor.testing.operation_calls import build_sample_services, run_command

OP = "events_ack"


async def found(*words: str) -> list[dict]:
    world = await build_sample_services(op=OP)
    return (await run_command(world, "robot", "events", *words)).envelope["data"]["items"]


@pytest.mark.parametrize(
    ("words", "cursors"),
    [
        (("--type", "*"), ["5", "6"]),
        (("--type", "usage.*"), ["5"]),
        (("--rule", "shell.test_failed"), ["6"]),
        (("--agent", "claude_code"), ["5"]),
        (("--severity", "error"), ["5"]),
        (("--severity", "warning"), ["5", "6"]),
        (("--unhandled",), ["6"]),
        (("--type", "*", "--pane", "1"), ["6"]),
        (("--type", "*", "--limit", "1"), ["6"]),
        (("--type", "*", "--cursor", "5"), ["6"]),
        (("--kind", "test.failed"), ["6"]),
        (("--kind", "pane_gone"), ["4"]),
    ],
)
async def test_filters_of_detections(words: tuple[str, ...], cursors: list[str]) -> None:
    assert [item["cursor"] for item in await found(*words)] == cursors


async def test_an_event_that_a_rule_found_says_all_that_is_known_of_it() -> None:
    (item,) = await found("--unhandled", "--would-handle")
    told = item["detection"]
    assert (told["rule"], told["severity"], told["captures"]) == ("shell.test_failed", "warning", {"count": "1"})
    assert (told["handled"], told["remedy"], told["proven"]) == (None, None, True)
    (limit,) = await found("--agent", "claude_code")
    assert limit["detection"]["handled"]["run"] == 3


@pytest.mark.parametrize(("mode", "would"), [("ask", "handle_usage_limits"), ("off", None)])
async def test_who_would_handle_it_is_chosen_among_the_workflows_in_force(
    mode: WorkflowMode, would: str | None
) -> None:
    world = await build_sample_services(op=OP)
    limits = WorkflowInfo(
        name="handle_usage_limits",
        version=1,
        summary="",
        origin="built-in",
        mode=mode,
        events=("usage.reached",),
        fresh_for=600.0,
        timeout=60.0,
    )
    world.workflows.workflow_infos.append(limits)
    told = await run_command(world, "robot", "events", "--agent", "claude_code", "--would-handle", "--dry-run")
    assert [one["detection"]["remedy"] for one in told.envelope["data"]["items"]] == [would]


async def test_in_the_whole_list_other_events_have_no_detection() -> None:
    items = await found()
    assert [item["detection"] is None for item in items] == [True, True, True, True, False, False]


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("--type", "usage"), "Types are words with points"),
        (("--dry-run",), "never does anything"),
        (("--kind", "pane_gone", "--unhandled"), "--type chooses"),
        (("--severity", "bad"), ""),
    ],
)
async def test_what_makes_no_sense_is_refused(words: tuple[str, ...], hint: str) -> None:
    answered = await run_command(await build_sample_services(op=OP), "events", *words)
    assert answered.status == 2
    assert hint in answered.err


async def test_watching_passes_only_what_was_asked_for() -> None:
    world = await build_sample_services(op=OP)
    told = await run_command(world, "watch-events", "--once", "--severity", "error")
    assert [line.split()[0] for line in told.out.splitlines()] == ["5"]
    everything = await run_command(world, "watch-events", "--once")
    assert len(everything.out.splitlines()) == 6


async def test_saying_it_twice_changes_nothing() -> None:
    world = await build_sample_services(op=OP)
    first = (await run_command(world, "robot", "events", "ack", "6", "--note", "fixed")).envelope["data"]["items"]
    again = (await run_command(world, "robot", "events", "ack", "6")).envelope["data"]["items"]
    assert [first[0]["status"], again[0]["status"]] == ["handled", "already"]
    assert again[0]["detection"]["handled"]["action"] == "fixed"
    assert (await run_command(world, "robot", "events", "--unhandled")).envelope["data"]["items"] == []


async def test_a_dry_run_marks_nothing() -> None:
    world = await build_sample_services(op=OP)
    told = (await run_command(world, "events", "ack", "6", "--dry-run")).out
    assert told == "event 6 (test.failed) would be handled\n"
    assert len((await run_command(world, "robot", "events", "--unhandled")).envelope["data"]["items"]) == 1


async def test_of_several_none_is_marked_where_one_does_not_exist() -> None:
    world = await build_sample_services(op=OP)
    answered = await run_command(world, "robot", "events", "ack", "6", "1")
    assert (answered.status, answered.envelope["error"]["code"]) == (4, "event_not_found")
    assert len((await run_command(world, "robot", "events", "--unhandled")).envelope["data"]["items"]) == 1
