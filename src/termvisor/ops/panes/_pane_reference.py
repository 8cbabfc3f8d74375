"""Resolve pane references, filter panes, and identify them in results.

A reference is `7`, `runtime:<id>`, `pane:<target>/<session>/<window>/<pane>`, `%5`, `session`, `session:window` or
`session:window.pane`. No match raises NotFound, several matches raise AmbiguousReference: nothing is ever guessed.
"""

import re
from collections.abc import Sequence
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from termvisor.errors import AmbiguousReference, NotFound
from termvisor.model.ids import PaneId
from termvisor.model.terminal.pane import PaneView
from termvisor.model.terminal.target import LOCAL
from termvisor.ops.api.services import Services
from termvisor.ops.render.results import ListingFilters

PaneReference = Annotated[
    str, Meta(description="The pane: id, %id or session:window.pane.", extra={"positional": "one"})
]
SessionFilter = Annotated[str | None, Meta(description="Only panes of this session.")]
TargetFilter = Annotated[str | None, Meta(description="Only panes of this target.")]
PaneFilter = Annotated[str | None, Meta(description="Only this pane: id, %id or session:window.pane.")]
# At most 18 digits: larger numbers do not fit SQLite's 64-bit integers.
_PANE_ID = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)


class PaneIdentity(Struct, frozen=True, kw_only=True):
    """``id`` is assigned by Termvisor and never reused; ``pane_id`` is the multiplexer's id, such as `%5`."""

    detail_fields: ClassVar[tuple[str, ...]] = ("window_id",)

    target: str = LOCAL.name
    session_name: str
    window_id: str
    pane_id: str
    id: int


async def resolve_pane(services: Services, reference: str) -> PaneView:
    """Return the pane that a reference names; an id also finds a closed pane. Raises NotFound, AmbiguousReference."""
    text = reference.strip()
    pane_id = await _find_agent_pane(services, text) if text.startswith("runtime:") else text
    if _PANE_ID.fullmatch(pane_id) and (pane := await services.panes.find_pane(PaneId(int(pane_id)))):
        return pane
    return find_pane_by_reference(text, await services.panes.list_panes())


async def resolve_pane_id(services: Services, reference: str | None) -> PaneId | None:
    """Return the id of the pane that an optional filter names. Raises NotFound, AmbiguousReference."""
    return None if reference is None else (await resolve_pane(services, reference)).id


async def _find_agent_pane(services: Services, reference: str) -> str:
    """Return the id of the pane of the agent process `runtime:<id>`; empty if it is not running."""
    views = await services.agents.list_views()
    return next((str(pane) for pane, view in views.items() if f"runtime:{view.state.runtime}" == reference), "")


def find_pane_by_reference(reference: str, panes: Sequence[PaneView]) -> PaneView:
    """Return the pane that a reference names. An id also finds a closed pane, other forms only existing ones."""
    text = reference.strip()
    if text.startswith("runtime:"):
        raise NotFound(
            f"agent process {text.removeprefix('runtime:')!r} not found",
            hint="Use a pane id instead; `visor list-panes` shows them.",
        )
    # An id is tried first: it is unique, while a session may be named with digits too.
    for pane in panes:
        if str(pane.id) == text:
            return pane
    return _require_single_match(text, [pane for pane in panes if pane.gone_at is None and _is_match(text, pane)])


def _is_match(text: str, pane: PaneView) -> bool:
    if text.startswith("%"):
        return pane.facts.mux_id == text
    if text.startswith("pane:"):
        return _is_path_match(text.removeprefix("pane:"), pane)
    session, colon, place = text.partition(":")
    return session == pane.facts.session_name and (not colon or _is_place_match(place, pane))


def _is_path_match(path: str, pane: PaneView) -> bool:
    target, _, rest = path.partition("/")
    # Split from the right: only a session name may contain slashes.
    session, window, index = (["", "", *rest.rsplit("/", 2)])[-3:]
    return (
        target == pane.instance.server.target
        and session == pane.facts.session_name
        and _is_window_match(window, pane)
        and index in (pane.facts.mux_id, str(pane.facts.pane_index))
    )


def _is_place_match(place: str, pane: PaneView) -> bool:
    """Match ``window`` or ``window.pane``; the name of a window may contain dots itself."""
    window, dot, index = place.rpartition(".")
    exact = bool(dot) and _is_window_match(window, pane) and index in (pane.facts.mux_id, str(pane.facts.pane_index))
    return exact or _is_window_match(place, pane)


def _is_window_match(window: str, pane: PaneView) -> bool:
    facts = pane.facts
    return window in (facts.window_id, str(facts.window_index), facts.window_name)


def _require_single_match(text: str, matches: Sequence[PaneView]) -> PaneView:
    if not matches:
        raise NotFound(f"pane {text!r} not found")
    if len(matches) > 1:
        raise AmbiguousReference(
            # The message names a few; the details name all.
            f"{text!r} matches {len(matches)} panes: {', '.join(str(pane.id) for pane in matches[:8])}",
            details={"candidates": [f"{pane.id} {format_pane_path(pane)}" for pane in matches]},
        )
    return matches[0]


def format_pane_path(pane: PaneView) -> str:
    """Return the full reference: `pane:local/work/@1/%5`."""
    facts = pane.facts
    return f"pane:{pane.instance.server.target}/{facts.session_name}/{facts.window_id}/{facts.mux_id}"


def identify_pane(pane: PaneView) -> PaneIdentity:
    return PaneIdentity(
        target=pane.instance.server.target,
        session_name=pane.facts.session_name,
        window_id=pane.facts.window_id,
        pane_id=pane.facts.mux_id,
        id=pane.id,
    )


class PaneIdentities(dict[int, PaneIdentity]):
    """Identities by pane id; for a pane that is no longer stored, only the id is known."""

    def __missing__(self, pane: int) -> PaneIdentity:
        return PaneIdentity(target="", session_name="", window_id="", pane_id="", id=pane)


async def identify_all_panes(services: Services) -> PaneIdentities:
    """Return the identities of all panes ever seen, by id."""
    panes = await services.panes.list_panes(include_gone=True)
    return PaneIdentities((pane.id, identify_pane(pane)) for pane in panes)


async def filter_panes(services: Services, filters: ListingFilters, *, include_gone: bool = False) -> list[PaneView]:
    """Return the panes that match `session`, `target` and `pane` of the filters."""
    # A pane that is named explicitly is found even after it was closed.
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
