"""The way of a command line to the daemon and back."""

import os
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest

from termvisor.frontends.cli import fast_client as courier
from termvisor.protocol import command_protocol as face
from termvisor.settings import Places, places

ENVIRONMENTS: list[Mapping[str, str]] = [
    {},
    {"HOME": "/home/you"},
    {"HOME": "/home/you", "XDG_RUNTIME_DIR": "/run/user/7", "XDG_CONFIG_HOME": "/etc/you"},
    {"XDG_RUNTIME_DIR": "/run/user/7", "VISOR_RUNTIME_DIR": "/tmp/mine", "VISOR_CONFIG_DIR": "/tmp/config/"},
    {"VISOR_RUNTIME_DIR": "relative/./path//", "VISOR_CONFIG_DIR": "../up"},
    {"XDG_RUNTIME_DIR": "", "VISOR_RUNTIME_DIR": "", "VISOR_CONFIG_DIR": "", "XDG_CONFIG_HOME": "", "HOME": ""},
]


@pytest.mark.parametrize("environ", ENVIRONMENTS, ids=range(len(ENVIRONMENTS)))
def test_it_knows_the_same_places_as_the_settings(environ: Mapping[str, str]) -> None:
    assert courier.socket_path(environ) == places(environ).daemon_socket
    assert courier.config_path(environ) == places(environ).config_file


@contextmanager
def stranger(folder: str, answer: bytes) -> Iterator[str]:
    """Takes one command line, answers these bytes, hangs up."""
    path = f"{folder}/s"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        thread = threading.Thread(target=_talk, args=(server, answer))
        thread.start()
        yield path
        thread.join()


def _talk(server: socket.socket, answer: bytes) -> None:
    plug, _ = server.accept()
    with plug, plug.makefile("rb") as lines:
        lines.readline()
        plug.sendall(answer)


def test_output_goes_to_stdout_errors_to_stderr_and_the_status_comes_back(
    folder: str, capfd: pytest.CaptureFixture[str]
) -> None:
    answer = face.frame(b"a", 1) + face.output(b"o", b"out\n") + face.output(b"e", b"err\n") + face.frame(b"x", 4)
    with stranger(folder, answer) as path:
        assert courier.carry(path, face.Asked(("get-text", "9"))) == 4
    assert capfd.readouterr() == ("out\n", "err\n")


def test_a_real_daemon_answers(daemon: Places, capfd: pytest.CaptureFixture[str]) -> None:
    assert courier.carry(daemon.daemon_socket, face.Asked(("get-text", "2"))) == 0
    assert capfd.readouterr().out == "hello from 2\n"


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (face.frame(b"a", 1) + face.frame(b"l", 0), courier.YOURSELF),
        (face.frame(b"a", 1) + face.output(b"o", b"half an ans"), courier.LOST),
        (b"", courier.NOBODY),
        (b"HTTP/1.1 400 Bad Request with a long line", courier.LOST),
    ],
)
def test_what_is_no_answer_has_a_name(folder: str, answer: bytes, outcome: int) -> None:
    with stranger(folder, answer) as path:
        assert courier.collect(path, face.Asked(("x",)), lambda _kind, _data: None) == outcome


def test_nobody_listens(folder: str) -> None:
    assert courier.carry(f"{folder}/s", face.Asked(("x",))) == courier.NOBODY


def test_a_daemon_that_does_not_even_acknowledge_is_given_up(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(courier, "_HEARD_WITHIN", 0.05)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{folder}/s")
        server.listen()
        assert courier.carry(f"{folder}/s", face.Asked(("x",))) == courier.LOST


def test_everything_is_written_also_where_writing_does_not_block() -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    data = os.urandom(1_000_000)
    thread = threading.Thread(target=lambda: (courier.write(writer, data), os.close(writer)))
    thread.start()
    with os.fdopen(reader, "rb") as file:
        assert file.read() == data
    thread.join()


def test_a_reader_that_left_is_told_to_the_caller() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with pytest.raises(BrokenPipeError):
        courier.write(writer, b"x")
    os.close(writer)


def test_an_answer_can_go_to_a_private_file(folder: str, capfd: pytest.CaptureFixture[str]) -> None:
    path = f"{folder}/out"
    answer = face.output(b"f", path.encode()) + face.output(b"o", b"to the file") + face.frame(b"x", 0)
    with stranger(folder, answer) as daemon:
        assert courier.carry(daemon, face.Asked(("export",))) == 0
    with open(path, encoding="ascii") as file:
        assert file.read() == "to the file"
    assert os.stat(path).st_mode & 0o777 == 0o600
    assert capfd.readouterr().out == ""


def test_a_file_that_cannot_be_opened_is_said(folder: str, capfd: pytest.CaptureFixture[str]) -> None:
    answer = face.output(b"f", f"{folder}/no/such/out".encode()) + face.output(b"o", b"x") + face.frame(b"x", 0)
    with stranger(folder, answer) as daemon:
        assert courier.carry(daemon, face.Asked(("export",))) == courier.CANNOT_WRITE
    assert "cannot be written: No such file" in capfd.readouterr().err
