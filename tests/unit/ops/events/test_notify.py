import pytest
from msgspec.structs import replace

from termvisor.errors import Refused, StorageError
from termvisor.model.action.action import Notify
from termvisor.model.action.outcome import Outcome
from termvisor.testing.operation_calls import run_command
from termvisor.testing.sample_services import build_sample_services


async def test_a_notification_is_sent_through_the_configured_channels() -> None:
    services = await build_sample_services()
    services.settings = replace(services.settings, notify_ways=("terminal", "desktop"))
    assert (
        await run_command(services, "notify", "build", "it", "is done\x1b[2J")
    ).out == "terminal: sent\ndesktop: sent\n"
    actions = [action for action, _ in services.gate.executed]
    assert actions == [Notify(title="build", text="it is done", way=way) for way in ("terminal", "desktop")]


async def test_channel_and_pane_can_be_selected() -> None:
    services = await build_sample_services()
    await run_command(services, "notify", "--pane", "1", "--way", "webhook", "--way", "webhook", "build")
    assert [action for action, _ in services.gate.executed] == [Notify(title="build", text="", pane=1, way="webhook")]


@pytest.mark.parametrize(
    ("outcome", "line", "status"),
    [
        (Outcome(status="suppressed", why="looking", text="you see it"), "suppressed (looking: you see it)", 0),
        (Outcome(status="failed", why="nobody_attached"), "failed (nobody_attached)", 69),
    ],
)
async def test_each_channel_reports_its_outcome(outcome: Outcome, line: str, status: int) -> None:
    services = await build_sample_services()
    services.gate.outcome = outcome
    answer = await run_command(services, "notify", "build")
    assert (answer.out, answer.status) == (f"terminal: {line}\n", status)


@pytest.mark.parametrize(
    ("error", "expected", "status"),
    [
        (Refused("the policy says no", details={"correlation": "c1"}), ("denied", "policy_denied", "c1"), 77),
        (StorageError("the disk is full"), ("failed", "storage_error", ""), 69),
    ],
)
async def test_an_error_is_the_result_of_its_channel(
    error: Exception, expected: tuple[str, str, str], status: int
) -> None:
    services = await build_sample_services()
    services.gate.error = error
    answer = await run_command(services, "robot", "notify", "build")
    (way,) = answer.envelope["data"]["ways"]
    assert (way["status"], way["why"], way["correlation"]) == expected
    assert answer.status == status


async def test_without_a_channel_it_is_a_bad_request_with_a_hint() -> None:
    services = await build_sample_services()
    services.settings = replace(services.settings, notify_ways=())
    answer = await run_command(services, "notify", "build")
    assert answer.status == 2 and "notify_ways" in answer.err


@pytest.mark.parametrize("words", [("notify",), ("notify", ""), ("notify", "--way", "pigeon", "x")])
async def test_an_invalid_report_is_a_bad_request(words: tuple[str, ...]) -> None:
    services = await build_sample_services()
    assert (await run_command(services, *words)).status == 2
    assert services.gate.executed == []


async def test_a_dry_run_sends_no_notification() -> None:
    services = await build_sample_services()
    answer = await run_command(services, "notify", "--dry-run", "build")
    assert "notify by terminal: build" in answer.out and "policy: allow" in answer.out
    assert services.gate.executed == []


async def test_policy_explain_accepts_notify() -> None:
    assert (
        "policy: allow"
        in (await run_command(await build_sample_services(), "policy", "explain", "notify", "build")).out
    )
