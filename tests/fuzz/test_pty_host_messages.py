"""Any message to the PTY host, with any descriptor: it goes on and answers its other clients."""

import os
import socket
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from termvisor.backends.pty.host_messages import build_spec
from termvisor.recorder.sockets import SOCKET_KIND
from termvisor.system.files import open_memory_file
from termvisor.testing.private_tmux import make_short_folder
from tests.fuzz.example_count import build_settings
from tests.unit.backends.pty.host_process import connect, run_host

VERBS = [
    b"start",
    b"hold",
    b"write",
    b"signal",
    b"facts",
    b"resize",
    b"tag",
    b"grant",
    b"revoke",
    b"forget",
    b"sync",
    b"number",
]
VERBS += [b"quit", b"key", b"size", b"", b"listen", b"daemon", b"viewer", b"\xff", b"x" * 4000]
WORDS = [b"2", b"0", b"-1", b"99999999999999999999", b"1" * 5000, b"x", b"", b"-", b"\xff", b"9/9", b"/", b"1_0", b"ff"]
WORDS += [
    b"pid=1",
    b"pid=",
    b"=",
    b"output=0,log=0",
    b"group=x",
    b"nonsense=1",
    b"foreground",
    b"session",
    b"zz",
    b"a" * 16,
]
GREETINGS = [b"daemon 1", b"viewer 1 " + b"t" * 16, b"viewer 1 wrong", b"daemon 2", b"hello", b"\xff\xff", b""]
messages = st.tuples(
    st.sampled_from([b"1", b"", b"\xff", b"9" * 40]),
    st.sampled_from(VERBS),
    st.lists(st.sampled_from(WORDS), max_size=5),
).map(lambda parts: b" ".join([parts[0], parts[1], *parts[2]]))
files = st.sampled_from(["none", "none", "empty", "noise", "spec", "pipe", "folder", "long"])


@pytest.fixture(scope="module")
def host() -> Iterator[str]:
    with make_short_folder() as folder, run_host(folder) as path:
        # Number 1 keeps the host from quitting, number 2 is what messages address.
        for _ in range(2):
            with connect(path, "daemon 1") as client:
                fd = open_memory_file(
                    "spec", build_spec(["cat"], cwd="/", env={"PATH": os.environ["PATH"]}, rows=2, columns=9)
                )
                socket.send_fds(client, [b"1 start"], [fd])
                os.close(fd)
                _read_answer(client)
        with connect(path, "daemon 1") as client:
            client.send(b"1 grant 2 " + b"t" * 16 + b" latest")
            _read_answer(client)
        yield path


def _read_answer(client: socket.socket) -> list[bytes]:
    while True:
        lines = client.recv(8192).splitlines()
        assert lines, "the host hung up"
        if answers := [line for line in lines if line.startswith(b"1 ")]:
            return answers


def _open_file(kind: str) -> list[int]:
    if kind == "pipe":
        reader, writer = os.pipe()
        os.close(writer)
        return [reader]
    if kind == "folder":
        return [os.open(tempfile.gettempdir(), os.O_RDONLY)]
    contents = {
        "empty": b"",
        "noise": b"\0" * 99,
        "long": bytes(5 << 20),
        "spec": b"24\00080\0000\0000\0/\0\0001\0true",
    }
    return [open_memory_file("fuzz", contents[kind])] if kind in contents else []


@given(
    st.sampled_from(GREETINGS), st.lists(st.tuples(messages | st.binary(min_size=1, max_size=200), files), max_size=8)
)
@example(b"daemon 1", [(b"1 write 2 - -", "folder"), (b"1 start", "pipe"), (b"1 hold 2 1/1", "none")])
@example(b"daemon 1", [(b"1 start", "spec"), (b"2 resize 1", "none"), (b"3 resize 1 2 3 4 5 6", "none")])
@example(b"viewer 1 " + b"t" * 16, [(b"key " + b"ff" * 1000, "none"), (b"size 1 1 0 0", "none"), (b"key zz", "none")])
@build_settings(300)
def test_any_message_leaves_the_host_serving(host: str, greeting: bytes, sent: list[tuple[bytes, str]]) -> None:
    client = socket.socket(socket.AF_UNIX, SOCKET_KIND)
    client.connect(host)
    try:
        client.send(greeting)
        for message, kind in sent:
            fds = _open_file(kind)
            try:
                socket.send_fds(client, [message], fds)
            finally:
                for fd in fds:
                    os.close(fd)
    except OSError:
        # The host hung up on us, which is one way to answer.
        pass
    finally:
        client.close()
    with connect(host, "daemon 1") as other:
        other.send(b"1 sync")
        assert _read_answer(other) == [b"1 ok"]
