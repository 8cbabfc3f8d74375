"""Show one own terminal in a person's terminal until they detach, the program ends, or the terminal is closed."""

import os
import select
from time import monotonic
from typing import Literal

from termvisor.backends.pty.key_encoding import encode_keys
from termvisor.backends.pty.viewer.attach_file import AttachFile, read_attach_file
from termvisor.backends.pty.viewer.person_terminal import PersonTerminal
from termvisor.backends.pty.viewer.query_filter import QueryFilter
from termvisor.backends.pty.viewer.raw_log_tail import RawLogTail
from termvisor.pty_host.startup import PROTOCOL_VERSION
from termvisor.recorder.sockets import SeqpacketChannel, close_descriptors, connect_socket

ViewerEnd = Literal["detached", "exited", "host_gone", "refused"]
_READ_BYTES = 1 << 17
_KEY_BYTES = 2048
# The daemon writes the screen again once it knows the new size; without one, the first screen is shown.
_STATE_TIMEOUT_S = 1.0
_EXIT_TIMEOUT_S = 1.0
_POLL_S = 0.005


class ViewerSession:
    """One attached terminal. ``path`` is the attach file, which is deleted once it was read."""

    def __init__(self, path: str, attach: AttachFile, terminal: PersonTerminal):
        self._path, self._attach, self._terminal = path, attach, terminal
        self._channel = SeqpacketChannel(connect_socket(attach.host_socket))
        self._tail = RawLogTail(attach.raw_dir)
        self._filter = QueryFilter()
        self._detach_keys = _list_detach_codes(attach.detach_key)
        self._unsent: list[bytes] = []
        self._pane_size: tuple[int, int] | None = None
        self._exited_at: float | None = None
        self._shown_at = 0.0
        self._is_host_gone = False

    def run(self) -> ViewerEnd:
        self._send(b"viewer %d %b\n" % (PROTOCOL_VERSION, self._attach.token.encode()))
        self._send_size()
        if not self._wait_for_size():
            return "refused"
        self._show_first_screen()
        poller = select.poll()
        for fd in (0, self._channel.fileno(), self._tail.fd, self._terminal.size_fd):
            poller.register(fd, select.POLLIN)
        # The log may have grown before it was watched, and a read may leave a rest: then there is no event to wait for.
        has_more = True
        while True:
            ready = [fd for fd, _ in poller.poll(0 if has_more else 50 if self._exited_at else None)]
            if self._terminal.size_fd in ready:
                self._terminal.read_signals()
                self._send_size()
            if 0 in ready and not self._forward_keys():
                return "detached"
            if self._channel.fileno() in ready and not self._read_host():
                poller.unregister(self._channel.fileno())
            has_more = self._show_output()
            self._flush()
            if end := self._find_end():
                return end

    def close(self) -> None:
        self._channel.close()

    def _find_end(self) -> ViewerEnd | None:
        if self._terminal.is_leaving:
            return "detached"
        if self._is_host_gone:
            return "host_gone"
        if self._exited_at is None:
            return None
        # A process that the program left behind may keep the terminal open.
        is_quiet = monotonic() - max(self._exited_at, self._shown_at) > _EXIT_TIMEOUT_S
        return "exited" if is_quiet or self._tail.has_ended() else None

    def _wait_for_size(self) -> bool:
        """Wait for the size that the terminal has with this viewer. False if the host refuses."""
        deadline = monotonic() + _STATE_TIMEOUT_S
        while self._pane_size is None and monotonic() < deadline:
            select.select([self._channel.fileno()], [], [], _STATE_TIMEOUT_S)
            if not self._read_host():
                return False
        return True

    def _show_first_screen(self) -> None:
        """Show the screen in its new size, if the daemon writes it in time, else as it was before."""
        deadline = monotonic() + _STATE_TIMEOUT_S
        attach = self._attach
        while (attach.rows, attach.columns) != self._pane_size and monotonic() < deadline:
            select.select([], [], [], _POLL_S)
            attach = read_attach_file(self._path) or attach
        _delete_file(self._path)
        stream = self._tail.stream
        self._tail = RawLogTail(attach.raw_dir)
        if attach.stream:
            self._tail.begin_stream(attach.stream, attach.offset)
        if stream and stream != attach.stream:
            self._tail.begin_stream(stream)
        self._terminal.write(attach.state)

    def _forward_keys(self) -> bool:
        """Pass on what was typed; return False if it contains the detach key or the terminal is gone."""
        try:
            data = os.read(0, 1 << 16)
        except OSError:
            # The terminal was closed.
            return False
        places = [place for code in self._detach_keys if (place := data.find(code)) >= 0]
        if places:
            data = data[: min(places)]
        for start in range(0, len(data), _KEY_BYTES):
            self._send(b"key %b\n" % data[start : start + _KEY_BYTES].hex().encode())
        return bool(data) and not places

    def _send_size(self) -> None:
        self._send(b"size %d %d 0 0\n" % self._terminal.read_size())

    def _send(self, message: bytes) -> None:
        self._unsent.append(message)
        self._flush()

    def _flush(self) -> None:
        try:
            while self._unsent and self._channel.send(self._unsent[0]):
                del self._unsent[0]
        except OSError:
            self._is_host_gone = True

    def _read_host(self) -> bool:
        """Handle what the host reports; return False if it hung up."""
        try:
            lines, fds = self._channel.receive()
        except BlockingIOError:
            return True
        except EOFError:
            self._is_host_gone = True
            return False
        close_descriptors(fds)
        for line in lines:
            verb, *words = line.decode("ascii", "replace").split(" ")
            if verb == "size":
                self._pane_size = (int(words[0]), int(words[1]))
            elif verb == "stream" and words[0] != "-":
                self._tail.begin_stream(words[0])
            elif verb == "exited":
                self._exited_at = monotonic()
        return True

    def _show_output(self) -> bool:
        """Show the next output; return False if there was none."""
        data = self._tail.read(_READ_BYTES)
        if data:
            self._shown_at = monotonic()
            self._terminal.write(self._filter.filter_chunk(data))
        return bool(data)


def _list_detach_codes(key: str) -> tuple[bytes, ...]:
    """Return the codes of the detach key: as terminals send it, and in the kitty keyboard protocol."""
    plain = encode_keys([key])
    if key.startswith("C-") and len(key) == 3:
        return plain, b"\x1b[%d;5u" % ord(key[2].lower())
    return (plain,)


def _delete_file(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return  # the daemon has removed it
