"""Input texts from files and stdin."""

import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from msgspec import Struct

from termvisor.errors import ConfirmationRequired
from termvisor.frontends.cli import client_input, fallback, fast_client
from termvisor.frontends.cli.client_input import MAX_INPUT_BYTES, read_input
from termvisor.ops.system import version
from termvisor.protocol import command_protocol
from termvisor.settings import Paths
from termvisor.system.subprocesses import run_and_capture
from tests.unit.fake_daemon import build_environment, run_visor
from tests.unit.test_main import HEAVY


def test_a_file_is_read_unchanged(tmp_path: Path) -> None:
    data = bytes(range(256)) * 3
    (tmp_path / "f").write_bytes(data)
    assert read_input(os.fsencode(tmp_path / "f")).data == data


def test_an_endless_file_is_read_up_to_the_limit() -> None:
    assert len(read_input(b"/dev/zero").data) == MAX_INPUT_BYTES


@pytest.mark.parametrize(("name", "why"), [("none", "No such file"), (".", "Is a directory")])
def test_an_unreadable_file_is_an_error(tmp_path: Path, name: str, why: str) -> None:
    assert why in read_input(os.fsencode(tmp_path / name)).error


def test_text_from_stdin_needs_no_extra_imports(daemon: Paths) -> None:
    script = (
        "import sys; from termvisor.__main__ import main\n"
        "sys.argv = ['visor', 'robot', 'send', '1', '-']\n"
        "status = main()\n"
        "sys.stderr.write(' '.join(sys.modules))\n"
        "sys.exit(status)"
    )
    status, out, imported = run_and_capture(
        [sys.executable, "-c", script], stdin=b"make test\n", env=build_environment(daemon)
    )
    assert (status, HEAVY & set(imported.decode().split())) == (0, set())
    assert b'"status":"done"' in out


def test_an_invalid_file_is_reported_by_the_daemon(daemon: Paths, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"ab\xff")
    assert run_visor(daemon, "send", "1", "--file", str(tmp_path / "f"))[2].startswith(
        f"visor: {tmp_path}/f is not valid UTF-8 at byte 2\n"
    )
    status, out, _ = run_visor(daemon, "robot", "send", "1", "--file", str(tmp_path / "none"))
    assert status == 2
    assert f"cannot read {tmp_path}/none: No such file" in out


SHOWN = b"+ a line\nthis changes ~/.bashrc\n"
REFUSED = (
    command_protocol.encode_output(b"q", SHOWN)
    + command_protocol.encode_output(b"e", b"visor: this changes ~/.bashrc\n")
    + command_protocol.encode_frame(b"x", 2)
)
DONE = command_protocol.encode_output(b"o", b"done\n") + command_protocol.encode_frame(b"x", 0)

KILL = command_protocol.CommandRequest(("kill", "7"))
SEND = command_protocol.CommandRequest(
    ("send", "7", "--", "make"), terminal=command_protocol.TerminalInfo(80, True, False)
)
ASKED = client_input.ConfirmationRequest(b"3: type 'make'\n", b"3", b"make")


def fail_on_side_request(_aside: command_protocol.CommandRequest) -> None:
    raise AssertionError("no request to the inbox is expected")


@contextmanager
def open_user_terminal(typing: bytes) -> Iterator[int]:
    """Open a terminal with typed input; its output can be read from the descriptor."""
    main, side = os.openpty()
    kept = {number: os.dup(number) for number in (0, 2)}
    try:
        for number in kept:
            os.dup2(side, number)
        os.write(main, typing)
        yield main
    finally:
        for number, before in kept.items():
            os.dup2(before, number)
            os.close(before)
        os.close(main)
        os.close(side)


def read_shown(terminal: int, wanted: bytes) -> bytes:
    """Read the output until it contains ``wanted``."""
    shown = b""
    while wanted not in shown:
        shown += os.read(terminal, 4096)
    return shown


@contextmanager
def run_scripted_daemon(folder: str, *answers: bytes) -> Iterator[tuple[str, list[command_protocol.CommandRequest]]]:
    """Answer one command line after the other and record the requests."""
    requests: list[command_protocol.CommandRequest] = []
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{folder}/s")
        server.listen()
        thread = threading.Thread(target=lambda: [_answer(server, answer, requests) for answer in answers])
        thread.start()
        yield f"{folder}/s", requests
        thread.join()


def _answer(server: socket.socket, answer: bytes, requests: list[command_protocol.CommandRequest]) -> None:
    plug, _ = server.accept()
    with plug, plug.makefile("rb") as lines:
        requests.append(command_protocol.decode_request(lines.readline()))
        plug.sendall(answer)


@pytest.mark.parametrize("typed", [b"y\n", b"Yes\n", b" YES \n"])
def test_a_yes_confirms_the_command(typed: bytes) -> None:
    with open_user_terminal(typed) as terminal:
        wanted = client_input.ask_user(KILL, client_input.ConfirmationRequest(SHOWN), fail_on_side_request)
        assert read_shown(terminal, b"+ a line\r\nthis changes ~/.bashrc\r\nGo on? [y/N] ")
    assert wanted is not None
    assert wanted.argv == ("kill", "7", "--yes")


@pytest.mark.parametrize("typed", [b"\n", b"n\n", b"yeah\n", b"\x04", b"yy\n", b"s\n", b"e\n"])
def test_any_other_input_declines_with_a_message(typed: bytes) -> None:
    with open_user_terminal(typed) as terminal:
        assert client_input.ask_user(KILL, client_input.ConfirmationRequest(SHOWN), fail_on_side_request) is None
        assert read_shown(terminal, b"Nothing was done.")


def test_an_approval_request_can_be_allowed_for_the_session() -> None:
    with open_user_terminal(b"s\n") as terminal:
        wanted = client_input.ask_user(SEND, ASKED, fail_on_side_request)
        assert read_shown(terminal, b"Allow it? y once, s for this session (8 hours), e edit it first, n no [y/s/e/N] ")
    assert wanted is not None
    assert wanted.argv == ("send", "7", "--yes-for-session", "--", "make")


@pytest.mark.parametrize("typed", [b"\n", b"n\n", b"\x04"], ids=["enter", "no", "end of file"])
def test_a_no_denies_the_approval_request(typed: bytes) -> None:
    side_requests: list[command_protocol.CommandRequest] = []
    with open_user_terminal(typed) as terminal:
        assert client_input.ask_user(SEND, ASKED, side_requests.append) is None
        assert read_shown(terminal, b"Nothing was done.")
    assert [side_request.argv for side_request in side_requests] == [("deny", "--quiet", "3")]
    assert side_requests[0].terminal.is_terminal


def test_ctrl_c_denies_the_approval_request(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_descriptor: int, _size: int) -> bytes:
        raise KeyboardInterrupt

    side_requests: list[command_protocol.CommandRequest] = []
    with open_user_terminal(b""), pytest.raises(KeyboardInterrupt), monkeypatch.context() as patch:
        patch.setattr(os, "read", interrupted)
        client_input.ask_user(SEND, ASKED, side_requests.append)
    assert [side_request.argv for side_request in side_requests] == [("deny", "--quiet", "3")]


def test_an_edited_text_closes_the_request_and_is_sent_as_a_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "sed -i s/make/true/")
    side_requests: list[command_protocol.CommandRequest] = []
    with open_user_terminal(b"e\n"):
        wanted = client_input.ask_user(SEND, ASKED, side_requests.append)
    assert [side_request.argv for side_request in side_requests] == [("deny", "--edited", "3")]
    assert wanted is not None and wanted.input_text is not None
    assert (wanted.argv, wanted.input_text.data) == (SEND.argv, b"true")


def test_an_unchanged_text_prompts_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "true")
    side_requests: list[command_protocol.CommandRequest] = []
    with open_user_terminal(b"e\nn\n") as terminal:
        assert client_input.ask_user(SEND, ASKED, side_requests.append) is None
        assert read_shown(terminal, b"Nothing was done.").count(b"Allow it?") == 2
    assert [side_request.argv for side_request in side_requests] == [("deny", "--quiet", "3")]


def test_approve_edit_opens_the_editor_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "sed -i s/make/true/")
    with open_user_terminal(b""):
        wanted = client_input.ask_user(
            command_protocol.CommandRequest(("approve", "3", "--edit")),
            client_input.ConfirmationRequest(b"", b"", b"make"),
            fail_on_side_request,
        )
    assert wanted is not None and wanted.input_text is not None
    assert wanted.input_text.data == b"true"


def test_a_confirmed_command_line_is_sent_again_with_yes(folder: str, capfd: pytest.CaptureFixture[str]) -> None:
    with open_user_terminal(b"y\n"), run_scripted_daemon(folder, REFUSED, DONE) as (path, requests):
        assert fast_client.send_command(path, command_protocol.CommandRequest(("db", "restore", "--", "-old"))) == 0
    assert [asked.argv for asked in requests] == [
        ("db", "restore", "--", "-old"),
        ("db", "restore", "--yes", "--", "-old"),
    ]
    assert capfd.readouterr().out == "done\n"


def test_a_declined_command_line_is_not_sent_again(folder: str) -> None:
    with open_user_terminal(b"n\n") as terminal, run_scripted_daemon(folder, REFUSED) as (path, requests):
        assert fast_client.send_command(path, command_protocol.CommandRequest(("db", "restore"))) == 2
        assert b"visor:" not in read_shown(terminal, b"Nothing was done.")
    assert len(requests) == 1


def test_without_a_terminal_the_error_is_printed(folder: str, capfd: pytest.CaptureFixture[str]) -> None:
    with run_scripted_daemon(folder, REFUSED) as (path, _):
        assert fast_client.send_command(path, command_protocol.CommandRequest(("db", "restore"))) == 2
    assert capfd.readouterr() == ("", "visor: this changes ~/.bashrc\n")


class ConfirmedArgs(Struct, frozen=True, kw_only=True):
    yes: bool = False


async def _run_with_confirmation(_services: object, wanted: ConfirmedArgs) -> version.VersionResult:
    if not wanted.yes:
        raise ConfirmationRequired("this changes ~/.bashrc", shown="+ a line\x1b[2J")
    return version.VersionResult(version="done", schema_version=1, python="3", platform="x")


def test_a_local_command_is_confirmed_in_the_same_way(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        version, "OP", msgspec.structs.replace(version.OP, args_type=ConfirmedArgs, run=_run_with_confirmation)
    )
    with open_user_terminal(b"y\n") as terminal:
        assert fallback.run_without_daemon(command_protocol.CommandRequest(("version",)), fast_client.RUN_LOCALLY) == 0
        assert read_shown(terminal, b"+ a line\r\nthis changes ~/.bashrc\r\nGo on?")
    assert "done" in capfd.readouterr().out
    assert fallback.run_without_daemon(command_protocol.CommandRequest(("version",)), fast_client.RUN_LOCALLY) == 2
    assert capfd.readouterr().err == f"+ a line\nvisor: this changes ~/.bashrc\nhint: {ConfirmationRequired.hint}\n"
