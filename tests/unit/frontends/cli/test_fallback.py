"""Command lines that no daemon answered."""

import os
import sys

import msgspec
import pytest

from termvisor.client.daemon_process import is_running
from termvisor.errors import NewerDatabase
from termvisor.frontends.cli import fallback, fast_client
from termvisor.protocol.command_protocol import CommandRequest
from termvisor.system.subprocesses import run_and_capture
from tests.pattern_cache import install_pattern_cache
from tests.unit.fake_daemon import build_environment, make_private_paths, run_visor


@pytest.mark.parametrize("words", [("version",), ("help",), (), ("robot",), ("robot", "quick-start"), ("--version",)])
def test_a_local_command_is_answered_without_starting_a_daemon(folder: str, words: tuple[str, ...]) -> None:
    places = make_private_paths(folder)
    status, out, errors = run_visor(places, *words)
    assert (status, errors) == (0, "")
    assert out
    assert not is_running(places)


def test_an_unknown_command_starts_no_daemon_and_suggests_the_closest(folder: str) -> None:
    places = make_private_paths(folder)
    status, out, errors = run_visor(places, "serach", "x")
    assert (status, out) == (2, "")
    assert "search" in errors
    assert not os.path.exists(places.runtime_dir)


def test_a_command_that_needs_a_daemon_starts_it(folder: str) -> None:
    places = make_private_paths(folder)
    install_pattern_cache(places)
    nowhere = {"VISOR_TMUX_SOCKETS": f"{folder}/none"}
    try:
        status, out, errors = run_visor(places, "robot", "state", **nowhere)
        assert (status, errors) == (0, "")
        assert msgspec.json.decode(out)["ok"]
        assert is_running(places)
    finally:
        run_visor(places, "down", **nowhere)


def test_a_daemon_that_cannot_start_is_reported_like_other_errors(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_places: object) -> None:
        raise NewerDatabase("the database is newer")

    monkeypatch.setattr(fallback, "ensure_running", refuse)
    assert fallback.run_without_daemon(CommandRequest(("state",), is_robot=True), fast_client.NO_DAEMON) == 74
    envelope = msgspec.json.decode(capfd.readouterr().out)
    assert (envelope["ok"], envelope["error"]["code"]) == (False, "newer_database")
    assert fallback.run_without_daemon(CommandRequest(("list-panes",)), fast_client.NO_DAEMON) == 74
    assert capfd.readouterr().err.startswith("visor: the database is newer\n")


def test_a_change_by_a_program_starts_a_daemon_that_is_asked_first(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [fast_client.RUN_LOCALLY, 77]
    ran: list[object] = []
    monkeypatch.setattr(fallback, "ensure_running", lambda _paths: None)
    monkeypatch.setattr(fast_client, "send_command", lambda _path, _request: answers.pop(0))
    monkeypatch.setattr(fallback, "_run_locally", lambda _services, request: ran.append(request.argv) or 0)
    request = CommandRequest(("config", "unset", "colour"), is_robot=True)
    assert fallback.run_without_daemon(request, fast_client.NO_DAEMON) == 0
    assert fallback.run_without_daemon(request, fast_client.NO_DAEMON) == 77
    assert ran == [("config", "unset", "colour")]


def test_what_was_confirmed_at_a_terminal_is_asked_about_again(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[str, ...]] = []
    confirmed = CommandRequest(("setup", "shell", "bash", "--yes"))
    monkeypatch.setattr(fast_client, "send_command", lambda _path, request: sent.append(request.argv) or 77)
    monkeypatch.setattr(fast_client.OutputRouter, "build_retry", lambda _router, _aside: confirmed)
    request = CommandRequest(("setup", "shell", "bash", "--print"))
    assert fallback.run_without_daemon(request, fast_client.RUN_LOCALLY) == 77
    assert sent == [confirmed.argv]


@pytest.mark.parametrize(("variable", "is_written"), [("NOTHING=1", True), ("CLAUDECODE=1", False)])
def test_without_a_daemon_only_a_person_at_a_terminal_changes_settings(
    folder: str, variable: str, is_written: bool
) -> None:
    places = make_private_paths(folder)
    install_pattern_cache(places)
    command = f"env {variable} {sys.executable} -m termvisor config set log_level debug"
    environment = build_environment(places) | {"VISOR_TMUX_SOCKETS": f"{folder}/none"}
    try:
        run_and_capture(["script", "-qc", command, "/dev/null"], timeout_s=60.0, env=environment)
        assert os.path.exists(places.config_file) == is_written
        assert is_running(places) != is_written
    finally:
        run_visor(places, "down")


def test_an_incomplete_answer_is_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    assert fallback.run_without_daemon(CommandRequest(("state",), is_robot=True), fast_client.CONNECTION_LOST) == 69
    assert msgspec.json.decode(capfd.readouterr().out)["error"]["code"] == "unavailable"
