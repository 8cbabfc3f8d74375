"""Asking the person at the terminal: only a clear yes is one."""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
import pytest
from msgspec import Struct

from termvisor.errors import Unconfirmed
from termvisor.frontends import consent, courier
from termvisor.frontends.cli import fallback
from termvisor.ops import version
from termvisor.wire import face

SHOWN = b"+ a line\nthis changes ~/.bashrc\n"
REFUSED = face.output(b"q", SHOWN) + face.output(b"e", b"visor: this changes ~/.bashrc\n") + face.frame(b"x", 2)
DONE = face.output(b"o", b"done\n") + face.frame(b"x", 0)


@contextmanager
def person(typing: bytes) -> Iterator[int]:
    """A person at a terminal who will type this; what they see can be read from the descriptor."""
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


def seen(terminal: int, wanted: bytes) -> bytes:
    """What was shown, up to this at least."""
    shown = b""
    while wanted not in shown:
        shown += os.read(terminal, 4096)
    return shown


@contextmanager
def daemon(folder: str, *answers: bytes) -> Iterator[tuple[str, list[face.Asked]]]:
    """Answers one command line after the other, and remembers them."""
    heard: list[face.Asked] = []
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{folder}/s")
        server.listen()
        thread = threading.Thread(target=lambda: [_talk(server, answer, heard) for answer in answers])
        thread.start()
        yield f"{folder}/s", heard
        thread.join()


def _talk(server: socket.socket, answer: bytes, heard: list[face.Asked]) -> None:
    plug, _ = server.accept()
    with plug, plug.makefile("rb") as lines:
        heard.append(face.decode(lines.readline()))
        plug.sendall(answer)


@pytest.mark.parametrize("typed", [b"y\n", b"Yes\n", b" YES \n"])
def test_a_yes_is_consent(typed: bytes) -> None:
    with person(typed) as terminal:
        assert consent.given(SHOWN)
        assert seen(terminal, b"+ a line\r\nthis changes ~/.bashrc\r\nGo on? [y/N] ")


@pytest.mark.parametrize("typed", [b"\n", b"n\n", b"yeah\n", b"\x04", b"yy\n"])
def test_anything_else_is_none_and_says_so(typed: bytes) -> None:
    with person(typed) as terminal:
        assert not consent.given(SHOWN)
        assert seen(terminal, b"Nothing was done.")


def test_a_confirmed_command_line_is_carried_again_with_yes(folder: str, capfd: pytest.CaptureFixture[str]) -> None:
    with person(b"y\n"), daemon(folder, REFUSED, DONE) as (path, heard):
        assert courier.carry(path, face.Asked(("db", "restore", "--", "-old"))) == 0
    assert [asked.argv for asked in heard] == [
        ("db", "restore", "--", "-old"),
        ("db", "restore", "--yes", "--", "-old"),
    ]
    assert capfd.readouterr().out == "done\n"


def test_a_declined_one_is_not_carried_again(folder: str) -> None:
    with person(b"n\n") as terminal, daemon(folder, REFUSED) as (path, heard):
        assert courier.carry(path, face.Asked(("db", "restore"))) == 2
        assert b"visor:" not in seen(terminal, b"Nothing was done.")
    assert len(heard) == 1


def test_where_nobody_can_be_asked_the_refusal_is_the_answer(folder: str, capfd: pytest.CaptureFixture[str]) -> None:
    with daemon(folder, REFUSED) as (path, _):
        assert courier.carry(path, face.Asked(("db", "restore"))) == 2
    assert capfd.readouterr() == ("", "visor: this changes ~/.bashrc\n")


class Careful(Struct, frozen=True, kw_only=True):
    yes: bool = False


async def _careful(_world: object, wanted: Careful) -> version.Version:
    if not wanted.yes:
        raise Unconfirmed("this changes ~/.bashrc", shown="+ a line\x1b[2J")
    return version.Version(version="done", schema_version=1, python="3", platform="x")


def test_what_runs_without_a_daemon_is_asked_in_the_same_way(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(version, "OP", msgspec.structs.replace(version.OP, Input=Careful, run=_careful))
    with person(b"y\n") as terminal:
        assert fallback.run(face.Asked(("version",)), courier.YOURSELF) == 0
        assert seen(terminal, b"+ a line\r\nthis changes ~/.bashrc\r\nGo on?")
    assert "done" in capfd.readouterr().out
    assert fallback.run(face.Asked(("version",)), courier.YOURSELF) == 2
    assert capfd.readouterr().err == f"+ a line\nvisor: this changes ~/.bashrc\nhint: {Unconfirmed.hint}\n"
