"""The ways to talk to one tmux server: a control client, or plain calls where a control client would change things.

Both take command lists in tmux's own syntax and answer with a `Reply`. A request may have one command whose output is
hostile (pane text, paths); it comes last and is announced by `body_mark`.
"""

import asyncio
import contextlib
import fcntl
import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Protocol

from termvisor.backends.tmux.control_mode import ControlItem, ControlNotice, ControlOutput, ControlParser, ControlReply
from termvisor.errors import MuxError
from termvisor.log import get_logger
from termvisor.system.subprocesses import run_and_capture, start_tied

PRIVATE_SESSION = "_visor"
"""The session our client lives on; where another Termvisor watches the same server, the next is `_visor-<pid>`."""
_REPLY_TIMEOUT_S = 10.0
_PIPE_BUFFER_BYTES = 1 << 20
"""Room for notifications while we are stopped: a full pipe would keep tmux's kill-server from finishing."""

log = get_logger("tmux")


def generate_token() -> str:
    """What no pane can guess. Not from `secrets`: that loads OpenSSL, four megabytes of it."""
    return "tv" + os.urandom(12).hex()


def _build_body_mark_command(token: str) -> str:
    return f"display-message -p {token}:body"


class TmuxClient(Protocol):
    """How requests reach one tmux server."""

    kind: str

    async def request(self, commands: str, body: str = "") -> ControlReply:
        """Run trusted commands and one whose output is hostile: at the end, or where ``{body}`` stands in them."""

    def close(self) -> None: ...


def build_control_argv(program: str, socket: str, session_name: str = PRIVATE_SESSION) -> list[str]:
    """One client on a private session with a dead pane: it hears notifications, changes no size and no environment.

    The session ends with its last client by a hook of its own. Never by destroy-unattached: tmux 3.3a then destroys the
    session while a dying client still points to it, and crashes with every pane (25 of 150 tries; the hook: none).
    """
    session = f"={session_name}:"
    is_left = f"if-shell -F -t {session} '#{{==:#{{session_attached}},0}}' 'kill-session -t ={session_name}'"
    start = [program, "-N", "-S", socket, "-C", "new-session", "-E", "-s", session_name, "-x", "80", "-y", "24"]
    start += ["-f", "no-output,ignore-size", "true"]
    for option in (
        ["set", "-t", session, "destroy-unattached", "off"],
        ["set", "-t", session, "detach-on-destroy", "on"],
        ["set-hook", "-t", session, "client-detached", is_left],
        ["set", "-w", "-t", session, "remain-on-exit", "on"],
        ["set", "-t", session, "status", "off"],
    ):
        start += [";", *option]
    return start


def build_output_argv(program: str, socket: str, session_id: str) -> list[str]:
    """A client that hears the output of one session's panes, bounded by pause-after."""
    return [
        program,
        "-N",
        "-S",
        socket,
        "-C",
        "attach-session",
        "-E",
        "-t",
        session_id,
        "-f",
        "pause-after=10,ignore-size",
    ]


class ControlClient:
    """A `tmux -C` process. Its output is read in a thread of its own, so that a busy daemon never makes tmux wait.

    Its end is told once, as the notice ``exit``, whatever ended it.
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
        self._pending_replies: dict[str, asyncio.Future[ControlReply]] = {}
        self._unsent: deque[bytes] = deque()
        self._attach_finished = asyncio.Event()
        self.is_open = True
        stdin, self._stdin = os.pipe()
        self._stdout, stdout = os.pipe()
        with contextlib.suppress(OSError, AttributeError):
            fcntl.fcntl(stdout, fcntl.F_SETPIPE_SZ, _PIPE_BUFFER_BYTES)
        os.set_blocking(self._stdin, False)
        try:
            self._child = start_tied(argv, stdin=stdin, stdout=stdout)
        except OSError as error:
            os.close(self._stdin)
            os.close(self._stdout)
            raise MuxError(f"no control client could be started: {error.strerror}") from error
        finally:
            os.close(stdin)
            os.close(stdout)
        threading.Thread(target=self._read_output, name="tmux-control", daemon=True).start()

    @property
    def pid(self) -> int:
        return self._child.pid

    async def wait_until_attached(self) -> None:
        """Wait until the server took the client into its session: requests are answered before, output is not told."""
        try:
            async with asyncio.timeout(_REPLY_TIMEOUT_S):
                await self._attach_finished.wait()
        except TimeoutError as error:
            self.close()
            raise MuxError(f"tmux did not attach its client within {_REPLY_TIMEOUT_S:.0f} s") from error
        if not self.is_open:
            raise MuxError("the tmux control client could not attach")

    async def request(self, commands: str, body: str = "") -> ControlReply:
        if not self.is_open:
            raise MuxError("the tmux control client has ended")
        token = generate_token()
        future: asyncio.Future[ControlReply] = self._loop.create_future()
        self._pending_replies[token] = future
        self._parser.expect_reply(token)
        self._send(f"{compose_request(commands, body, token)}\ndisplay-message -p {token}\n".encode())
        try:
            async with asyncio.timeout(_REPLY_TIMEOUT_S):
                return await future
        except TimeoutError as error:
            self.close()
            raise MuxError(f"tmux did not answer within {_REPLY_TIMEOUT_S:.0f} s") from error
        finally:
            self._pending_replies.pop(token, None)

    def close(self) -> None:
        """End the client; the server forgets it at once."""
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
            self._child.kill()

    def _flush_when_writable(self) -> None:
        self._loop.remove_writer(self._stdin)
        self._flush_unsent()

    def _read_output(self) -> None:
        """The reader's thread: a client whose output is no longer read must end, or it holds up its server."""
        try:
            while (data := os.read(self._stdout, 1 << 16)) and self._process_output(data):
                pass
        finally:
            os.close(self._stdout)
            self._call_in_event_loop(self._handle_exit)

    def _process_output(self, data: bytes) -> bool:
        """Output items go to the tap here and now; the rest is handed to the event loop, if that is still there."""
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
        except RuntimeError:  # the loop is closed: we are leaving
            return False
        return True

    def _dispatch_items(self, items: list[ControlItem]) -> None:
        for item in items:
            if isinstance(item, ControlReply):
                future = self._pending_replies.get(item.token)
                if future is not None and not future.done():
                    future.set_result(item)
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
                future.set_exception(MuxError("the tmux control client ended"))
        self._on_notice(ControlNotice("exit"))


class PlainClient:
    """One short `tmux` call a request: for servers where an attached client would change when they end.

    Once ``server_pid`` is set, another server that came to listen on the same socket is an error.
    """

    kind = "plain"

    def __init__(self, program: str, socket: str, count_fork: Callable[[], None]):
        self._argv = [program, "-N", "-S", socket, "source-file", "-"]
        self._count_fork = count_fork
        self.server_pid: int | None = None

    async def request(self, commands: str, body: str = "") -> ControlReply:
        token = generate_token()
        script = f'{compose_request(commands, body, token)}\ndisplay-message -p "{token} #{{pid}}"\n'.encode()
        self._count_fork()
        status, out, errors = await asyncio.to_thread(
            run_and_capture, self._argv, stdin=script, timeout_s=_REPLY_TIMEOUT_S
        )
        head, found, pid = out.rpartition(f"{token} ".encode())
        if not found:
            raise MuxError(f"tmux said: {errors.decode('utf-8', 'replace').strip() or f'exit status {status}'}")
        if self.server_pid not in (None, int(pid)):
            raise MuxError("another tmux server took over this socket")
        printed, has_body, text = head.partition(f"{token}:body\n".encode())
        lines = tuple(text.removesuffix(b"\n").split(b"\n")) if has_body and text else ()
        return ControlReply(token, tuple(printed.splitlines()), lines, errors.decode("utf-8", "replace").strip())

    def close(self) -> None:
        """Nothing is held open."""


def compose_request(commands: str, body: str, token: str) -> str:
    """Put the body after its announcement: where ``{body}`` stands in the commands, else at the end."""
    if not body:
        return commands
    announced = f"{_build_body_mark_command(token)} ; {body}"
    if "{body}" in commands:
        return commands.replace("{body}", announced)
    return f"{commands} ; {announced}" if commands else announced
