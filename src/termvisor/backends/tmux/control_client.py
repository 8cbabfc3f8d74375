"""Attach to one session in tmux control mode, to receive the output of panes whose pipe another program uses.

An attached client has side effects that nothing else of Termvisor has: its session counts as attached. So this is used
only where a pipe cannot be opened (`capture/control_mode_capture.py`).
"""

import asyncio
import contextlib
import fcntl
import os
import threading
from collections import deque
from collections.abc import Callable

from termvisor.backends.tmux.commands import TmuxCommand, TmuxReply, generate_token, render_script
from termvisor.backends.tmux.control_mode import ControlItem, ControlNotice, ControlOutput, ControlParser, ControlReply
from termvisor.errors import MuxError
from termvisor.system.subprocesses import start_tied

# A reply takes a tenth of a millisecond; a server that needs this long hangs or is stopped.
_REPLY_TIMEOUT_S = 10.0
# Buffer for notifications while the daemon is stopped: a full pipe would block tmux's kill-server.
_PIPE_BUFFER_BYTES = 1 << 20


def build_output_argv(program: str, socket: str, session_id: str) -> list[str]:
    """Return the argv of a client that receives the output of one session's panes, buffered only up to pause-after."""
    # Without pause-after the server buffers without limit for a slow reader. With it tmux drops its queue after ten
    # seconds and reports that.
    return _build_argv(program, socket, session_id, "pause-after=10,ignore-size")


def build_guard_argv(program: str, socket: str, session_id: str) -> list[str]:
    """Return the argv of a client that receives no output.

    tmux stops reading a pane if all attached clients have full buffers. This client's never counts as full, so a
    stopped daemon does not freeze the programs of the session.
    """
    return _build_argv(program, socket, session_id, "no-output,ignore-size")


def _build_argv(program: str, socket: str, session_id: str, flags: str) -> list[str]:
    # -N never starts a server; -E keeps the session's environment, such as SSH_AUTH_SOCK.
    return [program, "-N", "-S", socket, "-C", "attach-session", "-E", "-t", session_id, "-f", flags]


class ControlClient:
    """A `tmux -C` process, read by a dedicated thread so that a busy daemon never makes tmux wait.

    ``on_notice`` runs on the event loop and always gets a final ``exit`` notice, however the process ended; ``on_item``
    runs in the reader thread and gets everything.
    """

    kind = "control"

    def __init__(
        self,
        argv: list[str],
        *,
        on_notice: Callable[[ControlNotice], None],
        on_item: Callable[[ControlItem], None] | None = None,
    ):
        self._loop = asyncio.get_running_loop()
        self._on_notice, self._on_item = on_notice, on_item
        self._parser = ControlParser()
        self._pending_replies: dict[str, asyncio.Future[TmuxReply]] = {}
        self._unsent: deque[bytes] = deque()
        self._attach_finished = asyncio.Event()
        self.is_open = True
        stdin, self._stdin = os.pipe()
        self._stdout, stdout = os.pipe()
        # macOS has no such call, and the user's limit may be lower. Either way the buffer keeps its default size.
        with contextlib.suppress(OSError, AttributeError):
            fcntl.fcntl(stdout, fcntl.F_SETPIPE_SZ, _PIPE_BUFFER_BYTES)
        os.set_blocking(self._stdin, False)
        try:
            # Dies with the daemon: a client left behind with a full pipe froze the panes of its session in 8 of 8 runs.
            self._child = start_tied(argv, stdin=stdin, stdout=stdout)
        except OSError as error:
            os.close(self._stdin)
            os.close(self._stdout)
            raise MuxError(f"cannot start a tmux control client: {error.strerror}") from error
        finally:
            os.close(stdin)
            os.close(stdout)
        threading.Thread(target=self._read_output, name="tmux-control", daemon=True).start()

    @property
    def pid(self) -> int:
        return self._child.pid

    async def wait_until_attached(self) -> None:
        """Wait until the client is attached; before that tmux answers requests but sends no output.

        Raises MuxError if it does not attach in time.
        """
        try:
            async with asyncio.timeout(_REPLY_TIMEOUT_S):
                await self._attach_finished.wait()
        except TimeoutError as error:
            self.close()
            raise MuxError(f"tmux did not attach its client within {_REPLY_TIMEOUT_S:.0f} s") from error
        if not self.is_open:
            raise MuxError("the tmux control client could not attach")

    async def request(self, *commands: TmuxCommand, stdin: bytes = b"") -> TmuxReply:
        """Run commands; only the last one may print untrusted text.

        Raises MuxError if the server does not answer.
        """
        if stdin:
            raise ValueError("a control client has no standard input")
        if not self.is_open:
            raise MuxError("the tmux control client has exited")
        token = generate_token()
        future: asyncio.Future[TmuxReply] = self._loop.create_future()
        self._pending_replies[token] = future
        # Must precede the write, because the reader thread may see the reply at once.
        self._parser.expect_reply(token)
        self._send(f"{render_script(commands)}\ndisplay-message -p {token}\n".encode())
        try:
            async with asyncio.timeout(_REPLY_TIMEOUT_S):
                return await future
        except TimeoutError as error:
            self.close()
            raise MuxError(f"tmux did not answer within {_REPLY_TIMEOUT_S:.0f} s") from error
        finally:
            self._pending_replies.pop(token, None)

    def close(self) -> None:
        """Kill the client process; the server detaches it at once."""
        self._child.kill()
        self._handle_exit()

    def _send(self, data: bytes) -> None:
        self._unsent.append(data)
        if len(self._unsent) == 1:
            self._flush_unsent()

    def _flush_unsent(self) -> None:
        try:
            while self._unsent:
                sent = os.write(self._stdin, self._unsent[0])
                self._unsent[0] = self._unsent[0][sent:]
                if not self._unsent[0]:
                    self._unsent.popleft()
        except BlockingIOError:
            self._loop.add_writer(self._stdin, self._flush_when_writable)
        except OSError:
            # The process is gone; the reader thread reports its exit.
            self._child.kill()

    def _flush_when_writable(self) -> None:
        self._loop.remove_writer(self._stdin)
        self._flush_unsent()

    def _read_output(self) -> None:
        """Read output in the reader thread. Kill the client on any exception: unread output would block the server."""
        try:
            while (data := os.read(self._stdout, 1 << 16)) and self._process_output(data):
                pass
        finally:
            os.close(self._stdout)
            self._call_in_event_loop(self._handle_exit)

    def _process_output(self, data: bytes) -> bool:
        """Pass all items to on_item, and all except output to the event loop; return False if the loop is closed."""
        items = []
        for item in self._parser.feed(data):
            if self._on_item is not None:
                self._on_item(item)
            if not isinstance(item, ControlOutput):
                items.append(item)
        return not items or self._call_in_event_loop(self._dispatch_items, items)

    def _call_in_event_loop(self, call: Callable[..., None], *args: object) -> bool:
        try:
            self._loop.call_soon_threadsafe(call, *args)
        except RuntimeError:
            # The event loop is closed: the daemon exits.
            return False
        return True

    def _dispatch_items(self, items: list[ControlItem]) -> None:
        for item in items:
            if isinstance(item, ControlReply):
                future = self._pending_replies.get(item.token)
                if future is not None and not future.done():
                    future.set_result(item.reply)
            elif isinstance(item, ControlNotice) and item.name != "exit":
                self._on_notice(item)
                if item.name == "session-changed":
                    self._attach_finished.set()

    def _handle_exit(self) -> None:
        if not self.is_open:
            return
        self.is_open = False
        self._attach_finished.set()
        self._loop.remove_writer(self._stdin)
        os.close(self._stdin)
        self._child.kill()
        self._child.wait()
        for future in self._pending_replies.values():
            if not future.done():
                future.set_exception(MuxError("the tmux control client exited"))
        self._on_notice(ControlNotice("exit"))
