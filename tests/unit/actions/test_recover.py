"""A daemon killed at any step of a delivery: the next one logs a true outcome and types nothing twice."""

import asyncio

import pytest

from termvisor.backends.tmux.pane_control import TmuxPaneControl
from termvisor.store.tables.deliveries import DeliveryTable
from termvisor.testing.private_tmux import make_short_folder
from tests.unit.actions.gate_scene import GateScene, open_gate_scene
from tests.unit.wait_until import wait_until


class Killed(BaseException):
    """The daemon is gone; nothing after this line happens."""


@pytest.fixture
async def home():
    with make_short_folder() as folder:
        async with open_gate_scene(folder) as opened:
            yield opened


def dies(monkeypatch, owner: type, name: str, *, before: bool, nth: int = 1) -> None:
    """From now on the daemon dies right before, or right after, this call."""
    real, calls = getattr(owner, name), []

    async def call(*args, **kwargs):
        calls.append(1)
        is_last = len(calls) == nth
        if is_last and before:
            raise Killed
        answer = await real(*args, **kwargs)
        if is_last:
            raise Killed
        return answer

    monkeypatch.setattr(owner, name, call)


async def killed(home: GateScene, pane, text: str) -> None:
    with pytest.raises(Killed):
        await home.send(pane, text, key="k")


async def recovered(home: GateScene, monkeypatch) -> tuple[str, str]:
    monkeypatch.undo()
    await home.world.panes.wait_until_stored()
    (left,) = await home.store.deliveries.list_open()
    await home.gate.recover([left])
    send = await home.store.deliveries.find_by_key("k")
    assert send is not None and send.status is not None
    assert await home.store.audit.verify() is None
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
async def test_a_crash_at_every_step_has_a_true_outcome(home, monkeypatch, owner, name, before, status, times):
    mux_id, pane = await home.bash()
    dies(monkeypatch, owner, name, before=before)
    await killed(home, pane, "true one-of-a-kind")
    await wait_until(lambda: home.screen(mux_id).count("one-of-a-kind") == times)
    is_done = status == "delivered"
    await wait_until(
        lambda: not is_done or home.world._components.pipeline.current_readers[pane].shells.last_command_at > 0
    )
    assert await recovered(home, monkeypatch) == (status, "interrupted")
    again = await home.send(pane, "true one-of-a-kind", key="k")
    assert (again.status, again.is_repeated) == (status, True)
    assert home.screen(mux_id).count("one-of-a-kind") == times


async def test_another_text_in_the_input_is_not_taken_for_ours(home, monkeypatch):
    mux_id, pane = await home.bash()
    dies(monkeypatch, TmuxPaneControl, "write", before=True)
    await killed(home, pane, "echo ours")
    home.tmux("send-keys", "-t", mux_id, "-l", "echo theirs")
    await wait_until(lambda: "theirs" in home.screen(mux_id))
    assert await recovered(home, monkeypatch) == ("unknown", "interrupted")


async def test_another_command_is_not_taken_for_ours(home, monkeypatch):
    mux_id, pane = await home.bash()
    dies(monkeypatch, TmuxPaneControl, "press", before=True)
    await killed(home, pane, "true ours")
    home.tmux("send-keys", "-t", mux_id, "C-u")
    home.tmux.type_line(mux_id, "true theirs")
    await wait_until(lambda: home.world._components.pipeline.current_readers[pane].shells.last_command_at > 0)
    assert await recovered(home, monkeypatch) == ("unknown", "interrupted")


async def test_a_disconnected_client_leaves_no_delivery_without_an_outcome(home):
    mux_id, pane = await home.bash()
    sending = asyncio.ensure_future(home.send(pane, "true left-alone", key="k"))
    await wait_until(lambda: "left-alone" in home.screen(mux_id))
    sending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sending
    send = await home.store.deliveries.find_by_key("k")
    assert send is not None and send.status in ("typed_not_submitted", "delivered", "unknown")
    assert await home.store.deliveries.list_open() == []
    assert [one.stage for one in await home.store.audit.list()] == ["intent", "outcome"]
    assert home.screen(mux_id).count("left-alone") == 1


async def test_a_delivery_of_the_next_daemon_is_not_recovered(home, monkeypatch):
    _, pane = await home.bash()
    dies(monkeypatch, TmuxPaneControl, "write", before=True)
    await killed(home, pane, "true left")
    monkeypatch.undo()
    left = await home.store.deliveries.list_open()
    sending = asyncio.ensure_future(home.send(pane, "true own", key="own"))
    await wait_until(lambda: "own" in home.screen(home.mux(pane)))
    await home.gate.recover(left)
    assert (await sending).status == "delivered"
    assert (await home.store.deliveries.find_by_key("own")).status == "delivered"
