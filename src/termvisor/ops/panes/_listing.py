"""Base structs, identities and filters that all listings share."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import compute_seconds_between, format_timestamp, parse_timestamp
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.envelope import SCHEMA_VERSION
from termvisor.ops.api.services import Services
from termvisor.ops.panes._pane_reference import resolve_pane

ListingFilters = dict[str, str | int | bool]
SessionFilter = Annotated[str | None, Meta(description="Only panes of this session.")]
TargetFilter = Annotated[str | None, Meta(description="Only panes of this target.")]
PaneFilter = Annotated[str | None, Meta(description="Only this pane: id, %id or session:window.pane.")]


class PaneIdentity(Struct, frozen=True, kw_only=True):
    """``id`` is assigned by Termvisor and never reused; ``pane_id`` is the multiplexer's id, such as `%5`."""

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
    """Fields of every listing; subclasses add `summary` and `items`."""

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
    """Return the identities of all panes ever seen, by id."""
    return {pane.id: identify_pane(pane) for pane in await services.panes.list_panes(include_gone=True)}


def build_unknown_identity(pane: int) -> PaneIdentity:
    """Build the identity of a pane that is no longer stored."""
    return PaneIdentity(target="", session_name="", window_id="", pane_id="", id=pane)


async def filter_panes(services: Services, filters: ListingFilters, *, include_gone: bool = False) -> list[PaneView]:
    """Return the panes that match `session`, `target` and `pane` of the filters."""
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
    """Return the filters that are set."""
    return {name: value for name, value in values.items() if value is not None and value is not False}


def count_values(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def format_optional_timestamp(at: int | None) -> str | None:
    return None if at is None else format_timestamp(at)


def find_last_output_at(panes: Sequence[PaneView]) -> int | None:
    """Return the time of the newest output of these panes."""
    return max((pane.last_output_at for pane in panes if pane.last_output_at is not None), default=None)


def compute_age(at: int | None, now: int) -> float | None:
    return None if at is None else compute_seconds_between(at, now)


def parse_time_filter(text: str | None, now: int) -> int | None:
    """Parse `--since` or `--until`. Raises BadRequest."""
    return None if text is None else parse_timestamp(text, now)


def render_empty_listing(noun: str, listing: BaseListing) -> str:
    """Return the message for a listing without items."""
    return f"No matching {noun}s." if listing.filters else f"No {noun}s."
