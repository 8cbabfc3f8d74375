"""Carry out the requests of daemons and viewers on the terminals.

A request is one line: its id, a verb, words. Whatever a client sends, the worst answer is `error invalid`.
"""

from __future__ import annotations

import posix

from termvisor.pty_host.child import start_held_child
from termvisor.pty_host.clients import MAX_PENDING_KEYS, ViewerClient
from termvisor.pty_host.spec import (
    MAX_SPEC_BYTES,
    MAX_TAG_BYTES,
    MAX_TEXT_BYTES,
    check_size,
    parse_spec,
    read_attached_file,
)
from termvisor.pty_host.startup import decode_fields, encode_fields
from termvisor.pty_host.terminal import EXITED, GuardRefusal, HostedTerminal
from termvisor.pty_host.terminal_table import TerminalTable

_MAX_SIGNAL = 64
_MAX_NUMBER = 1_000_000_000
_NAME_LENGTH = 37
_WHOM = ("foreground", "program", "session")
_RULES = ("", "smallest", "latest")


class HostRequestHandler:
    """Executes requests. ``None`` as an answer means that it follows when the recorder has answered."""

    def __init__(self, table: TerminalTable, umask: int, descriptor_limit: int):
        self._table, self._umask, self._descriptor_limit = table, umask, descriptor_limit
        self.reexec_arguments: bytes = b""
        self.is_stopping = False

    def execute(self, client_fd: int, line: bytes, fds: list[int]) -> bytes | None:
        """Return the answer to a daemon's request."""
        request_id, _, rest = line.partition(b" ")
        verb, _, text = rest.partition(b" ")
        words = text.split(b" ") if text else []
        try:
            answer = self._dispatch(client_fd, (request_id, verb.decode("ascii")), words, fds)
        except GuardRefusal as refusal:
            answer = f"refused {refusal.what} {refusal.actual}".encode()
        except (ValueError, KeyError, IndexError, UnicodeError, OverflowError):
            answer = b"error invalid"
        except OSError as error:
            answer = b"error errno %d" % (error.errno or 0)
        return None if answer is None else request_id[:20] + b" " + answer + b"\n"

    def execute_viewer(self, viewer: ViewerClient, line: bytes) -> None:
        """Type keys or note a size. Raises ValueError for anything else."""
        terminal = self._table.terminals.get(viewer.number)
        verb, *words = line.split(b" ")
        if terminal is None or terminal.state == EXITED:
            return
        if verb == b"key" and len(words) == 1:
            self._table.note_typing(terminal, viewer)
            viewer.pending_keys += bytes.fromhex(words[0].decode("ascii"))
            if len(viewer.pending_keys) > MAX_PENDING_KEYS:
                raise ValueError("too much is waiting")
            self._table.flush_keys(viewer)
        elif verb == b"size" and len(words) == 4:
            viewer.size = check_size(*(int(word) for word in words))
            self._table.apply_viewer_size(terminal)
            viewer.add_message(b"size %d %d\n" % (terminal.rows, terminal.columns))
        else:
            raise ValueError(verb)

    def _dispatch(self, client_fd: int, head: tuple[bytes, str], words: list[bytes], fds: list[int]) -> bytes | None:
        request_id, verb = head
        if verb == "start":
            return self._start(fds)
        if verb in ("sync", "reexec", "number", "revoke"):
            self._change_host(verb, words)
            return b"ok"
        if verb == "quit":
            return self._quit()
        terminal = self._table.terminals.get(int(words[0]))
        if terminal is None:
            return b"refused terminal gone"
        if verb == "hold":
            self._hold(terminal, words[1], (client_fd, request_id.decode("ascii")))
            return None
        return self._change(terminal, verb, words[1:], fds)

    def _change_host(self, verb: str, words: list[bytes]) -> None:
        if verb == "reexec":
            self.reexec_arguments = b" ".join(words)
        elif verb == "number":
            # Programs of a host that died keep their numbers.
            self._table.next_number = max(self._table.next_number, min(int(words[0]), _MAX_NUMBER))
        elif verb == "revoke":
            self._table.remove_grant(words[0].decode("ascii"))

    def _change(self, terminal: HostedTerminal, verb: str, words: list[bytes], fds: list[int]) -> bytes:
        if verb == "write":
            guard = decode_fields(words[0].split(b",")) if words[0] != b"-" else {}
            data = read_attached_file(fds[0], MAX_TEXT_BYTES) if words[1] == b"-" else bytes.fromhex(words[1].decode())
            return b"ok %d %d" % (terminal.write(guard, data, self._table.raw_dir), len(data))
        if verb == "signal":
            number, whom = int(words[0]), words[1].decode("ascii")
            if not 0 < number <= _MAX_SIGNAL or whom not in _WHOM:
                raise ValueError(whom)
            terminal.check_guard(decode_fields(words[2].split(b",")) if words[2:] else {}, self._table.raw_dir)
            return b"ok" if terminal.send_signal(number, whom) else b"refused process gone"
        if verb == "facts":
            return b"ok " + encode_fields(terminal.read_facts())
        if verb == "resize":
            if not 2 <= len(words) <= 4:
                raise ValueError(verb)
            terminal.resize(*(int(word) for word in words))
        elif verb == "tag":
            terminal.tag = _check_tag(words[0])
        elif verb == "grant":
            token, rule = words[0].decode("ascii"), words[1].decode("ascii")
            if rule not in _RULES or len(token) < 16:
                raise ValueError(rule)
            self._table.add_grant(terminal, token, rule)
        elif verb == "forget":
            return self._forget(terminal)
        else:
            raise ValueError(verb)
        self._table.mark_changed(terminal.number)
        return b"ok"

    def _start(self, fds: list[int]) -> bytes:
        spec = parse_spec(read_attached_file(fds[0], MAX_SPEC_BYTES))
        child = start_held_child(spec, self._umask, self._descriptor_limit)
        try:
            terminal = self._table.add_child(child, spec)
        except OSError:
            # Without a result file the program must not run. It ends when its gate closes.
            for fd in (child.master, child.gate, child.error_fd):
                posix.close(fd)
            raise
        return b"ok %d %b" % (terminal.number, encode_fields(terminal.format_row()))

    def _hold(self, terminal: HostedTerminal, name: bytes, requester: tuple[int, str]) -> None:
        pane, slash, epoch = name.partition(b"/")
        if not (pane.isdigit() and slash and epoch.isdigit() and len(name) <= _NAME_LENGTH):
            raise ValueError(name)
        self._table.start_handoff(terminal, name.decode("ascii"), requester)

    def _forget(self, terminal: HostedTerminal) -> bytes:
        """Close a terminal whose program has ended; its result is no longer needed."""
        if terminal.state != EXITED:
            return b"refused state " + terminal.state.encode()
        self._table.remove(terminal.number)
        return b"ok"

    def _quit(self) -> bytes:
        running = [terminal for terminal in self._table.terminals.values() if terminal.state != EXITED]
        if running:
            return b"refused running %d" % len(running)
        self.is_stopping = True
        return b"ok"


def _check_tag(word: bytes) -> str:
    tag = bytes.fromhex(word.decode("ascii"))
    if len(tag) > MAX_TAG_BYTES:
        raise ValueError("the tag is too long")
    return tag.hex()
