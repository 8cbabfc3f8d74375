"""`visor up` in a real terminal: answer an agent, go to a pane and come back, with the keyboard."""

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from termvisor.testing.private_tmux import PrivateTmux, make_short_folder, run_private_tmux
from termvisor.testing.visor_instance import VisorInstance, run_instance
from tests.live.polling import wait_until
from tests.pattern_cache import install_pattern_cache

HOSTILE = r"printf 'evil\033]52;c;cm0gLXJmIH4=\007\033]0;owned\007\342\200\256text\n'; exec cat"


def build_up_command(visor: VisorInstance) -> str:
    names = [f"{name}={value}" for name, value in visor.env.items() if name.startswith("VISOR_")]
    return shlex.join(["env", *names, sys.executable, "-m", "termvisor", "up"])


@contextmanager
def open_terminal(folder: str, command: str, *, width: int = 80, height: int = 24) -> Iterator[PrivateTmux]:
    """A terminal in a tmux server that is not watched."""
    with run_private_tmux(folder, "outer") as tmux:
        tmux.start_session("terminal", f"{command}; cat", width=width, height=height)
        yield tmux


def read_screen(terminal: PrivateTmux) -> str:
    return terminal("capture-pane", "-p", "-t", "terminal")


def press(terminal: PrivateTmux, *keys: str) -> None:
    terminal("send-keys", "-t", "terminal", *keys)


def wait_for_text(terminal: PrivateTmux, text: str) -> str:
    try:
        wait_until(lambda: text in read_screen(terminal), timeout_s=30)
    except AssertionError as error:
        raise AssertionError(f"{text!r} is not on the screen:\n{read_screen(terminal)}") from error
    return read_screen(terminal)


@pytest.mark.live
@pytest.mark.parametrize(
    ("key", "question", "outcome", "stage"),
    [
        ("1", "answer 1. Yes, pane", "answer 1. Yes: done", "outcome"),
        ("a", "Allow once: accept the dialog", " approved: accept the dialog", "answered"),
    ],
)
def test_who_needs_you_is_on_top_and_a_persons_answer_in_place_is_human(
    key: str, question: str, outcome: str, stage: str
) -> None:
    with make_short_folder() as folder, run_instance(folder, f"{folder}/none") as visor:
        install_pattern_cache(visor.paths)
        # A terminal that is older than the agents cannot be one of theirs, so its user counts as a person.
        with open_terminal(folder, "sh", width=140, height=40) as terminal:
            visor.run_checked("demo")
            terminal.type_line("terminal", build_up_command(visor))
            screen = wait_for_text(terminal, "2 Yes, and always allow")
            assert "1 needs you" in screen.splitlines()[0]
            wait_for_text(terminal, "request 1")
            press(terminal, key)
            wait_for_text(terminal, question)
            press(terminal, "y")
            wait_for_text(terminal, outcome)
            entries = visor.call_robot("audit", "--limit", "50")["items"]
            by = {(entry["by"].split()[0], entry["face"]) for entry in entries if entry["stage"] == stage}
            assert ("human", "tui") in by
            press(terminal, "q")
            wait_for_text(terminal, "Still running: daemon")


@pytest.mark.live
def test_enter_switches_the_client_to_the_selected_pane() -> None:
    with make_short_folder() as folder, run_private_tmux(folder) as tmux:
        tmux.start_session("there", "cat")
        with run_instance(folder, tmux.socket) as visor:
            tmux.start_session("here", f"{build_up_command(visor)}; cat")
            attach = shlex.join(["env", "-u", "TMUX", "tmux", "-S", tmux.socket, "attach", "-t", "here"])
            with open_terminal(folder, attach) as terminal:
                wait_for_text(terminal, "q quit")
                press(terminal, "/there")
                wait_for_text(terminal, "Filter: there")
                press(terminal, "Enter", "Enter")
                wait_until(lambda: tmux("list-clients", "-F", "#{session_name}").split() == ["there"])


@pytest.mark.live
def test_attaching_and_detaching_twenty_times_returns_to_the_cockpit() -> None:
    with make_short_folder() as folder, run_private_tmux(folder) as tmux:
        tmux.start_session("there", "echo arrived; cat")
        with run_instance(folder, tmux.socket) as visor, open_terminal(folder, "sh") as terminal:
            terminal.type_line("terminal", f"unset TMUX; {build_up_command(visor)}")
            wait_for_text(terminal, "q quit")
            for _ in range(20):
                press(terminal, "Enter")
                wait_until(lambda: tmux("list-clients"))
                press(terminal, "C-b", "d")
                wait_for_text(terminal, "q quit")


@pytest.mark.live
def test_what_a_pane_prints_never_controls_the_terminal() -> None:
    with make_short_folder() as folder, run_private_tmux(folder) as tmux:
        tmux.start_session("evil", HOSTILE)
        with run_instance(folder, tmux.socket) as visor, open_terminal(folder, "sh", width=130) as terminal:
            terminal("set-option", "-s", "set-clipboard", "on")
            terminal("pipe-pane", "-t", "terminal", f"cat > {folder}/bytes")
            terminal.type_line("terminal", f"unset TMUX; {build_up_command(visor)}")
            wait_for_text(terminal, "eviltext")
            press(terminal, "q")
            wait_for_text(terminal, "Still running: daemon")
            with open(f"{folder}/bytes", "rb") as file:
                printed = file.read()
            assert b"\x1b]52" not in printed
            assert b"\x1b]0;" not in printed
            assert "\u202e".encode() not in printed
            assert terminal("list-buffers") == ""


@pytest.mark.live
def test_a_daemon_that_is_killed_is_shown_and_reconnected_to() -> None:
    with make_short_folder() as folder, run_private_tmux(folder) as tmux:
        tmux.start_session("work", "cat")
        with run_instance(folder, tmux.socket) as visor, open_terminal(folder, "sh", width=120) as terminal:
            terminal.type_line("terminal", build_up_command(visor))
            wait_for_text(terminal, " 1 pane ·")
            visor.run_checked("daemon", "stop")
            assert "work:" in wait_for_text(terminal, "trying again every second")
            visor.run_checked("daemon", "start")
            wait_for_text(terminal, " 1 pane ·")
