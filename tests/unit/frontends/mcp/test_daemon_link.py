"""The link to a daemon that a test plays: hello first, calls once, reconnects for subscribers."""

import json
import os
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from termvisor.frontends.mcp.daemon_link import DaemonLink
from termvisor.protocol.command_protocol import PROTOCOL_VERSION

CALL = {"tool": "state"}


class PlayedDaemon:
    """Listens on a socket; a test reads what the link sent and answers."""

    def __init__(self, path: str):
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(path)
        self._listener.listen()
        self._client: socket.socket | None = None
        self._lines: list[dict[str, Any]] = []

    def accept(self) -> None:
        self._listener.settimeout(10)
        self._client = self._listener.accept()[0]
        self._client.settimeout(10)

    def read(self) -> dict[str, Any]:
        assert self._client is not None
        while not self._lines:
            self._lines += map(json.loads, self._client.recv(1 << 16).splitlines())
        return self._lines.pop(0)

    def has_nothing_to_read(self) -> bool:
        assert self._client is not None
        self._client.setblocking(False)
        try:
            return not self._lines and not self._client.recv(1)
        except BlockingIOError:
            return True
        finally:
            self._client.settimeout(10)

    def send(self, **message: Any) -> None:
        assert self._client is not None
        self._client.sendall(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def hang_up(self) -> None:
        assert self._client is not None
        self._client.close()

    def close(self) -> None:
        self._listener.close()
        if self._client is not None:
            self._client.close()


class LinkScene:
    def __init__(self, folder: str):
        self.path, self.now = f"{folder}/daemon", 0.0
        self.daemon = PlayedDaemon(self.path)
        self.link = DaemonLink(self.path, lambda: self.now, (sys.executable, "-c", "raise SystemExit(3)"))
        self.answers: list[tuple[Any, Any]] = []
        self.changes: list[Any] = []

    def call(self) -> int:
        return self.link.call("call_tool", CALL, lambda result, error: self.answers.append((result, error)))

    def greet(self, **hello: Any) -> None:
        """Accept the link and answer its hello."""
        self.daemon.accept()
        assert self.daemon.read() == {
            "jsonrpc": "2.0",
            "id": 0,
            "method": "hello",
            "params": {"protocol": PROTOCOL_VERSION, "face": "mcp"},
        }
        self.daemon.send(id=0, result={"protocol": PROTOCOL_VERSION, **hello})
        self.link.on_readable()

    @property
    def last_code(self) -> str:
        return str(self.answers[-1][1]["data"]["code"])


@pytest.fixture
def scene(folder: str) -> Iterator[LinkScene]:
    opened = LinkScene(folder)
    yield opened
    opened.link._close()
    opened.daemon.close()


def test_a_call_follows_the_hello_and_its_answer_comes_back(scene: LinkScene) -> None:
    number = scene.call()
    scene.greet()
    assert scene.daemon.read() == {"jsonrpc": "2.0", "id": number, "method": "call_tool", "params": CALL}
    scene.daemon.send(id=number, result={"text": "fine"})
    scene.link.on_readable()
    assert scene.answers == [({"text": "fine"}, None)]
    assert (scene.link.has_unsent, scene.link.get_delay()) == (False, None)


def test_answers_find_their_calls_in_any_order_and_in_pieces(scene: LinkScene) -> None:
    first = scene.call()
    scene.greet()
    second = scene.call()
    assert [scene.daemon.read()["id"], scene.daemon.read()["id"]] == [first, second]
    scene.daemon.send(id=second, error={"code": 1, "message": "no", "data": {"code": "x"}})
    scene.daemon.send(id=99, result={})
    scene.daemon.send(id=first, result={"text": "é" * 20_000})
    while len(scene.answers) < 2:
        scene.link.on_readable()
    assert scene.answers[0] == (None, {"code": 1, "message": "no", "data": {"code": "x"}})
    assert scene.answers[1] == ({"text": "é" * 20_000}, None)


def test_a_cancelled_call_is_cancelled_where_it_is(scene: LinkScene) -> None:
    unsent = scene.call()
    scene.link.cancel(unsent)
    kept = scene.call()
    scene.greet()
    assert scene.daemon.read()["id"] == kept
    scene.link.cancel(kept)
    assert scene.daemon.read() == {"jsonrpc": "2.0", "method": "cancel", "params": {"id": kept}}
    scene.daemon.send(id=kept, result={"text": "late"})
    scene.link.on_readable()
    assert scene.answers == []


def test_a_lost_call_fails_and_the_next_one_connects_again(scene: LinkScene) -> None:
    scene.call()
    scene.greet()
    scene.daemon.hang_up()
    scene.link.on_readable()
    assert (scene.last_code, scene.link.fileno()) == ("unavailable", -1)
    assert "stopped before it answered" in scene.answers[-1][1]["message"]
    again = scene.call()
    scene.greet()
    # Only the new call: what was lost may have acted.
    assert scene.daemon.read()["id"] == again
    assert scene.daemon.has_nothing_to_read()


@pytest.mark.parametrize(
    ("hello", "code"),
    [
        ({"result": {"protocol": PROTOCOL_VERSION + 1}}, "unsupported"),
        ({"error": {"code": 1, "message": "no", "data": {"code": "policy_denied"}}}, "policy_denied"),
    ],
)
def test_a_daemon_that_does_not_fit_is_an_answer(scene: LinkScene, hello: dict[str, Any], code: str) -> None:
    scene.call()
    scene.daemon.accept()
    scene.daemon.read()
    scene.daemon.send(id=0, **hello)
    scene.link.on_readable()
    assert (scene.last_code, scene.link.fileno()) == (code, -1)


@pytest.mark.parametrize("line", [b"hello!\n", b"[1]\n"])
def test_a_peer_that_is_no_daemon_is_left(scene: LinkScene, line: bytes) -> None:
    scene.call()
    scene.greet()
    assert scene.daemon._client is not None
    scene.daemon._client.sendall(line)
    scene.link.on_readable()
    assert (scene.last_code, scene.link.fileno()) == ("unavailable", -1)


def test_subscribers_hear_what_changed_and_that_anything_may_have(scene: LinkScene) -> None:
    scene.link.watch(scene.changes.append)
    scene.greet()
    assert scene.daemon.read() == {"jsonrpc": "2.0", "id": -1, "method": "watch_resources", "params": {}}
    assert scene.changes == [None]
    scene.daemon.send(method="item", params={"id": -1, "item": {"uris": ["visor://panes"]}})
    scene.daemon.send(method="item", params={"id": 5, "item": {"uris": ["visor://inbox"]}})
    scene.link.on_readable()
    assert scene.changes == [None, ["visor://panes"]]
    scene.link.watch(scene.changes.append)
    assert scene.daemon.has_nothing_to_read()
    scene.link.watch(None)
    assert scene.daemon.read() == {"jsonrpc": "2.0", "method": "cancel", "params": {"id": -1}}


def test_subscribers_are_connected_again_after_a_second(scene: LinkScene) -> None:
    scene.link.watch(scene.changes.append)
    scene.greet()
    scene.daemon.read()
    scene.daemon.hang_up()
    scene.link.on_readable()
    assert scene.link.get_delay() == 1.0
    scene.link.on_timer()
    assert scene.link.fileno() == -1
    scene.now = 1.0
    scene.link.on_timer()
    scene.greet()
    assert scene.daemon.read()["method"] == "watch_resources"
    assert scene.changes == [None, None]


def test_a_daemon_that_does_not_start_is_an_answer(scene: LinkScene) -> None:
    scene.daemon.close()
    Path(scene.path).unlink()
    scene.call()
    assert scene.link.get_delay() == 0.05
    _wait_for_starter(scene)
    assert scene.last_code == "unavailable"
    assert "could not be started" in scene.answers[-1][1]["message"]
    missing = DaemonLink(scene.path, lambda: 0.0, ("/nonexistent/python",))
    missing.call("call_tool", CALL, lambda result, error: scene.answers.append((result, error)))
    assert "cannot start the daemon" in scene.answers[-1][1]["message"]


def test_a_daemon_that_was_started_gets_the_waiting_calls(scene: LinkScene) -> None:
    os.rename(scene.path, f"{scene.path}.later")
    script = f"import os; os.rename({scene.path + '.later'!r}, {scene.path!r})"
    scene.link = DaemonLink(scene.path, lambda: scene.now, (sys.executable, "-c", script))
    numbers = [scene.call(), scene.call()]
    _wait_for_starter(scene)
    scene.greet()
    assert [scene.daemon.read()["id"] for _ in numbers] == numbers


def _wait_for_starter(scene: LinkScene) -> None:
    deadline = time.monotonic() + 20
    while scene.link.get_delay() is not None and time.monotonic() < deadline:
        scene.link.on_timer()
        time.sleep(0.01)
