"""A newcomer's path through the real command line, and what it says when something is wrong."""

import asyncio
import hashlib
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from termvisor.clock import SystemClock
from termvisor.settings import make_instance_folders
from termvisor.store import Store
from termvisor.testing.leftover_processes import list_processes
from termvisor.testing.private_tmux import PrivateTmux, make_short_folder, run_private_tmux
from termvisor.testing.visor_instance import VisorInstance, run_instance
from tests.live.conftest import WatchedTmux, run_compiled_instance, run_watched_tmux
from tests.live.polling import wait_until


@pytest.fixture(scope="module")
def fleet():
    """A watched server with one shell in session `work` and two panes in session `pair`."""
    with run_watched_tmux() as scene:
        scene.wait_until_captured(scene.tmux.start_session())
        scene.tmux.start_session("pair")
        scene.wait_until_captured(scene.tmux.open_window("pair", "sh"))
        yield scene


def in_words(visor: VisorInstance, *words: str) -> tuple[int, str, str]:
    """Status, message and hint of a command that fails, as a person reads them; nothing may stand on stdout."""
    status, out, errors = visor.run(*words)
    message, hint = errors.splitlines()
    assert out == ""
    return status, message.removeprefix("visor: "), hint.removeprefix("hint: ")


def in_json(visor: VisorInstance, *words: str) -> tuple[int, str, str, str]:
    """Status, code, message and hint of a robot call that fails; nothing may stand on stderr."""
    status, out, errors = visor.run("robot", *words)
    told = json.loads(out)
    assert (errors, told["ok"], told["data"]) == ("", False, None)
    return status, told["error"]["code"], told["error"]["message"], told["hint"]


def complaint(visor: VisorInstance, *words: str) -> tuple[int, str, str]:
    """Status, code and message; both faces say the same, and both say what to do next."""
    status, message, hint = in_words(visor, *words)
    robot_status, code, robot_message, robot_hint = in_json(visor, *words)
    assert (status, message, hint) == (robot_status, robot_message, robot_hint)
    assert hint
    return status, code, message


def nothing_left(visor: VisorInstance) -> bool:
    return wait_until(lambda: list_processes(visor.paths.runtime_dir) == {}, timeout_s=3)


def test_from_nothing_to_a_found_word_and_back_to_nothing(folder):
    with run_instance(folder, f"{folder}/none") as visor:
        shown = visor.run_checked("up", "--demo-if-empty")
        assert "6 panes, 0 gaps" in shown
        assert shown.splitlines()[-1].startswith("Still running: daemon (pid ")
        assert shown.splitlines()[-1].endswith("demo tmux server. Stop with `visor down`.")
        hits = wait_until(lambda: visor.call_robot("search", "harbour*")["items"])
        pane, text = hits[-1]["identity"]["id"], hits[-1]["text"]
        assert text.split("harbour")[0].strip() in visor.run_checked("search", "harbour*")
        assert text in visor.run_checked("get-text", str(pane), "--tail", "500")
        assert len(visor.call_robot("state")["items"]) == 6
        demo = PrivateTmux(visor.paths.demo_socket)
        assert demo.is_running
        said = visor.run_checked("down")
        assert [line.split(" (")[0] for line in said.splitlines()] == [
            "Stopped the demo.",
            "Stopped the daemon",
            "Stopped the recorder",
        ]
        assert nothing_left(visor)
        assert not demo.is_running
        assert visor.run_checked("down") == "Nothing was running.\n"


def left_alone(tmux: PrivateTmux) -> bool:
    """Whether nothing of ours is in that server: no session, no client, no pipe."""
    wait_until(lambda: tmux("list-sessions", "-F", "#{session_name}") == "work")
    return (tmux("list-clients"), tmux("list-panes", "-a", "-F", "#{pane_pipe}")) == ("", "0")


def test_a_stopped_daemon_takes_its_recorder_and_its_client_along(scene, shell):
    scene.print_word(shell, "before-the-end")
    running = list_processes(scene.visor.paths.runtime_dir)
    assert len(running) == 3
    assert sum("tmux" in line and " -C " in line for line in running.values()) == 1
    scene.visor.kill_daemon(signal.SIGTERM)
    assert nothing_left(scene.visor)
    assert left_alone(scene.tmux)
    scene.wait_until_captured(shell)
    assert "before-the-end" in scene.read_lines(shell)
    assert "_visor" in scene.tmux("list-sessions", "-F", "#{session_name}").split()
    scene.visor.run_checked("down")
    assert nothing_left(scene.visor)
    assert left_alone(scene.tmux)


def test_wait_for_finds_what_was_printed_before_the_call(fleet):
    fleet.print_word("%0", "printed-before-the-call")
    waited = fleet.visor.call_robot("wait-for", "work", "printed-before-the-call", "--timeout-secs", "0")
    assert (waited["outcome"], waited["line"]["text"]) == ("matched", "printed-before-the-call")
    assert fleet.visor.run_checked("wait-for", "work", "printed-before-the-call") == "printed-before-the-call\n"


def test_wait_for_counts_only_what_came_after_a_cursor(fleet):
    fleet.print_word("%0", "already-read")
    cursor = fleet.visor.call_robot("get-text", "work")["cursor"]
    words = ("wait-for", "work", "already-read", "--since", cursor, "--timeout-secs", "0.2")
    assert complaint(fleet.visor, *words)[:2] == (124, "timeout")


def test_wait_for_gives_up_in_time(fleet):
    ours = fleet.find_pane_id("%0")
    assert complaint(fleet.visor, "wait-for", "work", "never-said", "--timeout-secs", "0.2") == (
        124,
        "timeout",
        f"timed out after 0.2 s waiting for pane {ours}",
    )


def test_wait_for_ends_with_the_pane(fleet):
    mux_id = fleet.tmux.start_session("brief")
    ours = fleet.wait_until_captured(mux_id)
    command = [sys.executable, "-m", "termvisor", "wait-for", str(ours), "never-said", "--timeout-secs", "60"]
    with subprocess.Popen(command, env=fleet.visor.env, stderr=subprocess.PIPE, text=True) as waiting:
        fleet.tmux("kill-pane", "-t", mux_id)
        _, errors = waiting.communicate(timeout=20)
    assert (waiting.returncode, errors.splitlines()[0]) == (
        4,
        f"visor: pane {ours} closed before the pattern matched",
    )
    assert fleet.visor.call_robot("wait-for", str(ours), "--gone")["outcome"] == "gone"


@pytest.mark.parametrize("command", ["get-text", "get-screen", "wait-for --gone", "export"])
@pytest.mark.parametrize("reference", ["4242", "%4242", "nobody", "work:7", "pane:local/work/@99/%0"])
def test_a_pane_that_nobody_knows_is_told(fleet, command, reference):
    status, code, message = complaint(fleet.visor, *command.split(), reference)
    assert (status, code, message) == (4, "pane_not_found", f"pane '{reference}' not found")


def test_a_name_that_fits_two_panes_is_refused_and_names_both(fleet):
    status, code, message = complaint(fleet.visor, "get-text", "pair")
    ids = sorted(item["identity"]["id"] for item in fleet.list_panes() if item["identity"]["session_name"] == "pair")
    assert (status, code, message) == (4, "ref_ambiguous", f"'pair' matches 2 panes: {ids[0]}, {ids[1]}")
    details = json.loads(fleet.visor.run("robot", "get-text", "pair")[1])["error"]["details"]
    assert [int(candidate.split()[0]) for candidate in details["candidates"]] == ids


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        ("explode", 2, "unknown_command"),
        ("get-text", 2, "invalid_args"),
        ("get-text work --tail many", 2, "invalid_args"),
        ("get-text work --since 99:1", 2, "invalid_cursor"),
        ("wait-for work ( --regex", 2, "invalid_args"),
        ("search since:someday x", 2, "invalid_args"),
        ("export --raw", 2, "invalid_args"),
    ],
)
def test_a_wrong_call_says_what_is_wrong_and_what_to_do(fleet, words, status, code):
    assert complaint(fleet.visor, *words.split())[:2] == (status, code)


def test_without_tmux_the_newcomer_is_told_how_to_get_it(folder):
    with run_compiled_instance(folder, f"{folder}/none") as visor:
        visor.env = {**visor.env, "PATH": folder}
        status, message, hint = in_words(visor, "up", "--demo-if-empty")
        assert (status, message) == (69, "tmux is not installed")
        assert "apt-get install tmux" in hint
        status, report, _ = visor.run("doctor")
        assert (status, [line for line in report.splitlines() if line.startswith("fail")]) == (
            1,
            ["fail  tmux           tmux: not found"],
        )


def test_a_dead_socket_is_an_empty_fleet_and_starts_no_server(folder):
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(f"{folder}/dead")
    with run_compiled_instance(folder, f"{folder}/dead") as visor:
        assert visor.call_robot("state")["items"] == []
        assert "visor demo" in visor.run_checked("up")
        assert not PrivateTmux(f"{folder}/dead").is_running
        assert visor.call_robot("health")["forks"] == 0


def test_two_instances_do_not_meet(fleet):
    fleet.print_word("%0", "only-in-the-first")
    with (
        make_short_folder() as other,
        run_private_tmux(other) as tmux,
        run_compiled_instance(other, tmux.socket) as visor,
    ):
        second = WatchedTmux(tmux, visor)
        second.print_word(tmux.start_session("elsewhere"), "only-in-the-second")
        for one, said in ((fleet.visor, "only-in-the-first"), (visor, "only-in-the-second")):
            assert [hit["text"] for hit in one.call_robot("search", '"only in the"')["items"]] == [said]
        assert {fleet.visor.daemon_pid, fleet.visor.recorder_pid} & {visor.daemon_pid, visor.recorder_pid} == set()
        visor.run_checked("down")
        assert nothing_left(visor)
    fleet.print_word("%0", "the-first-goes-on")
    assert fleet.list_pane_gap_causes(fleet.find_pane_id("%0")) == []


def test_two_instances_on_one_server_both_hear_it(fleet):
    with make_short_folder() as other, run_compiled_instance(other, fleet.tmux.socket) as visor:
        second = WatchedTmux(fleet.tmux, visor)
        second.wait_until_captured("%0", "control")
        fleet.print_word("%0", "heard-by-both")
        visor.call_robot("wait-for", str(second.find_pane_id("%0")), "heard-by-both")
    fleet.print_word("%0", "heard-by-one")
    assert fleet.list_pane_gap_causes(fleet.find_pane_id("%0")) == []


def garbage(path: Path) -> None:
    path.write_bytes(b"this is no database\n" * 500)


def stored(path: Path, version: int = 1) -> None:
    """A database as a Termvisor of that version leaves it."""

    async def make() -> None:
        await (await Store.open(str(path), SystemClock())).close()

    asyncio.run(make())
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()


def newer(path: Path) -> None:
    stored(path, 9999)


def torn(path: Path) -> None:
    stored(path)
    data = bytearray(path.read_bytes())
    data[4096:8192] = os.urandom(4096)
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("make", "code", "says"),
    [
        (garbage, "storage_error", "is not a database"),
        (torn, "storage_error", "is damaged"),
        (newer, "newer_database", "has schema 9999"),
    ],
)
def test_a_database_that_cannot_be_used_is_named_and_left_as_it_is(folder, tmux, make, code, says):
    tmux.start_session()
    with run_compiled_instance(folder, tmux.socket) as visor:
        make_instance_folders(visor.paths)
        path = Path(visor.paths.database)
        make(path)
        before = hashlib.sha256(path.read_bytes()).hexdigest()
        status, told, message, hint = in_json(visor, "state")
        assert (status, told) == (74, code)
        assert hint
        assert str(path) in message
        assert says in message
        assert hashlib.sha256(path.read_bytes()).hexdigest() == before
        assert nothing_left(visor)
        assert tmux("list-sessions", "-F", "#{session_name}") == "work"
