"""The real command line: first use, wait-for, and error messages."""

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
from termvisor.ops.api.catalog import name_robot_commands
from termvisor.settings import make_instance_folders
from termvisor.store import Store
from termvisor.testing.leftover_processes import list_processes
from termvisor.testing.private_tmux import PrivateTmux, make_short_folder, run_private_tmux
from termvisor.testing.visor_instance import VisorInstance, run_instance
from tests.live.conftest import WatchedTmux, run_compiled_instance, run_watched_tmux
from tests.live.polling import wait_until


@pytest.fixture(scope="module")
def fleet():
    """A captured server with one shell in session `work` and two panes in session `pair`."""
    with run_watched_tmux() as scene:
        scene.wait_until_captured(scene.tmux.start_session())
        scene.tmux.start_session("pair")
        scene.wait_until_captured(scene.tmux.open_window("pair", "sh"))
        yield scene


def fail_as_text(visor: VisorInstance, *words: str) -> tuple[int, str, str]:
    """Return status, message and hint of a failing command in text format; stdout must be empty."""
    status, out, errors = visor.run(*words)
    message, hint = errors.splitlines()
    assert out == ""
    return status, message.removeprefix("visor: "), hint.removeprefix("hint: ")


def fail_as_json(visor: VisorInstance, *words: str) -> tuple[int, str, str, str]:
    """Return status, code, message and hint of a failing robot call; stderr must be empty."""
    status, out, errors = visor.run("robot", "--full", *words)
    response = json.loads(out)
    assert (errors, response["ok"], response["data"]) == ("", False, None)
    return status, response["error"]["code"], response["error"]["message"], response["hint"]


def fail_in_both_formats(visor: VisorInstance, *words: str) -> tuple[int, str, str]:
    """Return status, code and message; check that both formats agree and have a hint."""
    status, message, hint = fail_as_text(visor, *words)
    robot_status, code, robot_message, robot_hint = fail_as_json(visor, *words)
    assert (status, message, name_robot_commands(hint)) == (robot_status, robot_message, robot_hint)
    assert hint
    return status, code, message


def wait_until_stopped(visor: VisorInstance) -> bool:
    return wait_until(lambda: list_processes(visor.paths.runtime_dir) == {}, timeout_s=3)


@pytest.mark.live
def test_the_demo_starts_is_searchable_and_stops_completely(folder):
    with run_instance(folder, f"{folder}/none") as visor:
        shown = visor.run_checked("up", "--demo-if-empty")
        assert "6 panes, 0 gaps" in shown
        (running,) = [line for line in shown.splitlines() if line.startswith("Still running: daemon (pid ")]
        assert running.endswith("demo tmux server. Stop with `visor down`.")
        hits = wait_until(lambda: visor.call_robot("search", "harbour*")["items"])
        pane, text = hits[-1]["identity"]["id"], hits[-1]["text"]
        assert text.split("harbour")[0].strip() in visor.run_checked("search", "harbour*")
        assert text in visor.run_checked("get-text", str(pane), "--tail", "500")
        assert len(visor.call_robot("state")["items"]) == 6
        demo = PrivateTmux(visor.paths.demo_socket)
        assert demo.is_running
        output = visor.run_checked("down")
        assert [line.split(" (")[0] for line in output.splitlines()] == [
            "Stopped the demo.",
            "Stopped the daemon",
            "Stopped the recorder",
        ]
        assert wait_until_stopped(visor)
        assert not demo.is_running
        assert visor.run_checked("down") == "Nothing was running.\n"


def is_tmux_clean(tmux: PrivateTmux) -> bool:
    """Return True if the server has no session, client or pipe of Termvisor."""
    wait_until(lambda: tmux("list-sessions", "-F", "#{session_name}") == "work")
    return (tmux("list-clients"), tmux("list-panes", "-a", "-F", "#{pane_pipe}")) == ("", "0")


def test_a_stopped_daemon_stops_its_recorder_and_leaves_tmux_clean(scene, shell):
    scene.print_word(shell, "before-the-end")
    running = list_processes(scene.visor.paths.runtime_dir)
    assert len(running) == 2
    scene.visor.kill_daemon(signal.SIGTERM)
    assert wait_until_stopped(scene.visor)
    assert is_tmux_clean(scene.tmux)
    scene.wait_until_captured(shell)
    assert "before-the-end" in scene.read_lines(shell)
    scene.visor.run_checked("down")
    assert wait_until_stopped(scene.visor)
    assert is_tmux_clean(scene.tmux)


def test_wait_for_finds_output_printed_before_the_call(fleet):
    fleet.print_word("%0", "printed-before-the-call")
    waited = fleet.visor.call_robot("wait-for", "work", "printed-before-the-call", "--timeout-secs", "0")
    assert (waited["outcome"], waited["line"]["text"]) == ("matched", "printed-before-the-call")
    assert fleet.visor.run_checked("wait-for", "work", "printed-before-the-call") == "printed-before-the-call\n"


def test_wait_for_matches_only_output_after_a_cursor(fleet):
    fleet.print_word("%0", "already-read")
    cursor = fleet.visor.call_robot("get-text", "work")["cursor"]
    words = ("wait-for", "work", "already-read", "--since", cursor, "--timeout-secs", "0.2")
    assert fail_in_both_formats(fleet.visor, *words)[:2] == (124, "timeout")


def test_wait_for_times_out(fleet):
    pane_id = fleet.find_pane_id("%0")
    assert fail_in_both_formats(fleet.visor, "wait-for", "work", "never-said", "--timeout-secs", "0.2") == (
        124,
        "timeout",
        f"timed out after 0.2 s waiting for pane {pane_id}",
    )


def test_wait_for_ends_when_the_pane_closes(fleet):
    mux_id = fleet.tmux.start_session("brief")
    pane_id = fleet.wait_until_captured(mux_id)
    command = [sys.executable, "-m", "termvisor", "wait-for", str(pane_id), "never-said", "--timeout-secs", "60"]
    with subprocess.Popen(command, env=fleet.visor.env, stderr=subprocess.PIPE, text=True) as waiting:
        fleet.tmux("kill-pane", "-t", mux_id)
        _, errors = waiting.communicate(timeout=20)
    assert (waiting.returncode, errors.splitlines()[0]) == (
        4,
        f"visor: pane {pane_id} closed before the pattern matched",
    )
    assert fleet.visor.call_robot("wait-for", str(pane_id), "--gone")["outcome"] == "gone"


@pytest.mark.parametrize("command", ["get-text", "get-screen", "wait-for --gone", "export"])
@pytest.mark.parametrize("reference", ["4242", "%4242", "nobody", "work:7", "pane:local/work/@99/%0"])
def test_an_unknown_pane_is_reported_as_not_found(fleet, command, reference):
    status, code, message = fail_in_both_formats(fleet.visor, *command.split(), reference)
    assert (status, code, message) == (4, "pane_not_found", f"pane '{reference}' not found")


def test_an_ambiguous_pane_name_is_refused_and_lists_both_panes(fleet):
    status, code, message = fail_in_both_formats(fleet.visor, "get-text", "pair")
    ids = sorted(item["identity"]["id"] for item in fleet.list_panes() if item["identity"]["session_name"] == "pair")
    assert (status, code, message) == (4, "ref_ambiguous", f"'pair' matches 2 panes: {ids[0]}, {ids[1]}")
    details = json.loads(fleet.visor.run("robot", "--full", "get-text", "pair")[1])["error"]["details"]
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
def test_a_wrong_command_line_is_refused_with_a_code_and_hint(fleet, words, status, code):
    assert fail_in_both_formats(fleet.visor, *words.split())[:2] == (status, code)


def test_without_tmux_up_explains_how_to_install_it(folder):
    with run_compiled_instance(folder, f"{folder}/none") as visor:
        visor.env = {**visor.env, "PATH": folder}
        status, message, hint = fail_as_text(visor, "up", "--demo-if-empty")
        assert (status, message) == (69, "tmux is not installed")
        assert "apt-get install tmux" in hint
        status, report, _ = visor.run("doctor")
        failed = [line for line in report.splitlines() if line.startswith("fail")]
        assert (status, failed[0]) == (1, "fail  tmux           tmux: not found")
        assert [line.split()[1] for line in failed] == ["tmux", "alerts"]


def test_a_dead_socket_lists_no_panes_and_starts_no_server(folder):
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(f"{folder}/dead")
    with run_compiled_instance(folder, f"{folder}/dead") as visor:
        assert visor.call_robot("state")["items"] == []
        assert "visor demo" in visor.run_checked("up")
        assert not PrivateTmux(f"{folder}/dead").is_running
        assert visor.call_robot("health")["forks"] == 0


def test_two_instances_are_independent(fleet):
    fleet.print_word("%0", "only-in-the-first")
    with (
        make_short_folder() as other,
        run_private_tmux(other) as tmux,
        run_compiled_instance(other, tmux.socket) as visor,
    ):
        second = WatchedTmux(tmux, visor)
        second.print_word(tmux.start_session("elsewhere"), "only-in-the-second")
        for one, expected in ((fleet.visor, "only-in-the-first"), (visor, "only-in-the-second")):
            assert [hit["text"] for hit in one.call_robot("search", '"only in the"')["items"]] == [expected]
        assert {fleet.visor.daemon_pid, fleet.visor.recorder_pid} & {visor.daemon_pid, visor.recorder_pid} == set()
        visor.run_checked("down")
        assert wait_until_stopped(visor)
    fleet.print_word("%0", "the-first-goes-on")
    assert fleet.list_pane_gap_causes(fleet.find_pane_id("%0")) == []


def test_two_instances_capture_the_same_server(fleet):
    with make_short_folder() as other, run_compiled_instance(other, fleet.tmux.socket) as visor:
        second = WatchedTmux(fleet.tmux, visor)
        second.wait_until_captured("%0", "control")
        fleet.print_word("%0", "heard-by-both")
        visor.call_robot("wait-for", str(second.find_pane_id("%0")), "heard-by-both")
    fleet.print_word("%0", "heard-by-one")
    assert fleet.list_pane_gap_causes(fleet.find_pane_id("%0")) == []


def write_garbage(path: Path) -> None:
    path.write_bytes(b"this is no database\n" * 500)


def write_database(path: Path, version: int = 1) -> None:
    """Write a database with this schema version."""

    async def make() -> None:
        await (await Store.open(str(path), SystemClock())).close()

    asyncio.run(make())
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()


def write_newer_database(path: Path) -> None:
    write_database(path, 9999)


def write_damaged_database(path: Path) -> None:
    write_database(path)
    data = bytearray(path.read_bytes())
    data[4096:8192] = os.urandom(4096)
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("make", "code", "expected_text"),
    [
        (write_garbage, "storage_error", "is not a database"),
        (write_damaged_database, "storage_error", "is damaged"),
        (write_newer_database, "newer_database", "has schema 9999"),
    ],
)
def test_an_unusable_database_is_named_and_left_unchanged(folder, tmux, make, code, expected_text):
    tmux.start_session()
    with run_compiled_instance(folder, tmux.socket) as visor:
        make_instance_folders(visor.paths)
        path = Path(visor.paths.database)
        make(path)
        before = hashlib.sha256(path.read_bytes()).hexdigest()
        status, found_code, message, hint = fail_as_json(visor, "state")
        assert (status, found_code) == (74, code)
        assert hint
        assert str(path) in message
        assert expected_text in message
        assert hashlib.sha256(path.read_bytes()).hexdigest() == before
        assert wait_until_stopped(visor)
        assert tmux("list-sessions", "-F", "#{session_name}") == "work"
