"""A blocking JSON-RPC connection to the daemon, used by the sync client and the command line."""

import select
from _socket import socket
from collections import deque
from collections.abc import Iterator
from itertools import count
from typing import Any

import msgspec

from termvisor.errors import Unavailable
from termvisor.protocol import command_protocol, jsonrpc
from termvisor.protocol.unix_socket import LineBuffer, LineTooLong, connect_socket

HELLO_TIMEOUT_S = 10.0
"""Seconds after which a daemon that has not answered `hello` counts as hung."""
_OWN_FOLDER_HINT = "Set VISOR_RUNTIME_DIR to a folder that only you use, or stop the program that uses this socket."


class BlockingConnection:
    """One connection to a running daemon; requests are sent one after the other. ``face`` names the interface."""

    def __init__(self, sock: socket, face: str = "python"):
        self._socket = sock
        self._line_buffer, self._received, self._request_ids = LineBuffer(), deque[jsonrpc.IncomingMessage](), count(1)
        self._socket.settimeout(HELLO_TIMEOUT_S)
        try:
            self.hello = read_hello(self.call("hello", {"protocol": command_protocol.PROTOCOL_VERSION, "face": face}))
        except BaseException:
            self.close()
            raise
        # No timeout for operations: some wait for an agent.
        self._socket.settimeout(None)

    def call(self, method: str, params: dict[str, Any]) -> Any:
        """Call a method and return its result, dropping any stream items before it."""
        return next(answer for answer in self._send_request(method, params) if not answer.method).result

    def stream_items(self, method: str, params: dict[str, Any]) -> Iterator[Any]:
        """Send the request and return an iterator over its stream items. To stop early, close the connection."""
        answers = self._send_request(method, params)
        return (answer.params.item for answer in answers if answer.params is not None)

    def is_ready(self) -> bool:
        """Return True if part of an answer can be read without blocking."""
        return bool(self._received) or bool(select.select([self._socket], [], [], 0)[0])

    def fileno(self) -> int:
        return self._socket.fileno()

    def close(self) -> None:
        self._socket.close()

    def _send_request(self, method: str, params: dict[str, Any]) -> Iterator[jsonrpc.IncomingMessage]:
        """Send a request and return an iterator over its answers; the last one is the result."""
        request_id = next(self._request_ids)
        try:
            self._socket.sendall(jsonrpc.encode_message(jsonrpc.RpcRequest(method, params, request_id)))
        except OSError as error:
            raise _build_lost_error() from error
        return self._iterate_answers(request_id)

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
            try:
                lines = self._line_buffer.feed(self._receive())
            except LineTooLong as error:
                raise Unavailable(f"invalid answer from the daemon: {error}", hint=jsonrpc.RESTART_HINT) from error
            self._received += map(jsonrpc.parse_incoming, lines)
        return self._received.popleft()

    def _receive(self) -> bytes:
        try:
            data = self._socket.recv(1 << 16)
        except TimeoutError as error:
            # Only `hello` has a timeout.
            raise Unavailable(
                f"the daemon did not answer within {HELLO_TIMEOUT_S:.0f} s", hint=jsonrpc.RESTART_HINT
            ) from error
        except OSError as error:
            raise _build_lost_error() from error
        if not data:
            raise _build_lost_error()
        return data


def connect_if_running(path: str, face: str = "cli") -> BlockingConnection | None:
    """Return a connection to the daemon; None if no daemon is running."""
    sock = _connect_checked(path)
    return None if sock is None else BlockingConnection(sock, face)


def connect_to_daemon(path: str) -> socket:
    """Return a socket connected to this user's daemon. Raises Unavailable if none is running."""
    if (sock := _connect_checked(path)) is None:
        raise Unavailable("no daemon is running", hint="Start it with `visor daemon start`.")
    return sock


def _connect_checked(path: str) -> socket | None:
    try:
        return connect_socket(path)
    except OSError as error:
        # `connect_socket` itself raises PermissionError with a text instead of an error number.
        raise Unavailable(
            f"cannot connect to the daemon at {path}: {error.strerror or error}", hint=_OWN_FOLDER_HINT
        ) from error


def read_hello(result: Any) -> jsonrpc.DaemonHello:
    try:
        hello = msgspec.convert(result, jsonrpc.DaemonHello)
    except msgspec.ValidationError as error:
        raise Unavailable(f"the program that answers is not the daemon: {error}", hint=_OWN_FOLDER_HINT) from error
    jsonrpc.check_protocol(command_protocol.PROTOCOL_VERSION, hello.protocol)
    return hello


def _build_lost_error() -> Unavailable:
    return Unavailable("the daemon closed the connection before it answered", hint="Retry; see `visor logs`.")
