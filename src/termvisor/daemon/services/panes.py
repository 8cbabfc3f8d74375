"""Serve the current panes to operations: list, find and capture them."""

from msgspec.structs import replace

from termvisor.backends.backend import Backend
from termvisor.backends.pane_source import ROWS_ABOVE, PaneCapture
from termvisor.capture.server_watcher import ServerWatcher
from termvisor.daemon.components import Components
from termvisor.daemon.replay.renderer import redact_colored_rows, redact_rows
from termvisor.errors import NotFound, Unsupported, build_person_required_error
from termvisor.model.action.action import Actor
from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.model.terminal.pane import PaneView
from termvisor.model.terminal.screen import Screen
from termvisor.model.terminal.target import AttachPlan
from termvisor.pipeline import get_activity
from termvisor.store import StoredPane


class PaneService:
    """Current state of the panes."""

    def __init__(self, components: Components):
        self._components = components

    async def list_panes(self, *, include_gone: bool = False) -> list[PaneView]:
        """Return the panes ordered by id; with ``include_gone``, closed ones too."""
        await self._wait_for_first_scan()
        panes = await self._components.store.panes.list_panes(include_gone=include_gone)
        return [self._build_view(pane) for pane in panes]

    async def refresh(self) -> None:
        """Notice panes that were opened or closed a moment ago."""
        await self._wait_for_first_scan()
        await self._components.server_supervisor.refresh_panes()

    async def find_pane(self, pane_id: PaneId) -> PaneView | None:
        """Return a pane by id, even after it was closed."""
        await self._wait_for_first_scan()
        pane = await self._components.store.panes.find(pane_id)
        return None if pane is None else self._build_view(pane)

    def require_attachable(self, pane: PaneView, actor: Actor) -> None:
        """Raise NotPermitted for a program where attaching would let it type beside the gate."""
        if actor.kind != "human" and not self._find_backend(pane).abilities.attach_passes_gate:
            what = f"attaching to pane {pane.id}, a terminal of its own,"
            raise build_person_required_error(what, actor.doubt, f"visor attach {pane.id}")

    def plan_attach(self, pane: PaneView) -> AttachPlan:
        """Return how a person's terminal shows a pane. Raises Unsupported if nothing here knows its server."""
        return self._find_backend(pane).plan_attach(pane.instance.server, pane.facts)

    def _find_backend(self, pane: PaneView) -> Backend:
        name = pane.instance.server.backend
        backend = self._components.server_supervisor.backends.get(name)
        if backend is None:
            raise Unsupported(f"no backend {name} is installed, which runs pane {pane.id}")
        return backend

    def get_pending_line(self, pane: PaneId) -> str:
        """Return the incomplete last line of a pane, redacted; empty if there is none."""
        reader = self._components.pipeline.current_readers.get(pane)
        return reader.pending_line if reader else ""

    async def capture_screen(self, pane: PaneId, *, escapes: bool = False, lines: int = 0) -> Screen:
        """Capture the visible screen; with ``lines``, the last lines of scrollback and screen instead."""
        watcher, mux_id = self._locate_pane(pane)
        capture = await watcher.server.capture_pane(mux_id, lines=lines + ROWS_ABOVE if lines else 0, escapes=escapes)
        if lines:
            capture = _keep_last_lines(capture, lines)
        # A screen may show only the end of a secret whose start has scrolled away; the stream contained all of it.
        secrets = self._components.pipeline.get_secrets(pane)
        if escapes:
            rows = redact_colored_rows(capture.rows, capture.rows_above, secrets, cursor_row=capture.cursor_y)
        else:
            # tmux keeps trailing spaces with -J, which joins wrapped rows; a secret ends before them.
            rows_above = [row.rstrip() for row in capture.rows_above]
            rows = redact_rows([row.rstrip() for row in capture.rows], rows_above, secrets, cursor_row=capture.cursor_y)
        return capture.to_screen(pane, rows, self._components.clock.now())

    async def wait_until_stored(self, pane: PaneId | None = None) -> None:
        """Wait until the output captured so far, from one pane or all of them, is stored as text.

        For all panes, those whose output is slow to decode are left out: a flood in one of them delays no other text.
        """
        # Until the first scan is done, the epochs of an earlier daemon are not open yet.
        await self._wait_for_first_scan()
        await self._components.pipeline.wait_settled(pane, leaves_slow=pane is None)

    async def _wait_for_first_scan(self) -> None:
        # A client that starts the daemon sends its request immediately; without this it would get an empty list.
        await self._components.server_supervisor.first_scan_done.wait()

    def _locate_pane(self, pane: PaneId) -> tuple[ServerWatcher, MuxPaneId]:
        location = self._components.server_supervisor.locate_pane(pane)
        if location is None:
            raise NotFound(f"pane {pane} no longer exists", hint=f"`visor get-text {pane}` still shows its output.")
        return location

    def _build_view(self, pane: StoredPane) -> PaneView:
        components = self._components
        meter = components.pipeline.rate_meters.get(pane.id)
        reader = components.pipeline.current_readers.get(pane.id)
        # None if the server of the pane has exited or is not watched; the store still has the pane.
        watcher = components.server_supervisor.watchers.get(pane.instance.server.key)
        is_open = pane.gone_at is None
        channel, gap_cause = watcher.describe_capture(pane.instance.mux_id) if watcher and is_open else ("none", None)
        return PaneView(
            id=pane.id,
            instance=pane.instance,
            facts=pane.facts,
            activity=get_activity(reader),
            heard_by=channel,
            gap_cause=gap_cause,
            first_seen_at=pane.first_seen_at,
            last_output_at=meter.last_at if meter and meter.last_at else pane.last_output_at,
            gone_at=pane.gone_at,
            # Bytes that were read but not yet committed count too.
            bytes_heard=pane.bytes_heard + (reader.read_offset - reader.stored_offset if reader else 0),
            bytes_per_second=meter.compute_rate(components.clock.monotonic()) if meter and is_open else 0.0,
            gaps=pane.gaps,
            lines=components.pipeline.lines.count_lines(pane.id) or pane.lines,
        )


def _keep_last_lines(capture: PaneCapture, lines: int) -> PaneCapture:
    """Return the last lines of a capture without the empty rows at its end; the rows above serve redaction."""
    rows = list(capture.rows)
    while rows and not rows[-1].strip():
        rows.pop()
    return replace(capture, rows=tuple(rows[-lines:]), rows_above=tuple(rows[:-lines][-ROWS_ABOVE:]))
