"""What the cockpit knows and what the user chose: panes, requests, events, order, filters and marks."""

from collections import deque
from collections.abc import Mapping

from msgspec.structs import replace

from termvisor.clock import Clock
from termvisor.frontends.tui.fleet_rows import FleetOptions, build_fleet_rows, list_needing, order_briefs
from termvisor.frontends.tui.row_list import ListRow
from termvisor.ops.approvals._approval_item import ApprovalItem
from termvisor.ops.approvals.watch_inbox import InboxUpdate
from termvisor.ops.events._event_item import EventItem
from termvisor.ops.panes._pane_brief import PaneBrief
from termvisor.ops.panes.watch_panes import PaneRowsUpdate

SORT_AFTER_IDLE_S = 2.0
"""Rows are sorted again when no key was pressed for so long: nothing moves while a user reads or moves."""
_MAX_EVENTS = 500
_MAX_CLOSED = 20


class FleetState:
    """Everything that the streams reported. The order of panes is kept while the user is active."""

    def __init__(self, clock: Clock):
        self._clock = clock
        self.briefs: dict[int, PaneBrief] = {}
        self.requests: dict[int, ApprovalItem] = {}
        self.closed: deque[ApprovalItem] = deque(maxlen=_MAX_CLOSED)
        self.waiting: tuple[int, ...] = ()
        self.events: deque[EventItem] = deque(maxlen=_MAX_EVENTS)
        self.options = FleetOptions()
        self._order: list[int] = []
        self._last_key_at = -SORT_AFTER_IDLE_S
        self._has_chosen_grouping = False

    def take_panes(self, update: PaneRowsUpdate) -> None:
        if update.is_snapshot:
            self.briefs = {}
        self.briefs |= {brief.id: brief for brief in update.panes}
        for pane in update.gone:
            self.briefs.pop(pane, None)
        gone = self.options.marked - self.briefs.keys()
        if gone:
            self.options = replace(self.options, marked=self.options.marked - gone)
        if not self._has_chosen_grouping:
            targets = {brief.target for brief in self.briefs.values()}
            self.options = replace(self.options, grouping="target-session" if len(targets) > 1 else "flat")

    def take_inbox(self, update: InboxUpdate) -> list[ApprovalItem]:
        """Return the requests that were closed or got their outcome."""
        if update.is_snapshot:
            self.requests = {}
        done = [item for item in update.items if item.state != "open"]
        self.requests |= {item.id: item for item in update.items if item.state == "open"}
        for item in done:
            self.requests.pop(item.id, None)
            known = [one for one in self.closed if one.id != item.id]
            self.closed = deque([*known, item], maxlen=_MAX_CLOSED)
        self.waiting = update.waiting
        return done

    def note_key(self) -> None:
        self._last_key_at = self._clock.monotonic()

    def set_grouping(self, options: FleetOptions) -> None:
        self.options, self._has_chosen_grouping = options, True

    def find_request(self, pane: int) -> ApprovalItem | None:
        """Return the oldest open request about a pane."""
        return next((item for item in self.requests.values() if item.pane == pane), None)

    def list_needing(self) -> list[int]:
        """Return the panes that need a person, most urgent first."""
        return list_needing(self.briefs.values())

    def build_rows(self, width: int, *, is_sorting: bool = False) -> tuple[ListRow, ...]:
        """Return the rows of the fleet, sorted again unless a key was pressed a moment ago."""
        if is_sorting or self._clock.monotonic() - self._last_key_at >= SORT_AFTER_IDLE_S:
            self._order = [brief.id for brief in order_briefs(self.briefs.values())]
        else:
            self._order = keep_order(self._order, self.briefs)
        ordered = [self.briefs[pane] for pane in self._order]
        return build_fleet_rows(ordered, self.options, self._clock.now(), width)


def keep_order(order: list[int], briefs: Mapping[int, PaneBrief]) -> list[int]:
    """Return the order without panes that are gone; new ones are added at the end."""
    known = set(order)
    return [pane for pane in order if pane in briefs] + [pane for pane in briefs if pane not in known]
