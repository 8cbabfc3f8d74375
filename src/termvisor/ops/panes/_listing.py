"""What all listings share: the shape, who a pane, window or session is, and the filters."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.clock import iso, parse_when
from termvisor.model.ids import PaneId
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.envelope import SCHEMA_VERSION, seconds_between
from termvisor.ops.api.services import World
from termvisor.ops.panes._pane_reference import resolve

_NUMBER = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)
Filters = dict[str, str | int | bool]
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


class Listing(Struct, frozen=True, kw_only=True):
    """Every listing has these, then a summary and its items."""

    schema_version: int = SCHEMA_VERSION
    generated_at: str
    filters: Filters = {}


def identity(pane: PaneView) -> PaneIdentity:
    return PaneIdentity(
        target=pane.instance.server.target,
        session_name=pane.facts.session_name,
        window_id=pane.facts.window_id,
        pane_id=pane.facts.mux_id,
        id=pane.id,
    )


async def identities(world: World) -> dict[int, PaneIdentity]:
    """Who every pane is that we ever saw, by id."""
    return {pane.id: identity(pane) for pane in await world.fleet.panes(gone=True)}


def nobody(pane: int) -> PaneIdentity:
    """A pane of which only the number is left."""
    return PaneIdentity(target="", session_name="", window_id="", pane_id="", id=pane)


async def named(world: World, reference: str) -> PaneView:
    """The pane that a reference means; a number is looked up alone, and also finds a pane that ended."""
    text = reference.strip()
    number = await _tenanted(world, text) if text.startswith("runtime:") else text
    if _NUMBER.fullmatch(number) and (found := await world.fleet.pane(PaneId(int(number)))):
        return found
    return resolve(text, await world.fleet.panes())


async def _tenanted(world: World, reference: str) -> str:
    """The number of the pane in which a runtime lives; empty where none does."""
    views = await world.agents.views()
    return next((str(pane) for pane, view in views.items() if f"runtime:{view.state.runtime}" == reference), "")


async def named_id(world: World, reference: str | None) -> PaneId | None:
    """The id of the pane that a filter means, where there is one."""
    return None if reference is None else (await named(world, reference)).id


async def chosen(world: World, given: Filters, *, gone: bool = False) -> list[PaneView]:
    """The panes that pass `session`, `target` and `pane` of the filters."""
    if "pane" in given:
        panes = [await named(world, str(given["pane"]))]
    else:
        panes = await world.fleet.panes(gone=gone)
    return [
        pane
        for pane in panes
        if given.get("session", pane.facts.session_name) == pane.facts.session_name
        and given.get("target", pane.instance.server.target) == pane.instance.server.target
    ]


def filters(**given: str | int | bool | None) -> Filters:
    """What the caller really asked for."""
    return {name: value for name, value in given.items() if value is not None and value is not False}


def counts(words: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(words).items()))


def instant(at: int | None) -> str | None:
    return None if at is None else iso(at)


def latest(panes: Sequence[PaneView]) -> int | None:
    """When the newest output of these panes was heard."""
    return max((pane.last_output_at for pane in panes if pane.last_output_at is not None), default=None)


def age_of(at: int | None, now: int) -> float | None:
    return None if at is None else seconds_between(at, now)


def moment(text: str | None, now: int) -> int | None:
    """The instant that `--since` or `--until` means."""
    return None if text is None else parse_when(text, now)


def none(what: str, listing: Listing) -> str:
    """For people, where nothing is listed."""
    return f"No {what} fits." if listing.filters else f"No {what}s."
