"""A blocking conversation with the daemon over one socket: what the sync client and the start-up share."""

import select
from _socket import socket
from collections import deque
from collections.abc import Iterator
from itertools import count
from typing import Any

import msgspec

from termvisor.errors import Unavailable
from termvisor.protocol import command_protocol, jsonrpc
from termvisor.protocol.connect import connect_socket
from termvisor.protocol.line_buffer import LineBuffer

HELLO_TIMEOUT_S = 10.0
"""Seconds in which a daemon that is well says hello."""


class BlockingConnection:
    """One connection to a living daemon. Requests go one after the other."""

    def __init__(self, sock: socket):
        self._socket = sock
        self._line_buffer, self._received, self._request_ids = LineBuffer(), deque[jsonrpc.IncomingMessage](), count(1)
        self._socket.settimeout(HELLO_TIMEOUT_S)
        try:
            self.hello = read_hello(self.call("hello", {"protocol": command_protocol.PROTOCOL_VERSION}))
        except BaseException:
            self.close()
            raise
        self._socket.settimeout(None)

    def call(self, method: str, params: dict[str, Any]) -> Any:
        """The result; items on the way to it are passed over."""
        return next(answer for answer in self._send_request(method, params) if not answer.method).result

    def stream_items(self, method: str, params: dict[str, Any]) -> Iterator[Any]:
        """The items of a stream, asked for at once. Close the line to end it early."""
        answers = self._send_request(method, params)
        return (answer.params.item for answer in answers if answer.params is not None)

    def is_ready(self) -> bool:
        """Whether something of an answer can be read without waiting."""
        return bool(self._received) or bool(select.select([self._socket], [], [], 0)[0])

    def fileno(self) -> int:
        return self._socket.fileno()

    def close(self) -> None:
        self._socket.close()

    def _send_request(self, method: str, params: dict[str, Any]) -> Iterator[jsonrpc.IncomingMessage]:
        """Everything that answers this request, its result last."""
        number = next(self._request_ids)
        try:
            self._socket.sendall(jsonrpc.encode_message(jsonrpc.RpcRequest(method, params, number)))
        except OSError as error:
            raise _build_lost_error() from error
        return self._iterate_answers(number)

    def _iterate_answers(self, request_id: int) -> Iterator[jsonrpc.IncomingMessage]:
        while True:
            answer = self._next_message()
            if answer.error:
                raise jsonrpc.to_visor_error(answer.error)
            if answer.method or answer.id == request_id:
                yield answer
            if answer.id == request_id:
                return

    def _next_message(self) -> jsonrpc.IncomingMessage:
        while not self._received:
            self._received += map(jsonrpc.parse_incoming, self._line_buffer.feed(self._receive()))
        return self._received.popleft()

    def _receive(self) -> bytes:
        try:
            data = self._socket.recv(1 << 16)
        except TimeoutError as error:
            raise Unavailable(
                f"the daemon does not answer within {HELLO_TIMEOUT_S:.0f} s", hint=jsonrpc.RESTART_HINT
            ) from error
        except OSError as error:
            raise _build_lost_error() from error
        if not data:
            raise _build_lost_error()
        return data


def connect_if_running(path: str) -> BlockingConnection | None:
    """A line to the daemon; None when nobody listens."""
    plug = _connect_checked(path)
    return None if plug is None else BlockingConnection(plug)


def connect_to_daemon(path: str) -> socket:
    """A socket with a daemon of ours at the other end; ``Unavailable`` when there is none."""
    if (plug := _connect_checked(path)) is None:
        raise Unavailable("no daemon is running", hint="Start it with `visor daemon start`.")
    return plug


def _connect_checked(path: str) -> socket | None:
    try:
        return connect_socket(path)
    except OSError as error:
        raise Unavailable(f"cannot connect to the daemon: {error}") from error


def read_hello(result: Any) -> jsonrpc.DaemonHello:
    hello = msgspec.convert(result, jsonrpc.DaemonHello)
    jsonrpc.check_protocol(command_protocol.PROTOCOL_VERSION, hello.protocol)
    return hello


def _build_lost_error() -> Unavailable:
    return Unavailable("the daemon went away before it answered", hint="Ask again; `visor logs` may say why.")
