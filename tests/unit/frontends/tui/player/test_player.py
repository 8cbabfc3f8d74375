"""The player in a real tmux pane, with a daemon with fake services."""

import os
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from termvisor.clock import NS
from termvisor.frontends.tui.player.player import find_nearest_event
from termvisor.model.event import Event
from termvisor.settings import Paths
from termvisor.testing.private_tmux import run_private_tmux
from tests.unit.fake_daemon import build_environment, run_fake_daemon
from tests.unit.frontends.tui.view_terminal import ViewTerminal


@contextmanager
def player(folder: str, places: Paths, *words: str, width: int = 120) -> Iterator[ViewTerminal]:
    names = [
        f"{name}={value}" for name, value in build_environment(places).items() if name.startswith(("VISOR_", "PATH"))
    ]
    command = shlex.join(["env", *names, sys.executable, "-m", "termvisor", "replay", *words])
    with run_private_tmux(folder) as tmux:
        yield ViewTerminal(
            tmux, tmux.start_session(command=f"{command}; echo left with $?; cat", width=width, height=20)
        )


@pytest.fixture
def places(folder: str) -> Iterator[Paths]:
    with run_fake_daemon(folder) as found:
        yield found


def test_the_player_plays_pauses_steps_and_seeks(folder: str, places: Paths) -> None:
    with player(folder, places, "1") as one:
        one.wait_for_text("screen 1 of pane 1")
        one.press("Space")
        one.wait_for_text("❚❚ 1 ·")
        one.press("g")
        one.wait_for_text("screen 0 of pane 1")
        one.press(".")
        one.wait_for_text("screen 1 of pane 1")
        one.press("Right")
        one.wait_for_text("screen 21 of pane 1")
        one.press("Left")
        one.wait_for_text("screen 1 of pane 1")
        one.press("Up")
        one.wait_for_text("screen 99 of pane 1")
        one.press("Space")
        one.wait_for_text("screen 100 of pane 1")
        one.wait_for_text("end of the recording")
        one.press("e")
        one.wait_for_text("no later event")


def test_quitting_restores_the_terminal(folder: str, places: Paths) -> None:
    with player(folder, places, "1", "--speed", "8") as one:
        one.wait_for_text("8×")
        assert one.tmux.read_format(one.pane, "#{alternate_on}") == "1"
        one.press("q")
        one.wait_for_text("left with 0")
        assert one.tmux.read_format(one.pane, "#{alternate_on}#{cursor_flag}") == "01"
        assert "screen" not in "\n".join(one.screen())


def test_ctrl_c_leaves_without_a_traceback(folder: str, places: Paths) -> None:
    with player(folder, places, "1") as one:
        one.wait_for_text("screen 1")
        one.press("C-c")
        one.wait_for_text("left with 0")
        assert "Traceback" not in "\n".join(one.screen())


def test_a_signal_restores_the_terminal(folder: str, places: Paths) -> None:
    with player(folder, places, "1") as one:
        one.wait_for_text("screen 1")
        shell = one.tmux.read_format(one.pane, "#{pane_pid}")
        with open(f"/proc/{shell}/task/{shell}/children", encoding="ascii") as file:
            os.kill(int(file.read().split()[0]), signal.SIGTERM)
        one.wait_for_text("left with 0")
        assert one.tmux.read_format(one.pane, "#{alternate_on}#{cursor_flag}") == "01"


def test_the_view_follows_the_size_of_the_terminal(folder: str, places: Paths) -> None:
    with player(folder, places, "1") as one:
        one.wait_for_text("screen 1")
        one.press("Space")
        one.tmux("resize-window", "-t", one.pane, "-x", "50", "-y", "8")
        one.wait_for_rows(lambda rows: "cut from 60×12" in rows[-1] or "❚❚" in rows[-1])
        one.wait_for_rows(lambda rows: len(rows) == 8)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("99",), "visor: pane '99' not found"),
        (("1", "--at", "2020-01-01", "--until", "2020-01-02"), "this pane has no recording in that time span"),
        (("1", "--at", "5m", "--until", "10m"), "--until is before --at"),
    ],
)
def test_errors_are_printed_on_the_restored_terminal(
    folder: str, places: Paths, words: tuple[str, ...], expected: str
) -> None:
    with player(folder, places, *words) as one:
        one.wait_for_text(expected)
        one.wait_for_rows(lambda rows: any(row.startswith("left with") and row != "left with 0" for row in rows))
        assert one.tmux.read_format(one.pane, "#{alternate_on}#{cursor_flag}") == "01"


def test_the_current_event_is_neither_next_nor_previous() -> None:
    events = [Event(at=at * NS, kind=f"e{at}") for at in (10, 20, 30)]
    assert find_nearest_event(events, 20 * NS, is_next=True) == events[2]
    assert find_nearest_event(events, 20 * NS, is_next=False) == events[0]
    assert find_nearest_event(events, 30 * NS, is_next=True) is None
    assert find_nearest_event(events, 10 * NS, is_next=False) is None
