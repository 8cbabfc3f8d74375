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
HEARD, DONE = (
    command_protocol.encode_frame(b"a", command_protocol.PROTOCOL_VERSION),
    command_protocol.encode_frame(b"x", 0),
)
Talk = Callable[[socket.socket, bytes], None]


@contextmanager
def daemon(talk: Talk) -> Iterator[str]:
    with make_short_folder() as folder, socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{folder}/s")
        server.listen()
        thread = threading.Thread(target=_serve, args=(server, talk))
        thread.start()
        yield f"{folder}/s"
        thread.join()


def _serve(server: socket.socket, talk: Talk) -> None:
    plug, _ = server.accept()
    with plug, plug.makefile("rb") as lines:
        talk(plug, lines.readline())


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


def answering(*pieces: bytes) -> Talk:
    return lambda plug, _line: plug.sendall(b"".join(pieces))


def test_the_request_goes_to_the_daemon_and_its_answer_to_the_agent(stdin, capfd) -> None:
    heard: list[command_protocol.CommandRequest] = []

    def talk(plug: socket.socket, line: bytes) -> None:
        heard.append(command_protocol.decode_request(line))
        plug.sendall(
            HEARD
            + command_protocol.encode_output(b"o", b'{"answer"')
            + command_protocol.encode_output(b"o", b":1}\n")
            + DONE
        )

    with daemon(talk) as path:
        assert hook.run_hook(path, WORDS) == 0
    assert heard[0].argv == WORDS
    assert heard[0].input_text is not None
    assert heard[0].input_text.data == b'{"tool_name": "Bash"}\n'
    assert capfd.readouterr() == ('{"answer":1}\n', "")


@pytest.mark.parametrize(
    "talk",
    [
        answering(),
        answering(HEARD),
        answering(HEARD, command_protocol.encode_output(b"o", b'{"half"')),
        answering(
            HEARD,
            command_protocol.encode_output(b"e", b"visor: a person must allow this first\n"),
            command_protocol.encode_frame(b"x", 77),
        ),
        answering(HEARD, command_protocol.encode_output(b"o", b"x"), command_protocol.encode_frame(b"x", 70)),
        answering(b"nonsense that is no frame at all\n"),
        answering(command_protocol.encode_frame(b"l", 0)),
    ],
    ids=["hangs up", "dies at once", "dies half-way", "no answer", "broken", "nonsense", "somebody else"],
)
def test_without_a_clear_answer_the_agent_hears_nothing(stdin, capfd, talk: Talk) -> None:
    with daemon(talk) as path:
        assert hook.run_hook(path, WORDS) == 0
    assert capfd.readouterr() == ("", "")


def test_a_daemon_without_acknowledgement_is_given_up(stdin, capfd) -> None:
    with daemon(lambda plug, _line: _until_left(plug)) as path:
        assert hook.run_hook(path, WORDS, acknowledge_timeout_s=0.05) == 0
    assert capfd.readouterr() == ("", "")


def _until_left(plug: socket.socket) -> None:
    assert plug.recv(1) == b""


def test_without_a_daemon_none_is_started(stdin, capfd) -> None:
    with make_short_folder() as folder:
        assert hook.run_hook(f"{folder}/daemon", WORDS) == 0
        assert os.listdir(folder) == []
    assert capfd.readouterr() == ("", "")


def test_a_daemon_that_falls_silent_after_its_first_word_is_left(stdin, capfd, monkeypatch) -> None:
    monkeypatch.setattr(hook, "SILENCE_TIMEOUT_S", 0.05)
    is_over = threading.Event()

    def talk(plug: socket.socket, _line: bytes) -> None:
        plug.sendall(HEARD)
        is_over.wait(20)

    with daemon(talk) as path:
        assert hook.run_hook(path, WORDS) == 0
        is_over.set()
    assert capfd.readouterr().out == ""


def test_a_daemon_that_says_that_it_is_still_there_is_waited_for(stdin, capfd) -> None:
    with daemon(answering(HEARD, HEARD, HEARD, command_protocol.encode_output(b"o", b"yes\n"), DONE)) as path:
        assert hook.run_hook(path, WORDS) == 0
    assert capfd.readouterr().out == "yes\n"
