"""Marks that another program prints right after our Enter, with the nonce that every program of the user can read."""

import os
from collections.abc import Sequence

import pytest

from termvisor.actions import text_typer
from termvisor.backends.pane_control import GuardResult, PaneControl, PaneGuard
from termvisor.daemon.assembly import load_nonce
from termvisor.model.ids import PaneId
from termvisor.testing.private_tmux import make_short_folder
from tests.unit.actions.gate_scene import GateScene, open_gate_scene
from tests.unit.actions.scripted_gate import GateOnScriptedPane
from tests.unit.actions.test_typing_outcomes import SEND, call_at, lose_input
from tests.unit.wait_until import wait_until


@pytest.fixture
async def scene():
    with make_short_folder() as folder:
        async with open_gate_scene(folder) as opened:
            yield opened


class ForgingControl:
    """Controls a pane, and prints a mark on its terminal right after Enter, as a program in the background could."""

    def __init__(self, control: PaneControl, tty: str, printed: bytes):
        self._control, self._tty, self._printed = control, tty, printed

    async def press(self, guard: PaneGuard, keys: Sequence[str]) -> GuardResult:
        mismatch = await self._control.press(guard, keys)
        terminal = os.open(self._tty, os.O_WRONLY | os.O_NOCTTY)
        os.write(terminal, self._printed)
        os.close(terminal)
        return mismatch

    def __getattr__(self, name: str) -> object:
        return getattr(self._control, name)


def forge_after_enter(scene: GateScene, mux_id: str, printed: bytes) -> None:
    tty, get_control = scene.tmux.read_format(mux_id, "#{pane_tty}"), scene.panes.get_control
    scene.panes.get_control = lambda pane: ForgingControl(get_control(pane), tty, printed)


async def ignore_enter(scene: GateScene, pane: PaneId) -> None:
    """Make Enter only redraw the line, so that the shell reads it and runs nothing."""
    assert (await scene.send(pane, "bind '\"\\C-m\": redraw-current-line'")).status == "delivered"
    await scene.wait_until_at_prompt(pane)


@pytest.mark.parametrize("aid", ["", ";aid=1", ";aid={shell}"], ids=["no-shell", "another-shell", "this-shell"])
async def test_a_forged_mark_after_enter_proves_no_start(scene, monkeypatch, aid: str) -> None:
    monkeypatch.setattr(text_typer, "CONFIRM_TIMEOUT_S", 1.0)
    mux_id, pane = await scene.start_bash()
    await ignore_enter(scene, pane)
    shell, nonce = scene.tmux.read_format(mux_id, "#{pane_pid}"), load_nonce(scene.places.nonce_file)
    forge_after_enter(scene, mux_id, f"\x1b]133;C{aid.format(shell=shell)};nonce={nonce}\x07".encode())
    outcome = await scene.send(pane, "touch forged")
    times = scene.services._components.pipeline.current_readers[pane].shells.command_times
    await wait_until(lambda: len(times) == 2 or aid == ";aid={shell}")
    assert (outcome.status, outcome.why) == ("unknown", "mark_not_proven")


async def test_a_forged_mark_does_not_hide_the_true_one(scene) -> None:
    mux_id, pane = await scene.start_bash()
    nonce = load_nonce(scene.places.nonce_file)
    forge_after_enter(scene, mux_id, f"\x1b]133;C;aid=1;nonce={nonce}\x07".encode())
    outcome = await scene.send(pane, "true")
    assert (outcome.status, outcome.why) == ("delivered", "command_started")


async def test_a_shell_that_has_not_read_enter_started_nothing() -> None:
    scene = GateOnScriptedPane()

    async def count_read_bytes(_pane, _pid):
        return 7

    scene.pane.count_read_bytes = count_read_bytes
    call_at(scene.pane, "press", after=lose_input)
    outcome = await scene.run(SEND)
    assert (outcome.status, outcome.why) == ("unknown", "mark_not_proven")
