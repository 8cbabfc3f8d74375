"""Command lines are sent to the daemon and their output is copied."""

import os
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest

from termvisor.frontends.cli import fast_client
from termvisor.protocol import command_protocol
from termvisor.settings import Paths, resolve_paths

ENVIRONMENTS: list[Mapping[str, str]] = [
    {},
    {"HOME": "/home/you"},
    {"HOME": "/home/you", "XDG_RUNTIME_DIR": "/run/user/7", "XDG_CONFIG_HOME": "/etc/you"},
    {"XDG_RUNTIME_DIR": "/run/user/7", "VISOR_RUNTIME_DIR": "/tmp/mine", "VISOR_CONFIG_DIR": "/tmp/config/"},
    {"VISOR_RUNTIME_DIR": "relative/./path//", "VISOR_CONFIG_DIR": "../up"},
    {"XDG_RUNTIME_DIR": "", "VISOR_RUNTIME_DIR": "", "VISOR_CONFIG_DIR": "", "XDG_CONFIG_HOME": "", "HOME": ""},
]


@pytest.mark.parametrize("environ", ENVIRONMENTS, ids=range(len(ENVIRONMENTS)))
def test_the_fast_client_resolves_the_same_paths_as_the_settings(environ: Mapping[str, str]) -> None:
    assert fast_client.get_socket_path(environ) == resolve_paths(environ).daemon_socket
    assert fast_client.get_config_path(environ) == resolve_paths(environ).config_file


@contextmanager
def run_scripted_server(folder: str, answer: bytes) -> Iterator[str]:
    """Accept one command line, answer these bytes and close the connection."""
    path = f"{folder}/s"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        thread = threading.Thread(target=_answer, args=(server, answer))
        thread.start()
        yield path
        thread.join()


def _answer(server: socket.socket, answer: bytes) -> None:
    plug, _ = server.accept()
    with plug, plug.makefile("rb") as lines:
        lines.readline()
        plug.sendall(answer)


def test_output_goes_to_stdout_errors_to_stderr_and_the_status_comes_back(
    folder: str, capfd: pytest.CaptureFixture[str]
) -> None:
    answer = (
        command_protocol.encode_frame(b"a", 1)
        + command_protocol.encode_output(b"o", b"out\n")
        + command_protocol.encode_output(b"e", b"err\n")
        + command_protocol.encode_frame(b"x", 4)
    )
    with run_scripted_server(folder, answer) as path:
        assert fast_client.send_command(path, command_protocol.CommandRequest(("get-text", "9"))) == 4
    assert capfd.readouterr() == ("out\n", "err\n")


def test_a_real_daemon_answers(daemon: Paths, capfd: pytest.CaptureFixture[str]) -> None:
    assert fast_client.send_command(daemon.daemon_socket, command_protocol.CommandRequest(("get-text", "2"))) == 0
    assert capfd.readouterr().out == "hello from 2\n"


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (command_protocol.encode_frame(b"a", 1) + command_protocol.encode_frame(b"l", 0), fast_client.RUN_LOCALLY),
        (
            command_protocol.encode_frame(b"a", 1) + command_protocol.encode_output(b"o", b"half an ans"),
            fast_client.CONNECTION_LOST,
        ),
        (b"", fast_client.NO_DAEMON),
        (b"HTTP/1.1 400 Bad Request with a long line", fast_client.CONNECTION_LOST),
    ],
)
def test_incomplete_answers_have_an_outcome_code(folder: str, answer: bytes, outcome: int) -> None:
    with run_scripted_server(folder, answer) as path:
        assert fast_client.exchange(path, command_protocol.CommandRequest(("x",)), lambda _kind, _data: None) == outcome


def test_without_a_daemon_exchange_returns_no_daemon(folder: str) -> None:
    assert fast_client.send_command(f"{folder}/s", command_protocol.CommandRequest(("x",))) == fast_client.NO_DAEMON


def test_a_daemon_without_acknowledgement_times_out(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast_client, "_ACKNOWLEDGE_TIMEOUT_S", 0.05)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{folder}/s")
        server.listen()
        assert (
            fast_client.send_command(f"{folder}/s", command_protocol.CommandRequest(("x",)))
            == fast_client.CONNECTION_LOST
        )


def test_output_is_written_completely_to_a_nonblocking_descriptor() -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    data = os.urandom(1_000_000)
    thread = threading.Thread(target=lambda: (fast_client.write_all(writer, data), os.close(writer)))
    thread.start()
    with os.fdopen(reader, "rb") as file:
        assert file.read() == data
    thread.join()


def test_a_closed_stdout_raises() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with pytest.raises(BrokenPipeError):
        fast_client.write_all(writer, b"x")
    os.close(writer)


def test_an_answer_can_go_to_a_private_file(folder: str, capfd: pytest.CaptureFixture[str]) -> None:
    path = f"{folder}/out"
    answer = (
        command_protocol.encode_output(b"f", path.encode())
        + command_protocol.encode_output(b"o", b"to the file")
        + command_protocol.encode_frame(b"x", 0)
    )
    with run_scripted_server(folder, answer) as daemon:
        assert fast_client.send_command(daemon, command_protocol.CommandRequest(("export",))) == 0
    with open(path, encoding="ascii") as file:
        assert file.read() == "to the file"
    assert os.stat(path).st_mode & 0o777 == 0o600
    assert capfd.readouterr().out == ""


def test_an_output_file_that_cannot_be_opened_is_an_error(folder: str, capfd: pytest.CaptureFixture[str]) -> None:
    answer = (
        command_protocol.encode_output(b"f", f"{folder}/no/such/out".encode())
        + command_protocol.encode_output(b"o", b"x")
        + command_protocol.encode_frame(b"x", 0)
    )
    with run_scripted_server(folder, answer) as daemon:
        assert (
            fast_client.send_command(daemon, command_protocol.CommandRequest(("export",)))
            == fast_client.CANNOT_WRITE_STATUS
        )
    assert "cannot be written: No such file" in capfd.readouterr().err
