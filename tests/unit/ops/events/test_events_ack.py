"""Listing, filtering and acknowledging detections."""

import pytest

from termvisor.model.workflow import WorkflowInfo, WorkflowMode
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services

OP = "events_ack"


async def list_matching(*words: str) -> list[dict]:
    services = await build_sample_services(op=OP)
    return (await run_command(services, "robot", "events", *words)).envelope["data"]["items"]


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
    assert [item["cursor"] for item in await list_matching(*words)] == cursors


async def test_a_detection_is_listed_with_rule_severity_and_handling() -> None:
    (item,) = await list_matching("--unhandled", "--would-handle")
    result = item["detection"]
    assert (result["rule"], result["severity"], result["captures"]) == ("shell.test_failed", "warning", {"count": "1"})
    assert (result["handled"], result["remedy"], result["proven"]) == (None, None, True)
    (limit,) = await list_matching("--agent", "claude_code")
    assert limit["detection"]["handled"]["run"] == 3


@pytest.mark.parametrize(("mode", "would"), [("ask", "handle_usage_limits"), ("off", None)])
async def test_would_handle_names_an_active_workflow(mode: WorkflowMode, would: str | None) -> None:
    services = await build_sample_services(op=OP)
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
    services.workflows.workflow_infos.append(limits)
    result = await run_command(services, "robot", "events", "--agent", "claude_code", "--would-handle", "--dry-run")
    assert [one["detection"]["remedy"] for one in result.envelope["data"]["items"]] == [would]


async def test_other_events_have_no_detection() -> None:
    items = await list_matching()
    assert [item["detection"] is None for item in items] == [True, True, True, True, False, False]


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("--type", "usage"), "Types contain a dot"),
        (("--dry-run",), "never starts a workflow"),
        (("--kind", "pane_gone", "--unhandled"), "Use --type"),
        (("--severity", "bad"), ""),
    ],
)
async def test_contradictory_filters_are_rejected(words: tuple[str, ...], hint: str) -> None:
    result = await run_command(await build_sample_services(op=OP), "events", *words)
    assert result.status == 2
    assert hint in result.err


async def test_watch_events_applies_detection_filters() -> None:
    services = await build_sample_services(op=OP)
    result = await run_command(services, "watch-events", "--once", "--severity", "error")
    assert [line.split()[0] for line in result.out.splitlines()] == ["5"]
    everything = await run_command(services, "watch-events", "--once")
    assert len(everything.out.splitlines()) == 6


async def test_acknowledging_twice_changes_nothing() -> None:
    services = await build_sample_services(op=OP)
    first = (await run_command(services, "robot", "events", "ack", "6", "--note", "fixed")).envelope["data"]["items"]
    again = (await run_command(services, "robot", "events", "ack", "6")).envelope["data"]["items"]
    assert [first[0]["status"], again[0]["status"]] == ["handled", "already"]
    assert again[0]["detection"]["handled"]["action"] == "fixed"
    assert (await run_command(services, "robot", "events", "--unhandled")).envelope["data"]["items"] == []


async def test_a_dry_run_marks_nothing() -> None:
    services = await build_sample_services(op=OP)
    result = (await run_command(services, "events", "ack", "6", "--dry-run")).out
    assert result == "event 6 (test.failed) would be marked as handled\n"
    assert len((await run_command(services, "robot", "events", "--unhandled")).envelope["data"]["items"]) == 1


async def test_no_event_is_marked_if_one_is_unknown() -> None:
    services = await build_sample_services(op=OP)
    result = await run_command(services, "robot", "events", "ack", "6", "1")
    assert (result.status, result.envelope["error"]["code"]) == (4, "event_not_found")
    assert len((await run_command(services, "robot", "events", "--unhandled")).envelope["data"]["items"]) == 1
