"""What a person may call a pane, and which pane that is. Pure.

`7` · `runtime:<id>` · `pane:<target>/<session>/<window>/<pane>` · `%5` · `session`, `session:window`,
`session:window.pane`. No match is `NotFound`, more than one is `Ambiguous`: nothing is ever guessed.
"""

from collections.abc import Sequence

from termvisor.errors import AmbiguousReference, NotFound
from termvisor.model.terminal.pane import PaneView


def find_pane_by_reference(reference: str, panes: Sequence[PaneView]) -> PaneView:
    """The one pane that is meant. A number also finds a pane that ended; every other form only those that exist."""
    text = reference.strip()
    if text.startswith("runtime:"):
        raise NotFound(
            f"no agent runtime {text.removeprefix('runtime:')!r} is known",
            hint="Name the pane instead; `visor list-panes` shows them.",
        )
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
    session, window, index = (["", "", *rest.rsplit("/", 2)])[-3:]
    return (
        target == pane.instance.server.target
        and session == pane.facts.session_name
        and _is_window_match(window, pane)
        and index in (pane.facts.mux_id, str(pane.facts.pane_index))
    )


def _is_place_match(place: str, pane: PaneView) -> bool:
    """``window``, ``window.pane``; a window's name may itself hold dots."""
    window, dot, index = place.rpartition(".")
    exact = bool(dot) and _is_window_match(window, pane) and index in (pane.facts.mux_id, str(pane.facts.pane_index))
    return exact or _is_window_match(place, pane)


def _is_window_match(window: str, pane: PaneView) -> bool:
    facts = pane.facts
    return window in (facts.window_id, str(facts.window_index), facts.window_name)


def _require_single_match(text: str, matches: Sequence[PaneView]) -> PaneView:
    if not matches:
        raise NotFound(f"no pane is called {text!r}")
    if len(matches) > 1:
        raise AmbiguousReference(
            f"{text!r} may mean {len(matches)} panes: {', '.join(str(pane.id) for pane in matches[:8])}",
            details={"candidates": [f"{pane.id} {format_pane_path(pane)}" for pane in matches]},
        )
    return matches[0]


def format_pane_path(pane: PaneView) -> str:
    """The full reference: `pane:local/work/@1/%5`."""
    facts = pane.facts
    return f"pane:{pane.instance.server.target}/{facts.session_name}/{facts.window_id}/{facts.mux_id}"
