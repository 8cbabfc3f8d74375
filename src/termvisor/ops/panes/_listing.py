"""What all listings share: the shape, who a pane, window or session is, and the filters."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import format_timestamp, parse_timestamp
from termvisor.model.ids import PaneId
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.envelope import SCHEMA_VERSION, compute_seconds_between
from termvisor.ops.api.services import Services
from termvisor.ops.panes._pane_reference import find_pane_by_reference

_PANE_NUMBER = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)
ListingFilters = dict[str, str | int | bool]
SessionFilter = Annotated[str | None, Meta(description="Only this session.")]
TargetFilter = Annotated[str | None, Meta(description="Only this target.")]
PaneFilter = Annotated[str | None, Meta(description="Only this pane; any reference.")]


class PaneIdentity(Struct, frozen=True, kw_only=True):
    """``id`` is our number, never reused; ``pane_id`` is the multiplexer's own, such as `%5`."""

    target: str
    session_name: str
    window_id: str
    pane_id: str
    id: int


class WindowIdentity(Struct, frozen=True, kw_only=True):
    target: str
    session_name: str
    window_id: str


class SessionIdentity(Struct, frozen=True, kw_only=True):
    target: str
    session_name: str


class BaseListing(Struct, frozen=True, kw_only=True):
    """Every listing has these, then a summary and its items."""

    schema_version: int = SCHEMA_VERSION
    generated_at: str
    filters: ListingFilters = {}


def identify_pane(pane: PaneView) -> PaneIdentity:
    return PaneIdentity(
        target=pane.instance.server.target,
        session_name=pane.facts.session_name,
        window_id=pane.facts.window_id,
        pane_id=pane.facts.mux_id,
        id=pane.id,
    )


async def identify_all_panes(services: Services) -> dict[int, PaneIdentity]:
    """Who every pane is that we ever saw, by id."""
    return {pane.id: identify_pane(pane) for pane in await services.panes.list_panes(include_gone=True)}


def build_unknown_identity(pane: int) -> PaneIdentity:
    """A pane of which only the number is left."""
    return PaneIdentity(target="", session_name="", window_id="", pane_id="", id=pane)


async def resolve_pane(services: Services, reference: str) -> PaneView:
    """The pane that a reference means; a number is looked up alone, and also finds a pane that ended."""
    text = reference.strip()
    number = await _find_agent_pane(services, text) if text.startswith("runtime:") else text
    if _PANE_NUMBER.fullmatch(number) and (found := await services.panes.find_pane(PaneId(int(number)))):
        return found
    return find_pane_by_reference(text, await services.panes.list_panes())


async def _find_agent_pane(services: Services, reference: str) -> str:
    """The number of the pane in which a runtime lives; empty where none does."""
    views = await services.agents.list_views()
    return next((str(pane) for pane, view in views.items() if f"runtime:{view.state.runtime}" == reference), "")


async def resolve_pane_id(services: Services, reference: str | None) -> PaneId | None:
    """The id of the pane that a filter means, where there is one."""
    return None if reference is None else (await resolve_pane(services, reference)).id


async def filter_panes(services: Services, filters: ListingFilters, *, include_gone: bool = False) -> list[PaneView]:
    """The panes that pass `session`, `target` and `pane` of the filters."""
    if "pane" in filters:
        panes = [await resolve_pane(services, str(filters["pane"]))]
    else:
        panes = await services.panes.list_panes(include_gone=include_gone)
    return [
        pane
        for pane in panes
        if filters.get("session", pane.facts.session_name) == pane.facts.session_name
        and filters.get("target", pane.instance.server.target) == pane.instance.server.target
    ]


def build_filters(**values: str | int | bool | None) -> ListingFilters:
    """What the caller really asked for."""
    return {name: value for name, value in values.items() if value is not None and value is not False}


def count_values(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def format_optional_timestamp(at: int | None) -> str | None:
    return None if at is None else format_timestamp(at)


def find_last_output_at(panes: Sequence[PaneView]) -> int | None:
    """When the newest output of these panes was heard."""
    return max((pane.last_output_at for pane in panes if pane.last_output_at is not None), default=None)


def compute_age(at: int | None, now: int) -> float | None:
    return None if at is None else compute_seconds_between(at, now)


def parse_time_filter(text: str | None, now: int) -> int | None:
    """The instant that `--since` or `--until` means."""
    return None if text is None else parse_timestamp(text, now)


def render_empty_listing(noun: str, listing: BaseListing) -> str:
    """For people, where nothing is listed."""
    return f"No {noun} fits." if listing.filters else f"No {noun}s."
