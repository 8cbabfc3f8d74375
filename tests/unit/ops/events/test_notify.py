import pytest
from msgspec.structs import replace

from termvisor.errors import Refused, StorageError
from termvisor.model.action.action import Notify
from termvisor.model.action.outcome import Outcome
from termvisor.testing.operation_calls import build_sample_services, run_command


async def test_it_is_told_by_the_ways_that_are_set_up() -> None:
    world = await build_sample_services()
    world.settings = replace(world.settings, notify_ways=("terminal", "desktop"))
    assert (
        await run_command(world, "notify", "build", "it", "is done\x1b[2J")
    ).out == "terminal: told\ndesktop: told\n"
    said = [action for action, _ in world.gate.executed]
    assert said == [Notify(title="build", text="it is done", way=way) for way in ("terminal", "desktop")]


async def test_a_way_and_a_pane_may_be_named() -> None:
    world = await build_sample_services()
    await run_command(world, "notify", "--pane", "1", "--way", "webhook", "--way", "webhook", "build")
    assert [action for action, _ in world.gate.executed] == [Notify(title="build", text="", pane=1, way="webhook")]


@pytest.mark.parametrize(
    ("outcome", "line", "status"),
    [
        (Outcome(status="suppressed", why="looking", text="you see it"), "not told (looking: you see it)", 0),
        (Outcome(status="failed", why="nobody_attached"), "failed (nobody_attached)", 69),
    ],
)
async def test_each_way_says_what_came_of_it(outcome: Outcome, line: str, status: int) -> None:
    world = await build_sample_services()
    world.gate.outcome = outcome
    answer = await run_command(world, "notify", "build")
    assert (answer.out, answer.status) == (f"terminal: {line}\n", status)


@pytest.mark.parametrize(
    ("error", "told", "status"),
    [
        (Refused("the policy says no", details={"correlation": "c1"}), ("denied", "policy_denied", "c1"), 77),
        (StorageError("the disk is full"), ("failed", "storage_error", ""), 69),
    ],
)
async def test_an_error_is_the_answer_of_its_way(error: Exception, told: tuple[str, str, str], status: int) -> None:
    world = await build_sample_services()
    world.gate.error = error
    answer = await run_command(world, "robot", "notify", "build")
    (way,) = answer.envelope["data"]["ways"]
    assert (way["status"], way["why"], way["correlation"]) == told
    assert answer.status == status


async def test_without_any_way_it_is_a_mistake_that_says_what_to_do() -> None:
    world = await build_sample_services()
    world.settings = replace(world.settings, notify_ways=())
    answer = await run_command(world, "notify", "build")
    assert answer.status == 2 and "notify_ways" in answer.err


@pytest.mark.parametrize("words", [("notify",), ("notify", ""), ("notify", "--way", "pigeon", "x")])
async def test_what_cannot_be_told_is_a_mistake(words: tuple[str, ...]) -> None:
    world = await build_sample_services()
    assert (await run_command(world, *words)).status == 2
    assert world.gate.executed == []


async def test_a_dry_run_tells_nobody() -> None:
    world = await build_sample_services()
    answer = await run_command(world, "notify", "--dry-run", "build")
    assert "tell a person by terminal: build" in answer.out and "policy says allow" in answer.out
    assert world.gate.executed == []


async def test_the_policy_can_be_asked_about_it() -> None:
    assert (
        "policy says allow"
        in (await run_command(await build_sample_services(), "policy", "explain", "notify", "build")).out
    )
