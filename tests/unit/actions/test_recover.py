"""A daemon killed at any step of a delivery: the next one logs a true outcome and types nothing twice."""

import asyncio

import pytest

from termvisor.backends.tmux.pane_control import TmuxPaneControl
from termvisor.store.tables.deliveries import DeliveryTable
from termvisor.testing.private_tmux import make_short_folder
from tests.unit.actions.gate_scene import GateScene, open_gate_scene
from tests.unit.wait_until import wait_until


class SimulatedKill(BaseException):
    """Stands for a SIGKILL of the daemon; nothing after it is executed."""


@pytest.fixture
async def scene():
    with make_short_folder() as folder:
        async with open_gate_scene(folder) as opened:
            yield opened


def kill_daemon_at(monkeypatch, owner: type, name: str, *, before: bool, nth: int = 1) -> None:
    """Make the daemon die right before or right after the ``nth`` call of this method."""
    real, calls = getattr(owner, name), []

    async def call(*args, **kwargs):
        calls.append(1)
        is_last = len(calls) == nth
        if is_last and before:
            raise SimulatedKill
        answer = await real(*args, **kwargs)
        if is_last:
            raise SimulatedKill
        return answer

    monkeypatch.setattr(owner, name, call)


async def send_and_kill(scene: GateScene, pane, text: str) -> None:
    with pytest.raises(SimulatedKill):
        await scene.send(pane, text, key="k")


async def recover_delivery(scene: GateScene, monkeypatch) -> tuple[str, str]:
    monkeypatch.undo()
    await scene.services.panes.wait_until_stored()
    (left,) = await scene.store.deliveries.list_open()
    await scene.gate.recover([left])
    send = await scene.store.deliveries.find_by_key("k")
    assert send is not None and send.status is not None
    assert await scene.store.audit.verify() is None
    return send.status, send.why


@pytest.mark.parametrize(
    ("owner", "name", "before", "status", "times"),
    [
        (TmuxPaneControl, "write", True, "unknown", 0),
        (TmuxPaneControl, "write", False, "typed_not_submitted", 1),
        (DeliveryTable, "record_step", True, "typed_not_submitted", 1),
        (DeliveryTable, "record_step", False, "typed_not_submitted", 1),
        (TmuxPaneControl, "press", True, "typed_not_submitted", 1),
        (TmuxPaneControl, "press", False, "delivered", 1),
        (DeliveryTable, "end", True, "delivered", 1),
    ],
)
async def test_a_kill_at_every_step_is_recovered_with_the_true_outcome(
    scene, monkeypatch, owner, name, before, status, times
):
    mux_id, pane = await scene.start_bash()
    kill_daemon_at(monkeypatch, owner, name, before=before)
    await send_and_kill(scene, pane, "true one-of-a-kind")
    await wait_until(lambda: scene.capture_screen(mux_id).count("one-of-a-kind") == times)
    is_done = status == "delivered"
    await wait_until(
        lambda: not is_done or scene.services._components.pipeline.current_readers[pane].shells.command_times
    )
    assert await recover_delivery(scene, monkeypatch) == (status, "interrupted")
    again = await scene.send(pane, "true one-of-a-kind", key="k")
    assert (again.status, again.is_repeated) == (status, True)
    assert scene.capture_screen(mux_id).count("one-of-a-kind") == times


async def test_another_text_in_the_input_is_not_taken_for_the_delivery(scene, monkeypatch):
    mux_id, pane = await scene.start_bash()
    kill_daemon_at(monkeypatch, TmuxPaneControl, "write", before=True)
    await send_and_kill(scene, pane, "echo ours")
    scene.tmux("send-keys", "-t", mux_id, "-l", "echo theirs")
    await wait_until(lambda: "theirs" in scene.capture_screen(mux_id))
    assert await recover_delivery(scene, monkeypatch) == ("unknown", "interrupted")


async def test_another_command_is_not_taken_for_the_delivery(scene, monkeypatch):
    mux_id, pane = await scene.start_bash()
    kill_daemon_at(monkeypatch, TmuxPaneControl, "press", before=True)
    await send_and_kill(scene, pane, "true ours")
    scene.tmux("send-keys", "-t", mux_id, "C-u")
    scene.tmux.type_line(mux_id, "true theirs")
    await wait_until(lambda: scene.services._components.pipeline.current_readers[pane].shells.command_times)
    assert await recover_delivery(scene, monkeypatch) == ("unknown", "interrupted")


async def test_a_disconnected_client_leaves_no_delivery_without_an_outcome(scene):
    mux_id, pane = await scene.start_bash()
    sending = asyncio.ensure_future(scene.send(pane, "true left-alone", key="k"))
    await wait_until(lambda: "left-alone" in scene.capture_screen(mux_id))
    sending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sending
    send = await scene.store.deliveries.find_by_key("k")
    assert send is not None and send.status in ("typed_not_submitted", "delivered", "unknown")
    assert await scene.store.deliveries.list_open() == []
    assert [one.stage for one in await scene.store.audit.list()] == ["intent", "outcome"]
    assert scene.capture_screen(mux_id).count("left-alone") == 1


async def test_a_delivery_of_the_next_daemon_is_not_recovered(scene, monkeypatch):
    _, pane = await scene.start_bash()
    kill_daemon_at(monkeypatch, TmuxPaneControl, "write", before=True)
    await send_and_kill(scene, pane, "true left")
    monkeypatch.undo()
    left = await scene.store.deliveries.list_open()
    sending = asyncio.ensure_future(scene.send(pane, "true own", key="own"))
    await wait_until(lambda: "own" in scene.capture_screen(scene.find_mux_id(pane)))
    await scene.gate.recover(left)
    assert (await sending).status == "delivered"
    assert (await scene.store.deliveries.find_by_key("own")).status == "delivered"
