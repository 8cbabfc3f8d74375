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
from tests.unit.frontends.tui.test_live_table import Reader


@contextmanager
def player(folder: str, places: Paths, *words: str, width: int = 120) -> Iterator[Reader]:
    names = [
        f"{name}={value}" for name, value in build_environment(places).items() if name.startswith(("VISOR_", "PATH"))
    ]
    command = shlex.join(["env", *names, sys.executable, "-m", "termvisor", "replay", *words])
    with run_private_tmux(folder) as tmux:
        yield Reader(tmux, tmux.start_session(command=f"{command}; echo left with $?; cat", width=width, height=20))


@pytest.fixture
def places(folder: str) -> Iterator[Paths]:
    with run_fake_daemon(folder) as found:
        yield found


def test_it_plays_pauses_steps_and_seeks(folder: str, places: Paths) -> None:
    with player(folder, places, "1") as one:
        one.sees_text("screen 1 of pane 1")
        one.press("Space")
        one.sees_text("❚❚ 1 ·")
        one.press("g")
        one.sees_text("screen 0 of pane 1")
        one.press(".")
        one.sees_text("screen 1 of pane 1")
        one.press("Right")
        one.sees_text("screen 21 of pane 1")
        one.press("Left")
        one.sees_text("screen 1 of pane 1")
        one.press("Up")
        one.sees_text("screen 99 of pane 1")
        one.press("Space")
        one.sees_text("screen 100 of pane 1")
        one.sees_text("end of the recording")
        one.press("e")
        one.sees_text("no later event")


def test_it_leaves_the_terminal_as_it_was(folder: str, places: Paths) -> None:
    with player(folder, places, "1", "--speed", "8") as one:
        one.sees_text("8×")
        assert one.tmux.read_format(one.pane, "#{alternate_on}") == "1"
        one.press("q")
        one.sees_text("left with 0")
        assert one.tmux.read_format(one.pane, "#{alternate_on}#{cursor_flag}") == "01"
        assert "screen" not in "\n".join(one.screen())


def test_ctrl_c_leaves_without_a_traceback(folder: str, places: Paths) -> None:
    with player(folder, places, "1") as one:
        one.sees_text("screen 1")
        one.press("C-c")
        one.sees_text("left with 0")
        assert "Traceback" not in "\n".join(one.screen())


def test_a_signal_leaves_the_terminal_as_it_was(folder: str, places: Paths) -> None:
    with player(folder, places, "1") as one:
        one.sees_text("screen 1")
        shell = one.tmux.read_format(one.pane, "#{pane_pid}")
        with open(f"/proc/{shell}/task/{shell}/children", encoding="ascii") as file:
            os.kill(int(file.read().split()[0]), signal.SIGTERM)
        one.sees_text("left with 0")
        assert one.tmux.read_format(one.pane, "#{alternate_on}#{cursor_flag}") == "01"


def test_it_follows_the_size_of_the_terminal(folder: str, places: Paths) -> None:
    with player(folder, places, "1") as one:
        one.sees_text("screen 1")
        one.press("Space")
        one.tmux("resize-window", "-t", one.pane, "-x", "50", "-y", "8")
        one.sees(lambda rows: "cut from 60×12" in rows[-1] or "❚❚" in rows[-1])
        one.sees(lambda rows: len(rows) == 8)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("99",), "visor: pane '99' not found"),
        (("1", "--at", "2020-01-01", "--until", "2020-01-02"), "this pane has no recording in that time span"),
        (("1", "--at", "5m", "--until", "10m"), "--until is before --at"),
    ],
)
def test_errors_are_printed_on_the_restored_terminal(
    folder: str, places: Paths, words: tuple[str, ...], told: str
) -> None:
    with player(folder, places, *words) as one:
        one.sees_text(told)
        one.sees(lambda rows: any(row.startswith("left with") and row != "left with 0" for row in rows))
        assert one.tmux.read_format(one.pane, "#{alternate_on}#{cursor_flag}") == "01"


def test_the_event_we_stand_at_is_neither_next_nor_previous() -> None:
    events = [Event(at=at * NS, kind=f"e{at}") for at in (10, 20, 30)]
    assert find_nearest_event(events, 20 * NS, is_next=True) == events[2]
    assert find_nearest_event(events, 20 * NS, is_next=False) == events[0]
    assert find_nearest_event(events, 30 * NS, is_next=True) is None
    assert find_nearest_event(events, 10 * NS, is_next=False) is None
