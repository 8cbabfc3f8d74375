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

from termvisor.backends.tmux.control_mode import ControlParser, Item, Notice, Output, Reply
from termvisor.errors import MuxError
from termvisor.log import logger
from termvisor.system.subprocesses import ask, tied

PRIVATE_SESSION = "_visor"
"""The session our client lives on; where another Termvisor watches the same server, the next is `_visor-<pid>`."""
_ANSWER_FOR = 10.0
_PIPE_BYTES = 1 << 20
"""Room for notifications while we are stopped: a full pipe would keep tmux's kill-server from finishing."""

log = logger("tmux")


def new_token() -> str:
    """What no pane can guess. Not from `secrets`: that loads OpenSSL, four megabytes of it."""
    return "tv" + os.urandom(12).hex()


def _mark(token: str) -> str:
    return f"display-message -p {token}:body"


class Client(Protocol):
    """How requests reach one tmux server."""

    kind: str

    async def request(self, commands: str, body: str = "") -> Reply:
        """Run trusted commands and one whose output is hostile: at the end, or where ``{body}`` stands in them."""

    def close(self) -> None: ...


def control_argv(program: str, socket: str, name: str = PRIVATE_SESSION) -> list[str]:
    """One client on a private session with a dead pane: it hears notifications, changes no size and no environment.

    The session ends with its last client by a hook of its own. Never by destroy-unattached: tmux 3.3a then destroys the
    session while a dying client still points to it, and crashes with every pane (25 of 150 tries; the hook: none).
    """
    session = f"={name}:"
    is_left = f"if-shell -F -t {session} '#{{==:#{{session_attached}},0}}' 'kill-session -t ={name}'"
    start = [program, "-N", "-S", socket, "-C", "new-session", "-E", "-s", name, "-x", "80", "-y", "24"]
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


def output_argv(program: str, socket: str, session_id: str) -> list[str]:
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

    def __init__(self, argv: list[str], *, notice: Callable[[Notice], None], tap: Callable[[Item], None] | None = None):
        self._loop = asyncio.get_running_loop()
        self._notice, self._tap = notice, tap
        self._parser = ControlParser()
        self._waiting: dict[str, asyncio.Future[Reply]] = {}
        self._unsent: deque[bytes] = deque()
        self._is_settled = asyncio.Event()
        self.is_open = True
        stdin, self._stdin = os.pipe()
        self._stdout, stdout = os.pipe()
        with contextlib.suppress(OSError, AttributeError):
            fcntl.fcntl(stdout, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        os.set_blocking(self._stdin, False)
        try:
            self._child = tied(argv, stdin=stdin, stdout=stdout)
        except OSError as error:
            os.close(self._stdin)
            os.close(self._stdout)
            raise MuxError(f"no control client could be started: {error.strerror}") from error
        finally:
            os.close(stdin)
            os.close(stdout)
        threading.Thread(target=self._read, name="tmux-control", daemon=True).start()

    @property
    def pid(self) -> int:
        return self._child.pid

    async def attached(self) -> None:
        """Wait until the server took the client into its session: requests are answered before, output is not told."""
        try:
            async with asyncio.timeout(_ANSWER_FOR):
                await self._is_settled.wait()
        except TimeoutError as error:
            self.close()
            raise MuxError(f"tmux did not attach its client within {_ANSWER_FOR:.0f} s") from error
        if not self.is_open:
            raise MuxError("the tmux control client could not attach")

    async def request(self, commands: str, body: str = "") -> Reply:
        if not self.is_open:
            raise MuxError("the tmux control client has ended")
        token = new_token()
        future: asyncio.Future[Reply] = self._loop.create_future()
        self._waiting[token] = future
        self._parser.expect(token)
        self._send(f"{compose(commands, body, token)}\ndisplay-message -p {token}\n".encode())
        try:
            async with asyncio.timeout(_ANSWER_FOR):
                return await future
        except TimeoutError as error:
            self.close()
            raise MuxError(f"tmux did not answer within {_ANSWER_FOR:.0f} s") from error
        finally:
            self._waiting.pop(token, None)

    def close(self) -> None:
        """End the client; the server forgets it at once."""
        self._child.kill()
        self._ended()

    def _send(self, data: bytes) -> None:
        self._unsent.append(data)
        if len(self._unsent) == 1:
            self._flush()

    def _flush(self) -> None:
        try:
            while self._unsent:
                sent = os.write(self._stdin, self._unsent[0])
                self._unsent[0] = self._unsent[0][sent:]
                if not self._unsent[0]:
                    self._unsent.popleft()
        except BlockingIOError:
            self._loop.add_writer(self._stdin, self._flush_again)
        except OSError:
            self._child.kill()

    def _flush_again(self) -> None:
        self._loop.remove_writer(self._stdin)
        self._flush()

    def _read(self) -> None:
        """The reader's thread: a client whose output is no longer read must end, or it holds up its server."""
        try:
            while (data := os.read(self._stdout, 1 << 16)) and self._take(data):
                pass
        finally:
            os.close(self._stdout)
            self._post(self._ended)

    def _take(self, data: bytes) -> bool:
        """Output items go to the tap here and now; the rest is handed to the event loop, if that is still there."""
        items = []
        for item in self._parser.feed(data):
            if self._tap is not None:
                self._tap(item)
            if not isinstance(item, Output):
                items.append(item)
        return not items or self._post(self._deliver, items)

    def _post(self, call: Callable[..., None], *args: object) -> bool:
        try:
            self._loop.call_soon_threadsafe(call, *args)
        except RuntimeError:  # the loop is closed: we are leaving
            return False
        return True

    def _deliver(self, items: list[Item]) -> None:
        for item in items:
            if isinstance(item, Reply):
                future = self._waiting.get(item.token)
                if future is not None and not future.done():
                    future.set_result(item)
            elif isinstance(item, Notice) and item.name != "exit":
                self._notice(item)
                if item.name == "session-changed":
                    self._is_settled.set()

    def _ended(self) -> None:
        if not self.is_open:
            return
        self.is_open = False
        self._is_settled.set()
        self._loop.remove_writer(self._stdin)
        os.close(self._stdin)
        self._child.kill()
        self._child.wait()
        for future in self._waiting.values():
            if not future.done():
                future.set_exception(MuxError("the tmux control client ended"))
        self._notice(Notice("exit"))


class PlainClient:
    """One short `tmux` call a request: for servers where an attached client would change when they end.

    Once ``server_pid`` is set, another server that came to listen on the same socket is an error.
    """

    kind = "plain"

    def __init__(self, program: str, socket: str, forked: Callable[[], None]):
        self._argv = [program, "-N", "-S", socket, "source-file", "-"]
        self._forked = forked
        self.server_pid: int | None = None

    async def request(self, commands: str, body: str = "") -> Reply:
        token = new_token()
        script = f'{compose(commands, body, token)}\ndisplay-message -p "{token} #{{pid}}"\n'.encode()
        self._forked()
        status, out, errors = await asyncio.to_thread(ask, self._argv, stdin=script, timeout=_ANSWER_FOR)
        head, found, pid = out.rpartition(f"{token} ".encode())
        if not found:
            raise MuxError(f"tmux said: {errors.decode('utf-8', 'replace').strip() or f'exit status {status}'}")
        if self.server_pid not in (None, int(pid)):
            raise MuxError("another tmux server took over this socket")
        printed, has_body, text = head.partition(f"{token}:body\n".encode())
        lines = tuple(text.removesuffix(b"\n").split(b"\n")) if has_body and text else ()
        return Reply(token, tuple(printed.splitlines()), lines, errors.decode("utf-8", "replace").strip())

    def close(self) -> None:
        """Nothing is held open."""


def compose(commands: str, body: str, token: str) -> str:
    """Put the body after its announcement: where ``{body}`` stands in the commands, else at the end."""
    if not body:
        return commands
    announced = f"{_mark(token)} ; {body}"
    if "{body}" in commands:
        return commands.replace("{body}", announced)
    return f"{commands} ; {announced}" if commands else announced
