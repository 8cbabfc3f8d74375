"""A hook as an agent runs it: on any problem it exits with status 0 and prints nothing."""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from termvisor.frontends import hook
from termvisor.protocol import command_protocol
from termvisor.testing.private_tmux import make_short_folder

WORDS = ("hook", "permission", "--agent=claude_code")
ACKNOWLEDGED, DONE = (
    command_protocol.encode_frame(b"a", command_protocol.PROTOCOL_VERSION),
    command_protocol.encode_frame(b"x", 0),
)
Talk = Callable[[socket.socket, bytes], None]


@contextmanager
def run_scripted_daemon(talk: Talk) -> Iterator[str]:
    with make_short_folder() as folder, socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{folder}/s")
        server.listen()
        thread = threading.Thread(target=_serve, args=(server, talk))
        thread.start()
        yield f"{folder}/s"
        thread.join()


def _serve(server: socket.socket, talk: Talk) -> None:
    connection, _ = server.accept()
    with connection, connection.makefile("rb") as lines:
        talk(connection, lines.readline())


@pytest.fixture
def stdin() -> Iterator[None]:
    """The agent's request."""
    saved, (reading, writing) = os.dup(0), os.pipe()
    os.write(writing, b'{"tool_name": "Bash"}\n')
    os.close(writing)
    os.dup2(reading, 0)
    os.close(reading)
    yield
    os.dup2(saved, 0)
    os.close(saved)


def build_talk(*pieces: bytes) -> Talk:
    return lambda connection, _line: connection.sendall(b"".join(pieces))


def test_the_request_goes_to_the_daemon_and_its_answer_to_the_agent(stdin, capfd) -> None:
    requests: list[command_protocol.CommandRequest] = []

    def talk(connection: socket.socket, line: bytes) -> None:
        requests.append(command_protocol.decode_request(line))
        connection.sendall(
            ACKNOWLEDGED
            + command_protocol.encode_output(b"o", b'{"answer"')
            + command_protocol.encode_output(b"o", b":1}\n")
            + DONE
        )

    with run_scripted_daemon(talk) as path:
        assert hook.run_hook(path, WORDS) == 0
    assert requests[0].argv == WORDS
    assert requests[0].input_text is not None
    assert requests[0].input_text.data == b'{"tool_name": "Bash"}\n'
    assert capfd.readouterr() == ('{"answer":1}\n', "")


@pytest.mark.parametrize(
    "talk",
    [
        build_talk(),
        build_talk(ACKNOWLEDGED),
        build_talk(ACKNOWLEDGED, command_protocol.encode_output(b"o", b'{"half"')),
        build_talk(
            ACKNOWLEDGED,
            command_protocol.encode_output(b"e", b"visor: a person must allow this first\n"),
            command_protocol.encode_frame(b"x", 77),
        ),
        build_talk(ACKNOWLEDGED, command_protocol.encode_output(b"o", b"x"), command_protocol.encode_frame(b"x", 70)),
        build_talk(b"nonsense that is no frame at all\n"),
        build_talk(command_protocol.encode_frame(b"l", 0)),
    ],
    ids=["hangs up", "dies at once", "dies half-way", "no answer", "broken", "nonsense", "another user"],
)
def test_without_a_valid_answer_the_hook_prints_nothing(stdin, capfd, talk: Talk) -> None:
    with run_scripted_daemon(talk) as path:
        assert hook.run_hook(path, WORDS) == 0
    assert capfd.readouterr() == ("", "")


def test_a_daemon_without_acknowledgement_ends_the_hook(stdin, capfd) -> None:
    with run_scripted_daemon(lambda connection, _line: _wait_for_disconnect(connection)) as path:
        assert hook.run_hook(path, WORDS, acknowledge_timeout_s=0.05) == 0
    assert capfd.readouterr() == ("", "")


def _wait_for_disconnect(connection: socket.socket) -> None:
    assert connection.recv(1) == b""


def test_without_a_daemon_none_is_started(stdin, capfd) -> None:
    with make_short_folder() as folder:
        assert hook.run_hook(f"{folder}/daemon", WORDS) == 0
        assert os.listdir(folder) == []
    assert capfd.readouterr() == ("", "")


def test_a_daemon_without_keepalive_ends_the_hook(stdin, capfd, monkeypatch) -> None:
    monkeypatch.setattr(hook, "SILENCE_TIMEOUT_S", 0.05)
    is_over = threading.Event()

    def talk(connection: socket.socket, _line: bytes) -> None:
        connection.sendall(ACKNOWLEDGED)
        is_over.wait(20)

    with run_scripted_daemon(talk) as path:
        assert hook.run_hook(path, WORDS) == 0
        is_over.set()
    assert capfd.readouterr().out == ""


def test_a_daemon_that_sends_keepalives_is_awaited(stdin, capfd) -> None:
    with run_scripted_daemon(
        build_talk(ACKNOWLEDGED, ACKNOWLEDGED, ACKNOWLEDGED, command_protocol.encode_output(b"o", b"yes\n"), DONE)
    ) as path:
        assert hook.run_hook(path, WORDS) == 0
    assert capfd.readouterr().out == "yes\n"
