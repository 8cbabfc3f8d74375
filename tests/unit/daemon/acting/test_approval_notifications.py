"""Open approval requests are notified, answered ones are not."""

import asyncio
import os

import pytest
from msgspec.structs import replace

from termvisor.bus import Bus
from termvisor.daemon.acting.approval_notifications import build_notices, build_open_notices, notify_approvals
from termvisor.errors import NeedsApproval, Refused
from termvisor.model.action.action import Actor, Notify, Spawn
from termvisor.model.action.approval import Approval, ApprovalVote
from termvisor.model.action.preconditions import Preconditions
from termvisor.testing.fake_clock import NOON, let_tasks_run
from termvisor.testing.private_tmux import make_short_folder
from tests.unit.actions.gate_scene import open_gate_scene
from tests.unit.actions.notifications.attached_client import attach_client
from tests.unit.wait_until import wait_until

ROBOT = Actor(kind="robot", uid=1000, pid=7, name="ci")
QUESTION = Approval(
    id=3,
    at=NOON,
    expires_at=NOON + 1,
    correlation="c",
    action_hash="h",
    kind="send_text",
    actor=ROBOT,
    risk="input",
    place="pane 7 (local/work:0.0)",
)


def test_each_channel_gets_a_notification_with_the_command_to_answer():
    (terminal, desktop) = build_notices(QUESTION, ("terminal", "desktop", "terminal"))
    assert (terminal.way, desktop.way, terminal.pane) == ("terminal", "desktop", None)
    assert terminal.title == "Approval required: visor approve 3"
    assert terminal.text == "robot (ci) requests send_text in pane 7 (local/work:0.0); risk: input"


@pytest.mark.parametrize(
    "known",
    [
        replace(QUESTION, state="allowed"),
        replace(QUESTION, state="expired"),
        replace(QUESTION, needs=2, voices=(ApprovalVote("human:1", "allow", NOON),)),
        replace(QUESTION, actor=replace(ROBOT, kind="human")),
    ],
    ids=["answered", "expired", "half answered", "asked on the spot"],
)
def test_answered_and_own_requests_are_not_notified(known):
    assert build_notices(known, ("terminal",)) == []


def test_a_request_that_needs_two_answers_is_notified():
    assert len(build_notices(replace(QUESTION, needs=2, actor=replace(ROBOT, kind="human")), ("terminal",))) == 1


async def test_a_hanging_or_refused_notification_delays_no_other_request():
    bus: Bus[Approval] = Bus()
    sent: list[str] = []

    async def send(notice: Notify, _key: str) -> None:
        sent.append(notice.title[-1])
        if notice.title.endswith("1"):
            await asyncio.Event().wait()
        if notice.title.endswith("2"):
            raise Refused("no")

    async with asyncio.TaskGroup() as group:
        task = group.create_task(notify_approvals(bus, lambda: ("terminal",), send))
        await let_tasks_run()
        for number in (1, 2, 3):
            bus.publish(replace(QUESTION, id=number))
        await let_tasks_run()
        task.cancel()
    assert sent == ["1", "2", "3"]


def test_a_leftover_request_is_notified_again_under_the_same_key():
    ((notice, key),) = build_open_notices([QUESTION], ("terminal",))
    assert (notice.title, key) == ("Approval required: visor approve 3", "c.question.3")
    assert build_open_notices([replace(QUESTION, actor=replace(ROBOT, kind="human"))], ("terminal",)) == []


def test_many_leftover_requests_are_one_notification_per_channel():
    many = [replace(QUESTION, id=number, correlation=f"c{number}") for number in range(9)]
    sent = [(notice.title, notice.way) for notice, _ in build_open_notices(many, ("terminal", "webhook"))]
    title = "9 requests need approval: visor inbox"
    assert sent == [(title, "terminal"), (title, "webhook")]


async def test_leftover_requests_are_notified_by_the_next_daemon():
    sent: list[tuple[str, str]] = []

    async def send(notice: Notify, key: str) -> None:
        sent.append((notice.title[-1], key))

    async with asyncio.TaskGroup() as group:
        task = group.create_task(notify_approvals(Bus(), lambda: ("terminal",), send, [QUESTION]))
        await let_tasks_run()
        task.cancel()
    assert sent == [("3", "c.question.3")]


@pytest.fixture
async def scene():
    with make_short_folder() as folder:
        async with open_gate_scene(folder) as opened:
            yield opened


async def test_an_approval_request_reaches_an_attached_client_and_needs_no_approval(scene):
    robot = replace(ROBOT, uid=os.getuid())
    with attach_client(scene.tmux, "work") as person:
        with pytest.raises(NeedsApproval):
            await scene.services.gate_components.gate.run(Spawn(where="window", session="work"), robot, Preconditions())
        await person.wait_for_output(b"Approval required: visor approve 1")
        assert [one.kind for one in await scene.store.approvals.list()] == ["spawn"]

        async def outcomes():
            return [one.outcome for one in await scene.store.audit.list() if one.kind == "notify"]

        assert await wait_for_outcomes(outcomes) == ["", "done"]


async def wait_for_outcomes(read_outcomes) -> list[str]:
    found: list[str] = []

    async def again() -> None:
        while len(found) < 2:
            found[:] = await read_outcomes()

    async with asyncio.timeout(10):
        await again()
    return found


async def test_without_channels_nothing_is_sent(scene):
    parts = scene.services._components
    parts.settings = replace(parts.settings, notify_ways=())
    with attach_client(scene.tmux, "work") as person:
        with pytest.raises(NeedsApproval):
            await scene.services.gate_components.gate.run(Spawn(where="window", session="work"), ROBOT, Preconditions())
        await wait_until(lambda: b"\x1b" in person.read_output())
        assert [one.kind for one in await scene.store.audit.list() if one.kind == "notify"] == []
