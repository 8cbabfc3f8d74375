"""`visor spawn`: the output of a new program is captured from its first byte."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from termvisor.system.subprocesses import run_and_capture
from termvisor.testing.private_tmux import make_short_folder
from termvisor.testing.visor_instance import VisorInstance, run_instance
from tests.live.numbered_printer import read_raw_log
from tests.live.polling import wait_until
from tests.live.robot_shells import SHELLS, allow_robots, run_robot_scene
from tests.live.shell_setup import ShellHome


@pytest.fixture(scope="module")
def fleet():
    with run_robot_scene("spawn") as scene:
        yield scene


@pytest.fixture
def write_program(tmp_path):
    """Return a function that writes a script and returns its path: the policy allows only plain program names."""

    def write(text: str) -> str:
        path = tmp_path / "program"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return str(path)

    return write


def spawn(fleet, *words: str) -> int:
    """Start a program and return the id of its pane."""
    return fleet.visor.call_robot("spawn", *words)["new"]["id"]


@pytest.mark.parametrize("place", [("--session", "keep"), ("--where", "session"), ("--where", "pane", "--beside", "1")])
def test_the_first_byte_of_a_program_is_in_the_raw_log(fleet, write_program, place):
    program = write_program("echo first; exec sleep 1000")
    for _ in range(3):
        pane = spawn(fleet, *place, "--", program)
        fleet.visor.call_robot("wait-for", str(pane), "first", "--timeout-secs", "20")
        assert read_raw_log(fleet.visor.paths.raw_dir, pane) == b"first\r\n"
        assert fleet.list_event_data(pane, "epoch_opened")[0]["baseline"] == 0


@contextmanager
def run_instance_without_servers() -> Iterator[tuple[VisorInstance, list[str]]]:
    """Run an instance that watches two sockets on which no server runs yet."""
    with make_short_folder() as folder:
        sockets = [f"{folder}/t/one", f"{folder}/t/two"]
        with run_instance(folder, *sockets) as visor:
            allow_robots(visor, "spawn")
            yield visor, sockets
            for socket in filter(os.path.exists, sockets):
                run_and_capture(["tmux", "-N", "-S", socket, "kill-server"])


@pytest.mark.parametrize(("words", "number"), [((), 0), (("--server", "two"), 1)], ids=["default", "named"])
def test_a_server_that_is_not_running_is_started(write_program, words, number):
    program = write_program("echo first; exec sleep 1000")
    with run_instance_without_servers() as (visor, sockets):
        started = visor.call_robot("spawn", *words, "--session", "shop", "--", program)
        assert started["text"] == f"no server was running; started the tmux server {sockets[number]}"
        pane = started["new"]["id"]
        visor.call_robot("wait-for", str(pane), "first", "--timeout-secs", "20")
        assert read_raw_log(visor.paths.raw_dir, pane) == b"first\r\n"
        again = visor.call_robot("spawn", "--session", "shop", "--server", sockets[number], "--", program)
        assert again["text"] == ""


def test_a_server_that_would_not_be_watched_is_not_started(write_program):
    with run_instance_without_servers() as (visor, _):
        status, _, errors = visor.run("spawn", "--server", "three", "--", "top")
        assert status != 0
        assert "no tmux server three" in errors


@pytest.mark.parametrize("shell", SHELLS)
def test_the_first_prompt_of_a_new_shell_is_known_and_its_first_command_has_a_folder(
    fleet, tmp_path, write_program, shell
):
    home = ShellHome(tmp_path, shell).write_setup(fleet.visor.paths)
    (tmp_path / "go").touch()
    pane = spawn(fleet, "--session", "keep", "--cwd", str(tmp_path), "--", write_program(home.build_command()))
    mux_id = next(item["identity"]["pane_id"] for item in fleet.list_panes() if item["identity"]["id"] == pane)
    wait_until(lambda: read_activity(fleet, pane) == ("prompt", True))
    fleet.tmux.type_line(mux_id, "true")
    commands = wait_until(lambda: fleet.visor.call_robot("commands", "--pane", str(pane))["items"])
    assert [(item["command"], item["cwd"]) for item in commands] == [("true", str(tmp_path))]


def read_activity(fleet, pane: int) -> tuple[str, bool]:
    activity = next(item["activity"] for item in fleet.list_panes() if item["identity"]["id"] == pane)
    return activity["kind"], activity["is_proven"]


@pytest.mark.parametrize(("command", "shown"), [("", "started"), ("exec sh -c 'echo mine; exec sleep 1000'", "mine")])
def test_without_a_program_the_users_shell_starts(fleet, write_program, command, shown):
    shell = write_program('[ "$1" = -c ] && eval "$2"; [ "$1" = -l ] && echo started; exec sleep 1000')
    session = fleet.tmux.start_session(command="exec sleep 1000")
    fleet.tmux("set-option", "-t", session, "default-shell", shell)
    fleet.tmux("set-option", "-t", session, "default-command", command)
    name = fleet.tmux.read_format(session, "#{session_name}")
    pane = spawn(fleet, "--session", name)
    fleet.visor.call_robot("wait-for", str(pane), shown, "--timeout-secs", "20")


def test_no_program_waits_after_the_daemon_was_killed(fleet):
    fifo = Path(fleet.visor.paths.runtime_dir, "start-leftover")
    os.mkfifo(fifo, 0o600)
    mux_id = fleet.tmux.start_session(command=f"read line < {fifo}; echo released; exec sleep 1000")
    fleet.visor.kill_daemon()
    fleet.list_panes()
    wait_until(lambda: "released" in fleet.tmux("capture-pane", "-p", "-t", mux_id))
    assert not fifo.exists()
