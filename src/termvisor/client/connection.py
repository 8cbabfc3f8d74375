"""A blocking conversation with the daemon over one socket: what the sync client and the start-up share."""

import select
from _socket import socket
from collections import deque
from collections.abc import Iterator
from itertools import count
from typing import Any

import msgspec

from termvisor.errors import Unavailable
from termvisor.protocol import command_protocol as face
from termvisor.protocol import jsonrpc as rpc
from termvisor.protocol.connect import dial
from termvisor.protocol.line_buffer import Lines

ANSWERS_WITHIN = 10.0
"""Seconds in which a daemon that is well says hello."""


class Line:
    """One connection to a living daemon. Requests go one after the other."""

    def __init__(self, plug: socket):
        self._socket = plug
        self._lines, self._heard, self._ids = Lines(), deque[rpc.Incoming](), count(1)
        self._socket.settimeout(ANSWERS_WITHIN)
        try:
            self.hello = read_hello(self.call("hello", {"protocol": face.PROTOCOL}))
        except BaseException:
            self.close()
            raise
        self._socket.settimeout(None)

    def call(self, method: str, params: dict[str, Any]) -> Any:
        """The result; items on the way to it are passed over."""
        return next(answer for answer in self._answers(method, params) if not answer.method).result

    def items(self, method: str, params: dict[str, Any]) -> Iterator[Any]:
        """The items of a stream, asked for at once. Close the line to end it early."""
        answers = self._answers(method, params)
        return (answer.params.item for answer in answers if answer.params is not None)

    def is_ready(self) -> bool:
        """Whether something of an answer can be read without waiting."""
        return bool(self._heard) or bool(select.select([self._socket], [], [], 0)[0])

    def fileno(self) -> int:
        return self._socket.fileno()

    def close(self) -> None:
        self._socket.close()

    def _answers(self, method: str, params: dict[str, Any]) -> Iterator[rpc.Incoming]:
        """Everything that answers this request, its result last."""
        number = next(self._ids)
        try:
            self._socket.sendall(rpc.encode(rpc.Request(method, params, number)))
        except OSError as error:
            raise _gone() from error
        return self._answered(number)

    def _answered(self, number: int) -> Iterator[rpc.Incoming]:
        while True:
            answer = self._next()
            if answer.error:
                raise rpc.raised(answer.error)
            if answer.method or answer.id == number:
                yield answer
            if answer.id == number:
                return

    def _next(self) -> rpc.Incoming:
        while not self._heard:
            self._heard += map(rpc.parse_incoming, self._lines.feed(self._receive()))
        return self._heard.popleft()

    def _receive(self) -> bytes:
        try:
            data = self._socket.recv(1 << 16)
        except TimeoutError as error:
            raise Unavailable(f"the daemon does not answer within {ANSWERS_WITHIN:.0f} s", hint=rpc.RESTART) from error
        except OSError as error:
            raise _gone() from error
        if not data:
            raise _gone()
        return data


def reach(path: str) -> Line | None:
    """A line to the daemon; None when nobody listens."""
    plug = _dial(path)
    return None if plug is None else Line(plug)


def connected(path: str) -> socket:
    """A socket with a daemon of ours at the other end; ``Unavailable`` when there is none."""
    if (plug := _dial(path)) is None:
        raise Unavailable("no daemon is running", hint="Start it with `visor daemon start`.")
    return plug


def _dial(path: str) -> socket | None:
    try:
        return dial(path)
    except OSError as error:
        raise Unavailable(f"cannot connect to the daemon: {error}") from error


def read_hello(result: Any) -> rpc.Hello:
    hello = msgspec.convert(result, rpc.Hello)
    rpc.check_protocol(face.PROTOCOL, hello.protocol)
    return hello


def _gone() -> Unavailable:
    return Unavailable("the daemon went away before it answered", hint="Ask again; `visor logs` may say why.")
