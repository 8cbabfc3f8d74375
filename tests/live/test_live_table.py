"""`visor up` in a real terminal: answer an agent and go to a pane with the keyboard."""

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from termvisor.testing.private_tmux import PrivateTmux, make_short_folder, run_private_tmux
from termvisor.testing.visor_instance import VisorInstance, run_instance
from tests.live.polling import wait_until
from tests.pattern_cache import install_pattern_cache


def build_up_command(visor: VisorInstance) -> str:
    names = [f"{name}={value}" for name, value in visor.env.items() if name.startswith("VISOR_")]
    return shlex.join(["env", *names, sys.executable, "-m", "termvisor", "up", "--interval", "0.2"])


@contextmanager
def open_terminal(folder: str, command: str) -> Iterator[PrivateTmux]:
    """A terminal of 80 columns, in a tmux server that is not watched."""
    with run_private_tmux(folder, "outer") as tmux:
        tmux.start_session("terminal", f"{command}; cat", width=80, height=24)
        yield tmux


def read_screen(terminal: PrivateTmux) -> str:
    return terminal("capture-pane", "-p", "-t", "terminal")


def wait_for_text(terminal: PrivateTmux, text: str) -> str:
    wait_until(lambda: text in read_screen(terminal), timeout_s=30)
    return read_screen(terminal)


@pytest.mark.live
def test_who_needs_you_is_on_top_and_is_answered_in_place() -> None:
    with make_short_folder() as folder, run_instance(folder, f"{folder}/none") as visor:
        install_pattern_cache(visor.paths)
        # A terminal that is older than the agents cannot be one of theirs, so its user counts as a person.
        with open_terminal(folder, "sh") as terminal:
            visor.run_checked("demo")
            terminal.type_line("terminal", build_up_command(visor))
            screen = wait_for_text(terminal, "(a approves, d denies)")
            assert "! waiting approval" in screen.splitlines()[3]
            assert "unknown (no signal)" not in screen
            terminal("send-keys", "-t", "terminal", "a")
            wait_for_text(terminal, "? y or n")
            terminal("send-keys", "-t", "terminal", "y")
            wait_for_text(terminal, " approved: accept the dialog")
            wait_until(lambda: visor.call_robot("inbox", "--all")["items"][-1]["state"] == "used")


@pytest.mark.live
def test_enter_switches_the_client_to_the_selected_pane() -> None:
    with make_short_folder() as folder, run_private_tmux(folder) as tmux:
        tmux.start_session("there", "cat")
        with run_instance(folder, tmux.socket) as visor:
            tmux.start_session("here", f"{build_up_command(visor)}; cat")
            attach = shlex.join(["env", "-u", "TMUX", "tmux", "-S", tmux.socket, "attach", "-t", "here"])
            with open_terminal(folder, attach) as terminal:
                wait_for_text(terminal, "q quits")
                terminal("send-keys", "-t", "terminal", "/there")
                wait_for_text(terminal, "1 found")
                terminal("send-keys", "-t", "terminal", "Enter")
                wait_for_text(terminal, "1 of 2 panes")
                terminal("send-keys", "-t", "terminal", "Enter")
                wait_until(lambda: tmux("list-clients", "-F", "#{session_name}").split() == ["there"])


@pytest.mark.live
def test_enter_attaches_in_a_terminal_without_tmux_and_detaching_returns() -> None:
    with make_short_folder() as folder, run_private_tmux(folder) as tmux:
        tmux.start_session("there", "echo arrived; cat")
        with run_instance(folder, tmux.socket) as visor, open_terminal(folder, "sh") as terminal:
            terminal.type_line("terminal", f"unset TMUX; {build_up_command(visor)}")
            wait_for_text(terminal, "q quits")
            terminal("send-keys", "-t", "terminal", "Enter")
            wait_for_text(terminal, "arrived")
            terminal("send-keys", "-t", "terminal", "C-b", "d")
            wait_for_text(terminal, "q quits")
