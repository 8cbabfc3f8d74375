"""Sockets of the daemon that cannot be used: every robot error is one envelope, every other one a message."""

import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

import msgspec
import pytest

from termvisor import __main__
from termvisor.protocol import unix_socket
from tests.unit.fake_daemon import make_private_paths


@pytest.fixture
def run_folder(folder: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    places = make_private_paths(folder)
    for name, path in (("CONFIG", places.config_dir), ("DATA", places.data_dir), ("RUNTIME", places.runtime_dir)):
        monkeypatch.setenv(f"VISOR_{name}_DIR", path)
        Path(path).mkdir(mode=0o700)
    return Path(places.runtime_dir)


@contextmanager
def answer_clients(path: Path, *answers: bytes) -> Iterator[None]:
    """Run another program that listens on the socket and sends these bytes, one answer for each client."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()

        def accept() -> None:
            # The client may close at once; at the end of the test, so does the listener.
            with suppress(OSError):
                for answer in answers:
                    with listener.accept()[0] as client:
                        client.recv(1 << 16)
                        client.sendall(answer)

        thread = Thread(target=accept, daemon=True)
        thread.start()
        yield
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def run_robot(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> tuple[int, dict[str, object]]:
    monkeypatch.setattr(sys, "argv", ["visor", "robot", "state"])
    status = __main__.main()
    captured = capfd.readouterr()
    assert captured.err == ""
    return status, msgspec.json.decode(captured.out)["error"]


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"\xff\xfe\n",
        b"[" * 5000 + b"\n",
        b'{"jsonrpc":"2.0","id":1,"result":{"name":"other"}}\n',
        b"x 0\x00\n",
    ],
)
def test_another_program_on_the_socket_is_reported(
    run_folder: Path, answer: bytes, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with answer_clients(run_folder / "daemon", answer):
        assert run_robot(monkeypatch, capfd)[1]["code"] == "unavailable"
    (run_folder / "daemon").unlink()
    # A program that closes the connection may be a daemon that stops, so it gets one more chance to introduce itself.
    with answer_clients(run_folder / "daemon", b"", answer):
        status, error = run_robot(monkeypatch, capfd)
    assert (status, error["code"]) == (69, "unavailable")


def test_a_socket_of_another_user_is_reported(
    run_folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(unix_socket.os, "getuid", lambda: 54321)
    with answer_clients(run_folder / "daemon", b"", b""):
        status, error = run_robot(monkeypatch, capfd)
    assert (status, error["code"]) == (69, "unavailable")
    assert str(error["message"]).endswith("belongs to another user")


def make_file(path: Path) -> None:
    path.parent.rmdir()
    path.parent.write_text("")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.mkdir(),
        lambda path: path.write_text("no socket"),
        lambda path: path.symlink_to(path),
        lambda path: path.with_name("start").mkdir(),
        make_file,
    ],
)
def test_a_socket_that_is_something_else_is_reported(
    run_folder: Path,
    spoil: Callable[[Path], None],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    spoil(run_folder / "daemon")
    status, error = run_robot(monkeypatch, capfd)
    assert (status, error["code"]) == (69, "unavailable")
