"""The operation `watch_inbox`: stream the open approval requests, then each that opens, is answered or has its outcome.

Agents that wait at a dialog without an open request are listed too, so that none of them is missed.
"""

from collections.abc import AsyncIterator, Iterable
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.bus import wait_for_update
from termvisor.clock import format_timestamp
from termvisor.model.action.approval import Approval
from termvisor.model.event import Event
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.approvals._approval_item import ApprovalItem, build_approval_item, format_approval_lines
from termvisor.ops.render.text import RenderOptions, pluralize

_EXPIRY_CHECK_S = 5.0
"""Requests expire when they are read, so they are read now and then."""
_MAX_OPEN = 1000
_WAITING_STATES = ("waiting_approval", "waiting_input")


class WatchInboxArgs(Struct, frozen=True, kw_only=True):
    """Choose between the stream and one snapshot."""

    once: Annotated[bool, Meta(description="Print the open requests, then exit.")] = False


class InboxUpdate(Struct, frozen=True, kw_only=True):
    """``items`` are all open requests in the first item of a stream (``is_snapshot``), later those that changed: a
    closed one with its answer, and once more with its outcome. ``waiting`` are the panes whose agent waits for a person
    without an open request.
    """

    is_snapshot: bool = False
    at: str
    open: int
    items: tuple[ApprovalItem, ...] = ()
    waiting: tuple[int, ...] = ()


async def run(services: Services, args: WatchInboxArgs) -> AsyncIterator[InboxUpdate]:
    with services.gate.approvals.subscribe() as approvals, services.updates.subscribe_events() as events:
        events.is_wanted = _is_state_event
        reader = _InboxReader(services)
        yield await reader.read_snapshot()
        while not args.once:
            await wait_for_update(services.clock, _EXPIRY_CHECK_S, approvals, events)
            events.drain()
            approvals.drain()
            if (update := await reader.read_changes()) is not None:
                yield update


def _is_state_event(event: Event) -> bool:
    return event.kind in ("state_changed", "agent_began", "agent_ended")


class _InboxReader:
    """Compares the requests with those of the last update. ``_followed`` were open then, or are awaited."""

    def __init__(self, services: Services):
        self._services = services
        self._followed: dict[int, Approval] = {}
        self._waiting: tuple[int, ...] = ()

    async def read_snapshot(self) -> InboxUpdate:
        requests = await self._list_open()
        self._followed = {request.id: request for request in requests}
        self._waiting = await self._find_waiting(requests)
        return await self._build_update(requests, requests, is_snapshot=True)

    async def read_changes(self) -> InboxUpdate | None:
        """Return what changed since the last call; None if nothing did."""
        requests = await self._list_open()
        open_ids = {request.id for request in requests}
        closed = [await self._services.gate.approvals.find(one) for one in self._followed if one not in open_ids]
        current = {request.id: request for request in (*(one for one in closed if one is not None), *requests)}
        changed = [request for request in current.values() if self._followed.get(request.id) != request]
        self._followed = {number: one for number, one in current.items() if self._is_followed(one)}
        before, self._waiting = self._waiting, await self._find_waiting(requests)
        if not changed and before == self._waiting:
            return None
        return await self._build_update(requests, changed)

    def _is_followed(self, request: Approval) -> bool:
        is_awaited = request.outcome is None and self._services.gate.approvals.is_awaited(request.id)
        return request.state == "open" or is_awaited

    async def _list_open(self) -> list[Approval]:
        return await self._services.gate.approvals.list(is_open=True, limit=_MAX_OPEN)

    async def _find_waiting(self, requests: Iterable[Approval]) -> tuple[int, ...]:
        asked = {request.pane for request in requests}
        views = await self._services.agents.list_views()
        return tuple(
            pane
            for pane, view in views.items()
            if view.needs_action and view.state.value in _WAITING_STATES and pane not in asked
        )

    async def _build_update(
        self, requests: list[Approval], changed: list[Approval], *, is_snapshot: bool = False
    ) -> InboxUpdate:
        now = self._services.clock.now()
        folders = {pane.id: pane.facts.cwd for pane in await self._services.panes.list_panes()} if changed else {}
        items = (build_approval_item(one, now, folders.get(one.pane, "") if one.pane else "") for one in changed)
        return InboxUpdate(
            is_snapshot=is_snapshot,
            at=format_timestamp(now),
            open=len(requests),
            items=tuple(items),
            waiting=self._waiting,
        )


def render_text(result: InboxUpdate, options: RenderOptions) -> str:
    time = options.paint("dim", result.at[11:19])
    head = [f"{time}  {pluralize(result.open, 'open request')}"] if result.is_snapshot else []
    lines = [line for item in result.items for line in format_approval_lines(item)]
    panes = ", ".join(str(pane) for pane in result.waiting)
    waiting = [f"waiting without a request: {'panes' if len(result.waiting) > 1 else 'pane'} {panes}"] if panes else []
    return "\n".join([*head, *lines, *waiting])


OP = Operation(
    name="watch_inbox",
    robot_name="watch-inbox",
    summary="Stream approval requests.",
    doc="""The first item has all open requests (`is_snapshot`), each later one those that changed: opened, asked again,
answered, closed, and the outcome of an answer as soon as it is known. `waiting` are the panes whose agent waits for a
person although no request is open for it; `visor answer` answers its dialog.""",
    run=run,
    render_text=render_text,
    is_stream=True,
    is_live=True,
    shows_pane_text=True,
    examples=(
        OperationExample("watch-inbox", "the open requests, then what becomes of them"),
        OperationExample("robot watch-inbox --once", "the open requests and the waiting panes, as JSON"),
    ),
)
