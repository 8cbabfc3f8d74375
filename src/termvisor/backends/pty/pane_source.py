"""The panes of the PTY host (`PtyServer`): facts from the kernel, screens from the models that follow their logs.

The host reports every change, so nothing is polled. If the host dies, its programs live on and are still recorded:
they stay listed until they end, but nothing can be typed into them.
"""

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress

from termvisor.backends.capture_sink import CaptureSink
from termvisor.backends.pane_source import (
    CaptureRefusal,
    PaneCapture,
    PanesChanged,
    PaneStatus,
    ReportNews,
    ServerChange,
    ServerGone,
    SourceStatus,
    StartedCapture,
)
from termvisor.backends.pty.attachments import PaneAttachments, delete_attach_files
from termvisor.backends.pty.host_client import PtyHostClient
from termvisor.backends.pty.host_messages import HostedProgram
from termvisor.backends.pty.pane_ids import format_mux_id, parse_mux_id
from termvisor.backends.pty.pane_screen import PaneScreen
from termvisor.backends.pty.terminal_model import ModelFactory
from termvisor.backends.screen_renderer import BuildRenderer, ScreenRenderer
from termvisor.errors import MuxError
from termvisor.log import get_logger
from termvisor.model.ids import MuxPaneId
from termvisor.model.paths import Paths
from termvisor.model.terminal.output import Epoch
from termvisor.model.terminal.pane import CaptureChannel, PaneFacts, ServerInstance
from termvisor.model.terminal.target import LOCAL
from termvisor.recorder.segment_log import SegmentReader
from termvisor.redaction import redact_each
from termvisor.system import procfs, tty
from termvisor.system.inotify import CHANGE_EVENTS, FolderChange, FolderWatch, Inotify

SESSION_NAME = "pty"
SPAWN_TAG = b"spawn:"
"""The tag of programs that nothing but a pane needs, followed by their name.

They are forgotten once they have ended and all is recorded.
"""

# A program closes its terminal a moment before its parent sees its end.
_ENDING_TIMEOUT_S = 0.3

log = get_logger("backends.pty")


class PtyServer:
    """One host process. ``build_model`` makes the terminal model of a pane."""

    def __init__(
        self,
        paths: Paths,
        client: PtyHostClient,
        build_model: ModelFactory,
        report: ReportNews,
        build_renderer: BuildRenderer = lambda: None,
    ):
        self._paths, self.client, self._build_model, self._report = paths, client, build_model, report
        self._build_renderer = build_renderer
        self._renderers: dict[int, ScreenRenderer] = {}
        self._unused_renderers: list[ScreenRenderer] = []
        pid = client.pid or 0
        self.instance = ServerInstance(
            LOCAL.name, paths.pty_host_socket, pid, procfs.read_start_time(pid), procfs.read_boot_id(), backend="pty"
        )
        self.screens: dict[int, PaneScreen] = {}
        self._watches: dict[int, FolderWatch] = {}
        self._inotify = Inotify()
        self._programs = dict(client.programs)
        self._is_gone = False
        self._orphans: set[int] = set()
        """Programs of a host that has died."""
        self.attachments = PaneAttachments(paths, client, self.screens)
        self._unsubscribe = client.subscribe(self._note_program, self._note_lost)
        for program in self._programs.values():
            self._open_screen(program)
        delete_attach_files(paths.runtime_dir)

    @property
    def status(self) -> SourceStatus:
        detail = "" if self.client.is_connected else "the PTY host has died; its programs are recorded until they end"
        return SourceStatus(client="own protocol", version="", detail=detail)

    @property
    def has_programs(self) -> bool:
        return any(procfs.read_start_time(each.pid) == each.started_ticks for each in self._programs.values())

    def find_program(self, pane: MuxPaneId) -> HostedProgram | None:
        return self._programs.get(parse_mux_id(pane))

    def detect_changes(self, panes: Iterable[PaneFacts]) -> ServerChange:
        if not (self.client.is_connected or self.has_programs or self._is_gone):
            self._is_gone = True
            self._report(ServerGone())
        return "possible" if self._orphans or self._is_gone else "none"

    async def list_pane_statuses(self) -> Mapping[MuxPaneId, PaneStatus]:
        await self._wait_for_ending_programs()
        return {
            format_mux_id(number): PaneStatus(program.pid, piped=False, dead=self._is_finished(program))
            for number, program in self._list_programs().items()
        }

    async def list_pane_facts(self) -> list[PaneFacts]:
        # Decided once: a program that ends during the listing is in the next one, which its end requests.
        finished = {number for number, program in self._programs.items() if self._is_finished(program)}
        await self._forget_spawned(finished)
        while self._unused_renderers:
            await self._unused_renderers.pop().close()
        programs = self._list_programs()
        return [self._build_facts(each, is_finished=number in finished) for number, each in programs.items()]

    def choose_channel(self, pane: MuxPaneId, *, can_pipe: bool) -> CaptureChannel:
        return "pty" if self.client.is_connected and parse_mux_id(pane) not in self._orphans else "none"

    async def start_capture(
        self, pane: MuxPaneId, epoch: Epoch, sink: CaptureSink, *, lines: int, replace: bool = False
    ) -> StartedCapture | CaptureRefusal:
        """Hand the terminal to the recorder. Its program runs, or continues to print, from then on."""
        number = parse_mux_id(pane)
        screen = self.screens.get(number)
        if screen is None or number not in self._programs:
            return "gone"
        # Nothing reads the terminal now, so the screen stays as it is until the recorder holds it.
        capture = await screen.capture(lines=lines)
        stream = f"{epoch.pane}/{epoch.id}"
        self._watch_stream(number, stream)
        refusal = await self.client.hold(number, epoch.pane, epoch.id)
        if refusal is not None:
            if refusal.what == "terminal":
                return "gone"
            raise MuxError(f"the recorder does not hold {pane}: {refusal.what} {refusal.actual}")
        self._follow_stream(number, stream)
        return StartedCapture(data_plane="pty", capture=capture)

    async def stop_capture(self, pane: MuxPaneId, epoch: Epoch) -> None:
        """Do nothing: the recorder drops the stream on request."""

    async def capture_pane(self, pane: MuxPaneId, *, lines: int = 0, escapes: bool = False) -> PaneCapture:
        return await self.get_screen(pane).capture(lines=lines, escapes=escapes)

    async def capture_screens(self, panes: Sequence[MuxPaneId]) -> list[PaneCapture | None]:
        screens = [self.screens.get(parse_mux_id(pane)) for pane in panes]
        return [None if screen is None else await screen.capture() for screen in screens]

    def get_screen(self, pane: MuxPaneId) -> PaneScreen:
        """Return the screen of a pane. Raises MuxError if it is gone."""
        screen = self.screens.get(parse_mux_id(pane))
        if screen is None:
            raise MuxError(f"pane {pane} is gone")
        return screen

    async def close(self) -> None:
        self._unsubscribe()
        for screen in self.screens.values():
            screen.close(keep_checkpoint=True)
        self.screens.clear()
        for renderer in [*self._renderers.values(), *self._unused_renderers]:
            await renderer.close()
        self.attachments.close()
        self._inotify.close()

    def _list_programs(self) -> dict[int, HostedProgram]:
        for number in list(self._orphans):
            program = self._programs.get(number)
            if program is None or procfs.read_start_time(program.pid) != program.started_ticks:
                self._orphans.discard(number)
                self._programs.pop(number, None)
                self._close_screen(number)
        return dict(self._programs)

    def _is_finished(self, program: HostedProgram) -> bool:
        """Return True if the program has ended and the recorder has read the last byte of its terminal."""
        return program.state == "exited" and self._has_log_ended(program)

    def _has_log_ended(self, program: HostedProgram) -> bool:
        """Return True if the recorder has closed the log of the program's terminal."""
        if not program.stream:
            return False
        reader = SegmentReader(f"{self._paths.raw_dir}/{program.stream}")
        try:
            return reader.read_end() is not None
        finally:
            reader.close()

    async def _forget_spawned(self, finished: set[int]) -> None:
        for number, program in list(self._programs.items()):
            is_ours = program.tag.startswith(SPAWN_TAG) and number not in self._orphans
            if number in finished and is_ours and self.client.is_connected:
                # Another client may have forgotten it.
                await self.client.forget_program(number)
                self._programs.pop(number, None)
                self._close_screen(number)

    async def _wait_for_ending_programs(self) -> None:
        """Wait shortly for programs whose terminal is closed already: the recorder may notice that first."""
        ending = [each for each in self._programs.values() if each.state != "exited" and self._has_log_ended(each)]
        for program in ending if self.client.is_connected else ():
            with suppress(TimeoutError):
                async with asyncio.timeout(_ENDING_TIMEOUT_S):
                    await self.client.wait_exit(program.number)

    def _build_facts(self, program: HostedProgram, *, is_finished: bool) -> PaneFacts:
        screen = self.screens.get(program.number)
        group = tty.find_foreground_group(program.pid) or program.pid
        command = read_command_name(group) or read_command_name(program.pid)
        if program.state == "held":
            # Our child has not become the program yet.
            command = program.tag.removeprefix(SPAWN_TAG).decode("utf-8", "replace") or command
        title = screen.model.title if screen else ""
        name, cwd, title = redact_each([command, procfs.read_cwd(group) or procfs.read_cwd(program.pid), title])
        return PaneFacts(
            mux_id=format_mux_id(program.number),
            pid=program.pid,
            pid_started=program.started_ticks,
            session_id=SESSION_NAME,
            session_name=SESSION_NAME,
            window_id=format_mux_id(program.number),
            window_index=program.number,
            window_name=name,
            active=True,
            tty=program.tty,
            command=name,
            cwd=cwd,
            title=title,
            width=program.columns,
            height=program.rows,
            alternate=screen is not None and screen.model.is_alternate,
            dead=is_finished,
            dead_status=program.exit.code if program.exit and not program.exit.signal else None,
            dead_signal=program.exit.signal or None if program.exit else None,
        )

    def _note_program(self, number: int, program: HostedProgram | None) -> None:
        before = self._programs.get(number)
        if program is None:
            self._programs.pop(number, None)
            self._close_screen(number)
        else:
            self._programs[number] = program
            if number not in self.screens:
                self._open_screen(program)
            else:
                self.screens[number].resize(program.columns, program.rows)
            self.attachments.refresh(number)
        # The time of the last key alone is no reason to list.
        if before is None or program is None or _get_listed(before) != _get_listed(program):
            self._report(PanesChanged())

    def _note_lost(self) -> None:
        log.error("the PTY host has died; its programs are recorded until they end")
        self._orphans |= set(self._programs)
        self._report(PanesChanged())

    def _open_screen(self, program: HostedProgram) -> None:
        number, client = program.number, self.client

        def send_answer(data: bytes) -> None:
            client.send_answer(number, data)

        path = f"{self._paths.pty_result_dir}/{program.pid}.{program.started_ticks}.screen"
        size = (program.columns, program.rows)
        if renderer := self._build_renderer():
            self._renderers[number] = renderer
        screen = PaneScreen(self._paths.raw_dir, path, size, self._build_model, send_answer, renderer)
        self.screens[number] = screen
        if program.stream:
            screen.restore(program.stream)
            self._watch_stream(number, program.stream)

    def _close_screen(self, number: int) -> None:
        if screen := self.screens.pop(number, None):
            screen.close()
        if renderer := self._renderers.pop(number, None):
            # Closed with the next listing, because that takes time.
            self._unused_renderers.append(renderer)
        if watch := self._watches.pop(number, None):
            self._inotify.unwatch_folder(watch)

    def _follow_stream(self, number: int, stream: str) -> None:
        if (screen := self.screens.get(number)) and screen.stream != stream:
            screen.begin_stream(stream)
            screen.note_growth()

    def _watch_stream(self, number: int, stream: str) -> None:
        """Watch the folder of a stream before the recorder writes to it."""
        folder = f"{self._paths.raw_dir}/{stream}"
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if watch := self._watches.pop(number, None):
            self._inotify.unwatch_folder(watch)
        with suppress(OSError):  # no watches are left: the screen is still right whenever it is read
            self._watches[number] = self._inotify.watch_folder(
                folder, CHANGE_EVENTS, self._build_growth_handler(number)
            )

    def _build_growth_handler(self, number: int) -> Callable[[FolderChange], None]:
        def handle(change: FolderChange) -> None:
            if change.name.endswith(".raw") and (screen := self.screens.get(number)):
                screen.note_growth()
            elif change.name.endswith(".idx") and self._has_finished(number):
                self._report(PanesChanged())

        return handle

    def _has_finished(self, number: int) -> bool:
        program = self._programs.get(number)
        return program is not None and program.state == "exited" and self._is_finished(program)


def _get_listed(program: HostedProgram | None) -> tuple[object, ...]:
    return () if program is None else (program.state, program.rows, program.columns, program.stream)


def read_command_name(pid: int) -> str:
    """Return the name of the program that a process runs, as it was started."""
    argv = procfs.read_argv(pid)
    return os.path.basename(argv[0].removeprefix("-")) if argv and argv[0] else ""
