"""Load the views besides the fleet: inbox, feed, search, workflows and jobs, audit and timeline."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import convert

from termvisor.errors import VisorError
from termvisor.frontends.tui.daemon_calls import describe_error
from termvisor.frontends.tui.row_list import ListRow
from termvisor.frontends.tui.view_rows import (
    build_feed_row,
    build_inbox_rows,
    build_text_rows,
    build_timeline_rows,
)
from termvisor.ops.agents.timeline import TimelineListing
from termvisor.ops.agents.usage_daily import UsageListing
from termvisor.ops.render.text import RenderOptions

if TYPE_CHECKING:
    from termvisor.frontends.tui.cockpit import CockpitApp

LOADED_VIEWS = ("search", "jobs", "audit", "timeline")
"""Views that are read from the daemon when they are shown; the others are fed by streams."""
RELOAD_INTERVAL_S = 10.0
_SEARCH_LIMIT = 200
_AUDIT_LIMIT = 200


class SecondaryViews:
    """Builds the rows of a view; the rows of loaded views are kept until they are read again."""

    def __init__(self, app: "CockpitApp"):
        self._app = app
        self._loaded: dict[str, tuple[ListRow, ...]] = {}
        self.query = ""

    def build_rows(self, view: str) -> Sequence[ListRow]:
        state = self._app.state
        if view == "inbox":
            return build_inbox_rows(state.requests.values(), state.waiting, state.closed)
        if view == "feed":
            rows = [build_feed_row(event) for event in reversed(state.events)]
            return rows or build_text_rows("", "No events yet; they appear as they are stored.")
        if view == "search" and not self.query:
            return build_text_rows("", "f searches everything that was printed or said.")
        return self._loaded.get(view) or build_text_rows("", "Reading …")

    async def load(self, view: str) -> None:
        """Read the view; an error is shown in its place."""
        width = self._app.view.list.size.width
        options = RenderOptions(width=max(20, width - 2), now=self._app.clock.now(), is_terminal=True)
        try:
            self._loaded[view] = await self._load_rows(view, options, width)
        except VisorError as error:
            self._loaded[view] = build_text_rows(describe_error(error), "")

    async def _load_rows(self, view: str, options: RenderOptions, width: int) -> tuple[ListRow, ...]:
        calls = self._app.calls
        if view == "timeline":
            listing = convert(await calls.call("timeline"), TimelineListing)
            return build_timeline_rows(listing, convert(await calls.call("usage_daily"), UsageListing), width)
        if view == "search":
            if not self.query:
                return ()
            text = await calls.render("search_history", options, text=self.query, limit=_SEARCH_LIMIT)
            return build_text_rows(text, f"Nothing matches {self.query!r}.")
        if view == "audit":
            return build_text_rows(await calls.render("audit", options, limit=_AUDIT_LIMIT), "Nothing was done yet.")
        runs = await calls.render("workflow_status", options, all=True)
        jobs = await calls.render("job_list", options)
        return build_text_rows(f"{runs}\n\n{jobs}", "No runs and no jobs yet.")
