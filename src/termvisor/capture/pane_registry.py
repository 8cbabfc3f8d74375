"""Keep the panes of one server: store what each listing changes, emit the events, adopt and release captures."""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from termvisor.capture.epochs import EpochLifecycle
from termvisor.capture.pane_capture import PaneCaptureController
from termvisor.log import get_logger
from termvisor.model.event import Scalar
from termvisor.model.ids import MuxPaneId, PaneId
from termvisor.model.terminal.pane import PaneFacts, PaneInstance, ServerInstance

# Of more panes than this between two listings, only the newest are stored.
_MAX_MISSED_PANES = 10_000
log = get_logger("capture.panes")


class KnownPane(Struct):
    id: PaneId
    facts: PaneFacts


class PaneChange(Struct, frozen=True):
    """A change of one pane, with the ``kind`` and ``data`` of the event to emit."""

    kind: str
    mux_id: MuxPaneId
    data: dict[str, Scalar] = {}


class PaneRegistry:
    """The panes of ``server``; ``known`` maps tmux's ids to the current ones and is changed in place."""

    def __init__(
        self,
        server: ServerInstance,
        known: dict[MuxPaneId, KnownPane],
        epochs: EpochLifecycle,
        captures: PaneCaptureController,
    ):
        self._server, self._known, self._epochs, self._captures = server, known, epochs, captures
        self._gone: dict[MuxPaneId, KnownPane] = {}
        """Panes that the current listing no longer has, or has respawned."""
        self._highest_number: int | None = None
        self._listed_at = epochs.clock.now()

    async def load(self) -> None:
        """Adopt the panes that an earlier daemon stored."""
        await self._epochs.store.panes.adopt_server(self._server)
        for stored in await self._epochs.store.panes.list_panes():
            if stored.instance.server.is_same_process(self._server):
                self._known[stored.instance.mux_id] = KnownPane(stored.id, stored.facts)
                await self._captures.adopt_pane(stored.id, stored.facts)
        self._highest_number = await self._epochs.store.panes.find_highest_mux_number(self._server)

    async def apply_listing(self, listed: Mapping[MuxPaneId, PaneFacts]) -> list[PaneChange]:
        """Store what a listing shows and return the changes since the last one."""
        since, self._listed_at = self._listed_at, self._epochs.clock.now()
        await self._record_missed_panes(listed, since)
        changes = list(diff_listings({mux_id: known.facts for mux_id, known in self._known.items()}, listed))
        for change in changes:
            await self._apply_change(change, listed)
        self._gone.clear()
        for mux_id, facts in listed.items():
            self._captures.update_facts(facts)
            await self._update_pane(self._known[mux_id], facts)
        return changes

    async def _record_missed_panes(self, listed: Mapping[MuxPaneId, PaneFacts], since: int) -> None:
        """Store the panes that came and went since the last listing: tmux numbers all panes and reuses no number."""
        numbers = {int(mux_id[1:]) for mux_id in listed if mux_id[1:].isdigit()}
        highest = max(numbers, default=-1)
        if self._highest_number is not None and highest > self._highest_number:
            first = max(self._highest_number + 1, highest - _MAX_MISSED_PANES)
            if missed := [MuxPaneId(f"%{number}") for number in range(first, highest) if number not in numbers]:
                log.info("%s: %d panes were opened and closed between two listings", self._server.socket, len(missed))
                await self._epochs.store.panes.add_missed(self._server, missed, since, self._listed_at)
        self._highest_number = max(highest, self._highest_number or 0)

    async def _apply_change(self, change: PaneChange, listed: Mapping[MuxPaneId, PaneFacts]) -> None:
        panes, emit = self._epochs.store.panes, self._epochs.event_log.emit
        if change.kind == "pane_appeared":
            await self._add_pane(change, listed[change.mux_id])
        elif change.kind == "pane_gone":
            gone = self._gone[change.mux_id] = self._known.pop(change.mux_id)
            await self._captures.release_pane(change.mux_id)
            await panes.mark_gone(gone.id, self._epochs.clock.now())
            await emit(change.kind, gone.id)
        elif change.kind == "pane_respawned":
            previous = self._gone[change.mux_id].id
            await emit(change.kind, self._known[change.mux_id].id, previous=previous, **change.data)
        else:
            # Store before emitting the event, so that its subscribers read the new facts.
            known = self._known[change.mux_id]
            await self._update_pane(known, listed[change.mux_id])
            await emit(change.kind, known.id, **change.data)

    async def _add_pane(self, change: PaneChange, facts: PaneFacts) -> None:
        panes = self._epochs.store.panes
        newest = await panes.find_newest(self._server, change.mux_id)
        generation = 0 if newest is None else newest.instance.generation + is_respawned(newest.facts, facts)
        instance = PaneInstance(self._server, change.mux_id, generation)
        pane, is_new = await panes.find_or_add(instance, facts, self._epochs.clock.now())
        self._known[change.mux_id] = KnownPane(pane, facts)
        await self._captures.adopt_pane(pane, facts)
        if is_new:
            await self._epochs.event_log.emit(change.kind, pane, **change.data)

    async def _update_pane(self, known: KnownPane, facts: PaneFacts) -> None:
        if (facts.width, facts.height) != (known.facts.width, known.facts.height):
            self._epochs.pipeline.resize_pane(known.id, facts.width, facts.height)
        if facts != known.facts:
            known.facts = facts
            await self._epochs.store.panes.update(known.id, facts, self._epochs.clock.now())


def diff_listings(old: Mapping[MuxPaneId, PaneFacts], new: Mapping[MuxPaneId, PaneFacts]) -> Iterator[PaneChange]:
    """Yield the changes in the order in which their events must be emitted, with closed panes first.

    A respawned pane keeps its place and its tmux id, but is another instance: the old one is gone, a new one appeared.
    """
    respawned = {mux_id for mux_id, facts in new.items() if mux_id in old and is_respawned(old[mux_id], facts)}
    for mux_id in old:
        if mux_id not in new or mux_id in respawned:
            yield PaneChange("pane_gone", mux_id)
    for mux_id, facts in new.items():
        if mux_id not in old or mux_id in respawned:
            yield PaneChange("pane_appeared", mux_id, {"command": facts.command, "session": facts.session_name})
        else:
            yield from _diff_facts(old[mux_id], facts)
        if mux_id in respawned:
            yield PaneChange("pane_respawned", mux_id, {"pid": facts.pid, "command": facts.command})


def is_respawned(old: PaneFacts, new: PaneFacts) -> bool:
    """Return True if another program was started in the pane. A start time of 0 belongs to a process that exited."""
    is_restarted = 0 not in (old.pid_started, new.pid_started) and old.pid_started != new.pid_started
    return not new.dead and (old.pid != new.pid or is_restarted)


def _diff_facts(old: PaneFacts, new: PaneFacts) -> Iterator[PaneChange]:
    if new.dead and not old.dead:
        yield PaneChange("pane_died", new.mux_id, {"status": new.dead_status, "signal": new.dead_signal})
    if (old.width, old.height) != (new.width, new.height):
        yield PaneChange("pane_resized", new.mux_id, {"width": new.width, "height": new.height})
    if (old.session_id, old.window_id) != (new.session_id, new.window_id):
        yield PaneChange("pane_moved", new.mux_id, {"session": new.session_name, "window": new.window_id})
    elif (old.session_name, old.window_name) != (new.session_name, new.window_name):
        yield PaneChange("pane_renamed", new.mux_id, {"session": new.session_name, "window": new.window_name})
