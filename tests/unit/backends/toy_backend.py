"""A backend that another package could bring: it polls terminals of this process, and checks guards before it types."""

import asyncio
import fcntl
import os
import re
import signal
import sys
from collections.abc import Iterable, Mapping, Sequence

from termvisor.backends.backend import Abilities, BackendDependencies
from termvisor.backends.key_names import is_key_name
from termvisor.backends.local_terminal import LocalPaneTerminal
from termvisor.backends.pane_control import AppliedChange, GuardMismatch, GuardResult, PaneGuard, PaneState
from termvisor.backends.pane_source import (
    CaptureLost,
    PaneCapture,
    PanesChanged,
    PaneStatus,
    ReportNews,
    ServerGone,
    SourceStatus,
    StartedCapture,
)
from termvisor.errors import BadRequest, MuxError, Unsupported
from termvisor.model.ids import MuxPaneId
from termvisor.model.terminal.pane import PaneFacts, ServerInstance
from termvisor.model.terminal.target import AttachPlan
from termvisor.settings import Settings
from termvisor.system.procfs import read_boot_id, read_start_time

ADDRESS = "toy"
SIZE = (80, 24)
SETTINGS = Settings(thin_interval=0.1, full_interval=1.0, flush_interval=0.01, tmux_sockets=())
_POLL_INTERVAL_S = 0.03
_GET_TERMINAL_NUMBER = 0x80045430
_KEYS = {"Enter": b"\r", "C-c": b"\x03"}


class ToyPane:
    """A program in a terminal, and the rows that it printed."""

    def __init__(self, number: int, argv: Sequence[str]):
        self.mux_id, self.rows, self.alternate = MuxPaneId(f"%{number}"), [""], False
        self._other_rows = [""]
        self.pid, self.master = os.forkpty()
        if self.pid == 0:
            os.execvp(argv[0], list(argv))
        number = fcntl.ioctl(self.master, _GET_TERMINAL_NUMBER, b"\0" * 4)
        self.tty = f"/dev/pts/{int.from_bytes(number, sys.byteorder)}"
        asyncio.get_running_loop().add_reader(self.master, self._read)
        self.on_end = lambda: None

    def _read(self) -> None:
        try:
            text = os.read(self.master, 1 << 16).decode("utf-8", "replace")
        except OSError:
            self.close()
            self.on_end()
            return
        for part in re.split(r"(\x1b\[\?1049[hl]|\r\n)", text):
            if part.startswith("\x1b[?1049"):
                self.alternate = part.endswith("h")
                self.rows, self._other_rows = self._other_rows, self.rows
            elif part == "\r\n":
                self.rows.append("")
            else:
                self.rows[-1] += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", part)

    def capture(self, lines: int = 0) -> PaneCapture:
        rows = [*self.rows[-SIZE[1] - lines :]]
        rows += [""] * (SIZE[1] - len(rows))
        cursor_y = min(len(self.rows), SIZE[1]) - 1
        return PaneCapture(
            rows=tuple(rows),
            width=SIZE[0],
            height=SIZE[1],
            cursor_x=len(self.rows[-1]),
            cursor_y=cursor_y,
            alternate=self.alternate,
        )

    def close(self) -> None:
        if self.master >= 0:
            asyncio.get_running_loop().remove_reader(self.master)
            os.close(self.master)
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.master = -1


class ToyServer:
    def __init__(self, report: ReportNews):
        pid = os.getpid()
        self.instance = ServerInstance("local", ADDRESS, pid, read_start_time(pid), read_boot_id(), "toy")
        self.status, self._report = SourceStatus(client="toy", version="1"), report
        self.panes: dict[MuxPaneId, ToyPane] = {}
        self._captures: dict[MuxPaneId, tuple] = {}
        self._polling = asyncio.ensure_future(self._poll())

    def open(self, *argv: str) -> MuxPaneId:
        pane = ToyPane(len(self.panes) + 1, argv)
        self.panes[pane.mux_id] = pane
        pane.on_end = lambda: self._end(pane)
        self._report(PanesChanged())
        return pane.mux_id

    def _end(self, pane: ToyPane) -> None:
        self.panes.pop(pane.mux_id, None)
        self._report(PanesChanged())

    def leave(self) -> None:
        self._report(ServerGone())

    async def _poll(self) -> None:
        while True:
            await asyncio.sleep(_POLL_INTERVAL_S)
            for mux_id, (epoch, sink) in list(self._captures.items()):
                pane = self.panes.get(mux_id)
                if pane is None or sink.add_screen(epoch.id, pane.capture()) == "continued":
                    continue
                if sink.add_screen(epoch.id, pane.capture(lines=2000)) == "unproven":
                    del self._captures[mux_id]
                    self._report(CaptureLost(epoch.id, "cursor_jump", is_failure=False))

    def detect_changes(self, panes: Iterable[PaneFacts]) -> str:
        return "none"

    async def list_pane_statuses(self) -> Mapping[MuxPaneId, PaneStatus]:
        return {mux_id: PaneStatus(pane.pid, piped=False, dead=False) for mux_id, pane in self.panes.items()}

    async def list_pane_facts(self) -> list[PaneFacts]:
        return [
            PaneFacts(
                mux_id=mux_id,
                pid=pane.pid,
                pid_started=read_start_time(pane.pid),
                session_name="toy",
                tty=pane.tty,
                command="toy",
                width=SIZE[0],
                height=SIZE[1],
            )
            for mux_id, pane in self.panes.items()
        ]

    def choose_channel(self, pane: MuxPaneId, *, can_pipe: bool) -> str:
        return "polled"

    async def start_capture(self, pane, epoch, sink, *, lines, replace=False):
        if pane not in self.panes:
            return "gone"
        capture = self.panes[pane].capture(lines=lines)
        sink.add_screen(epoch.id, capture)
        self._captures[pane] = (epoch, sink)
        return StartedCapture(data_plane="polled", capture=capture)

    async def stop_capture(self, pane, epoch) -> None:
        self._captures.pop(pane, None)

    async def capture_pane(self, pane: MuxPaneId, *, lines: int = 0, escapes: bool = False) -> PaneCapture:
        if pane not in self.panes:
            raise MuxError(f"pane {pane} is gone")
        return self.panes[pane].capture(lines)

    async def capture_screens(self, panes: Sequence[MuxPaneId]) -> list[PaneCapture | None]:
        return [self.panes[pane].capture() if pane in self.panes else None for pane in panes]

    async def close(self) -> None:
        self._polling.cancel()
        for pane in self.panes.values():
            pane.close()
        self.panes.clear()


class ToyControl:
    def __init__(self, server: ToyServer):
        self._server = server

    async def read_pane_state(self, mux_id: MuxPaneId) -> PaneState | None:
        pane = self._server.panes.get(mux_id)
        if pane is None:
            return None
        capture = pane.capture()
        return PaneState(
            pane=mux_id, pid=pane.pid, command="toy", dead=False, in_mode=False, input_off=False, synchronized=False,
            alternate=capture.alternate, width=SIZE[0], height=SIZE[1], cursor_x=capture.cursor_x,
            cursor_y=capture.cursor_y, cursor_visible=True, rows=capture.rows,
        )  # fmt: skip

    async def list_clients(self) -> list:
        return []

    async def write(self, guard: PaneGuard, text: str) -> GuardResult:
        return await self._type(guard, text.encode())

    async def press(self, guard: PaneGuard, keys: Sequence[str]) -> GuardResult:
        if not all(map(is_key_name, keys)):
            raise BadRequest("unknown key")
        return await self._type(guard, b"".join(_KEYS.get(key, key.encode()) for key in keys))

    async def _type(self, guard: PaneGuard, data: bytes) -> GuardResult:
        state = await self.read_pane_state(guard.pane)
        if state is None:
            return GuardMismatch("pane", guard.pane, "none")
        cursor = (state.cursor_x, state.cursor_y)
        checks = (
            GuardMismatch("pid", str(guard.pid), str(state.pid)),
            GuardMismatch("alternate", str(guard.alternate), str(guard.alternate in (None, state.alternate))),
            GuardMismatch("screen", guard.shows, guard.shows if any(guard.shows in row for row in state.rows) else ""),
            GuardMismatch("cursor", str(guard.cursor or cursor), str(cursor)),
        )
        failed = [check for check in checks if check.what != "alternate" and check.expected != check.actual]
        failed += [check for check in checks if check.what == "alternate" and check.actual == "False"]
        if failed:
            return failed[0]
        os.write(self._server.panes[guard.pane].master, data)
        return AppliedChange(guarantee="checked")

    async def open_pane(self, spawn, beside, gate=""):
        raise Unsupported("the toy opens no panes")

    async def change_pane(self, guard, change, value=""):
        raise Unsupported("the toy changes no panes")


class ToyBackend:
    name = "toy"
    abilities = Abilities(
        streams=False, guards="checked", pastes=False, spawns=False, is_default_place=False, closes=False,
        titles=False, activates=False, viewers=False,
    )  # fmt: skip

    def __init__(self, dependencies: BackendDependencies):
        self.server: ToyServer | None = None
        self.is_running = True

    def explain_unavailable(self) -> str:
        return ""

    async def list_addresses(self, transport) -> list[str]:
        return [ADDRESS]

    async def list_named_addresses(self, transport) -> None:
        return None

    async def is_listening(self, transport, address: str) -> bool:
        return self.is_running

    async def open_server(self, transport, address: str, report: ReportNews) -> ToyServer:
        self.server = ToyServer(report)
        return self.server

    def is_server_alive(self, transport, server: ServerInstance) -> bool | None:
        return self.is_running and server.pid == os.getpid()

    def build_control(self, source: ToyServer) -> ToyControl:
        return ToyControl(source)

    def build_terminal(self, source: ToyServer) -> LocalPaneTerminal:
        return LocalPaneTerminal()

    def plan_attach(self, server: ServerInstance, facts: PaneFacts) -> AttachPlan:
        return AttachPlan(address=server.socket)
