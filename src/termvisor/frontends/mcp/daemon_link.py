"""Hold one connection to the daemon: start it at the first call, reconnect after a restart, never send a call twice.

Nothing here blocks: the bridge polls `fileno` and calls `on_readable`, `on_writable` and `on_timer`. A call whose
answer was lost with its connection fails; whether the daemon acted is in the audit log.
"""

import os
import sys

from termvisor.frontends.mcp.json_codec import decode_json, encode_json
from termvisor.protocol.command_protocol import PROTOCOL_VERSION, build_mismatch_hint, describe_mismatch
from termvisor.protocol.unix_socket import connect_socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket
    from collections.abc import Callable
    from typing import Any

    from termvisor.frontends.mcp.session import OnAnswer

START_COMMAND = (sys.executable, "-m", "termvisor", "daemon", "start")
_HELLO_ID, _WATCH_ID = 0, -1
_TIMER_S = 0.05
_RECONNECT_S = 1.0
_CHUNK = 1 << 18
_STOPPED = "the daemon stopped before it answered"
_STOPPED_HINT = "Check what became of an action with `visor audit`, then call again."


class DaemonLink:
    """``path`` is the daemon's socket. Implements `ToolBackend`."""

    def __init__(
        self, path: str, get_time: "Callable[[], float]", start_command: "tuple[str, ...]" = START_COMMAND
    ) -> None:
        self._path, self._get_time, self._start_command = path, get_time, start_command
        self._socket: socket | None = None
        self._is_ready = False
        self._received, self._unsent = bytearray(), bytearray()
        self._waiting: dict[int, OnAnswer] = {}
        self._unsent_calls: dict[int, bytes] = {}
        self._last_id = 0
        self._starter = 0
        self._on_changed: Callable[[list[str] | None], None] | None = None
        self._retry_at = 0.0

    def call(self, method: str, params: "dict[str, Any]", on_answer: "OnAnswer") -> int:
        """Send a call, or keep it until the daemon has started."""
        self._last_id += 1
        self._waiting[self._last_id] = on_answer
        line = _encode_request(self._last_id, method, params)
        if self._is_ready:
            self._send(line)
        else:
            self._unsent_calls[self._last_id] = line
            self._connect(starts_daemon=True)
        return self._last_id

    def cancel(self, call_id: int) -> None:
        self._waiting.pop(call_id, None)
        if self._unsent_calls.pop(call_id, None) is None and self._is_ready:
            self._send(_encode_notification("cancel", {"id": call_id}))

    def watch(self, on_changed: "Callable[[list[str] | None], None] | None") -> None:
        was_watching, self._on_changed = self._on_changed is not None, on_changed
        if self._is_ready and was_watching != (on_changed is not None):
            self._send_watch()
        elif on_changed is not None and not self._is_ready:
            self._connect(starts_daemon=True)

    def fileno(self) -> int:
        """Return the descriptor to poll; -1 without a connection."""
        return self._socket.fileno() if self._socket is not None else -1

    @property
    def has_unsent(self) -> bool:
        return bool(self._unsent)

    def get_delay(self) -> "float | None":
        """Return the seconds until `on_timer` is due; None if nothing waits for it."""
        if self._starter:
            return _TIMER_S
        if self._socket is None and self._on_changed is not None:
            return max(0.0, self._retry_at - self._get_time())
        return None

    def on_timer(self) -> None:
        """Notice that the starting daemon is up; reconnect for subscriptions."""
        if self._starter:
            self._check_starter()
        elif self._socket is None and self._on_changed is not None and self._get_time() >= self._retry_at:
            self._connect(starts_daemon=False)

    def on_writable(self) -> None:
        self._flush()

    def on_readable(self) -> None:
        assert self._socket is not None  # noqa: S101 - polled only while connected
        try:
            data = self._socket.recv(_CHUNK)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if not data:
            self._lose_connection()
            return
        start = len(self._received)
        self._received += data
        if (end := self._received.rfind(b"\n", start)) < 0:
            return
        lines = bytes(self._received[:end]).split(b"\n")
        del self._received[: end + 1]
        for line in lines:
            self._handle_line(line)

    def _connect(self, *, starts_daemon: bool) -> None:
        if self._socket is not None or self._starter:
            return
        self._retry_at = self._get_time() + _RECONNECT_S
        try:
            sock = connect_socket(self._path)
        except OSError as error:
            self._fail_all(
                _build_unavailable(f"cannot connect to the daemon: {error.strerror or error}", "See `visor doctor`.")
            )
            return
        if sock is None:
            if starts_daemon:
                self._start_daemon()
            return
        sock.setblocking(False)
        self._socket, self._is_ready = sock, False
        self._received.clear()
        self._unsent.clear()
        self._send(_encode_request(_HELLO_ID, "hello", {"protocol": PROTOCOL_VERSION, "face": "mcp"}))

    def _start_daemon(self) -> None:
        null = os.open(os.devnull, os.O_RDWR)
        try:
            # Its errors go to our stderr, which clients keep as the server's log.
            self._starter = os.posix_spawn(
                self._start_command[0],
                self._start_command,
                os.environ,  # noqa: TID251 - importing settings is too slow here
                file_actions=[(os.POSIX_SPAWN_DUP2, null, 0), (os.POSIX_SPAWN_DUP2, null, 1)],
            )
        except OSError as error:
            self._fail_all(_build_unavailable(f"cannot start the daemon: {error.strerror}", "Run `visor up`."))
        finally:
            os.close(null)

    def _check_starter(self) -> None:
        pid, status = os.waitpid(self._starter, os.WNOHANG)
        if not pid:
            return
        self._starter = 0
        if os.waitstatus_to_exitcode(status) == 0:
            self._connect(starts_daemon=False)
        if self._socket is None:
            self._fail_all(
                _build_unavailable("the daemon could not be started", "Run `visor up` in a terminal to see why.")
            )

    def _handle_line(self, line: bytes) -> None:
        try:
            message: Any = decode_json(line)
        except ValueError:
            message = None
        if not isinstance(message, dict):  # something else answers on this socket
            self._lose_connection()
            return
        if message.get("method") == "item":
            if self._on_changed is not None and message["params"].get("id") == _WATCH_ID:
                self._on_changed(message["params"]["item"]["uris"])
            return
        call_id: Any = message.get("id")
        error = message.get("error")
        if call_id == _HELLO_ID:
            self._finish_hello(message.get("result") or {}, error)
        elif (on_answer := self._waiting.pop(call_id, None)) is not None:
            on_answer(None if error else message.get("result"), error)

    def _finish_hello(self, hello: "dict[str, Any]", error: "dict[str, Any] | None") -> None:
        protocol = hello.get("protocol", PROTOCOL_VERSION)
        if error is None and protocol != PROTOCOL_VERSION:
            hint = build_mismatch_hint(PROTOCOL_VERSION, protocol)
            error = _build_error("unsupported", describe_mismatch(PROTOCOL_VERSION, protocol), hint)
        if error is not None:
            self._close()
            self._fail_all(error)
            return
        self._is_ready = True
        for line in self._unsent_calls.values():
            self._send(line)
        self._unsent_calls.clear()
        if self._on_changed is not None:
            self._send_watch()
            # Changes may have been missed since the last connection, or since the client subscribed.
            self._on_changed(None)

    def _send_watch(self) -> None:
        if self._on_changed is not None:
            self._send(_encode_request(_WATCH_ID, "watch_resources", {}))
        else:
            self._send(_encode_notification("cancel", {"id": _WATCH_ID}))

    def _send(self, data: bytes) -> None:
        self._unsent += data
        self._flush()

    def _flush(self) -> None:
        while self._unsent and self._socket is not None:
            try:
                sent = self._socket.send(self._unsent)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                return  # reading reports the loss, after what the daemon still sent
            del self._unsent[:sent]

    def _lose_connection(self) -> None:
        self._close()
        self._fail_all(_build_unavailable(_STOPPED, _STOPPED_HINT))

    def _close(self) -> None:
        if self._socket is not None:
            self._socket.close()
        self._socket, self._is_ready = None, False
        self._retry_at = self._get_time() + _RECONNECT_S

    def _fail_all(self, error: "dict[str, Any]") -> None:
        waiting, self._waiting = self._waiting, {}
        self._unsent_calls.clear()
        for on_answer in waiting.values():
            on_answer(None, error)


def _encode_request(request_id: int, method: str, params: "dict[str, Any]") -> bytes:
    return _encode({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})


def _encode_notification(method: str, params: "dict[str, Any]") -> bytes:
    return _encode({"jsonrpc": "2.0", "method": method, "params": params})


def _encode(message: "dict[str, Any]") -> bytes:
    return encode_json(message) + b"\n"


def _build_unavailable(message: str, hint: str) -> "dict[str, Any]":
    return _build_error("unavailable", message, hint)


def _build_error(code: str, message: str, hint: str) -> "dict[str, Any]":
    return {"code": -32000, "message": message, "data": {"code": code, "hint": hint}}
