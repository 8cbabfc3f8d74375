"""Tell bridges to models which resources changed: names only, at most a few times a second.

A bridge that falls behind misses nothing, because it is told that a resource changed and not how.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from typing import Any

from msgspec import Struct

from termvisor.model.event import Event
from termvisor.model.ids import PaneId
from termvisor.ops.api.services import Services

_GATHER_S = 0.25
"""Changes within this time are reported together: a busy pane changes more often than a model can read."""
_PANE_EVENTS = ("server_", "pane_", "agent_", "state_", "epoch_", "gap_")


class ChangedResources(Struct, frozen=True):
    uris: tuple[str, ...]


async def watch_resources(services: Services) -> AsyncGenerator[ChangedResources, None]:
    """Yield the URIs of resources that changed, until the caller closes the stream."""
    changed, has_changed = dict[str, None](), asyncio.Event()

    def note_with(list_uris: Callable[[Any], Iterator[str]]) -> Callable[[Any], bool]:
        def note_item(item: Any) -> bool:
            changed.update(dict.fromkeys(list_uris(item)))
            has_changed.set()
            return False  # only its names are kept, so nothing is queued

        return note_item

    with (
        services.updates.subscribe_events() as events,
        services.updates.subscribe_output() as output,
        services.gate.approvals.subscribe() as approvals,
    ):
        events.is_wanted = note_with(list_event_uris)
        output.is_wanted = note_with(list_output_uris)
        approvals.is_wanted = note_with(lambda _approval: iter(("visor://inbox",)))
        while True:
            await has_changed.wait()
            await services.clock.sleep(_GATHER_S)
            has_changed.clear()
            uris = tuple(changed)
            changed.clear()
            yield ChangedResources(uris)


def list_event_uris(event: Event) -> Iterator[str]:
    """Yield the resources that an event changes."""
    yield "visor://events"
    if event.kind.startswith(_PANE_EVENTS):
        yield "visor://panes"
    if event.kind == "rules_reloaded":
        yield "visor://rules"
    if event.kind == "state_changed" and event.pane is not None:
        yield f"visor://pane/{event.pane}/explain"


def list_output_uris(pane: PaneId) -> Iterator[str]:
    yield f"visor://pane/{pane}/text"
    yield f"visor://pane/{pane}/screen"
