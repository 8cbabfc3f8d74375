"""What a person may call a pane, and which pane that is. Pure.

`7` · `runtime:<id>` · `pane:<target>/<session>/<window>/<pane>` · `%5` · `session`, `session:window`,
`session:window.pane`. No match is `NotFound`, more than one is `Ambiguous`: nothing is ever guessed.
"""

from collections.abc import Sequence

from termvisor.errors import Ambiguous, NotFound
from termvisor.model.terminal.pane import PaneView


def resolve(reference: str, panes: Sequence[PaneView]) -> PaneView:
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
    return _only(text, [pane for pane in panes if pane.gone_at is None and _fits(text, pane)])


def _fits(text: str, pane: PaneView) -> bool:
    if text.startswith("%"):
        return pane.facts.mux_id == text
    if text.startswith("pane:"):
        return _fits_path(text.removeprefix("pane:"), pane)
    session, colon, place = text.partition(":")
    return session == pane.facts.session_name and (not colon or _fits_place(place, pane))


def _fits_path(path: str, pane: PaneView) -> bool:
    target, _, rest = path.partition("/")
    session, window, index = (["", "", *rest.rsplit("/", 2)])[-3:]
    return (
        target == pane.instance.server.target
        and session == pane.facts.session_name
        and _fits_window(window, pane)
        and index in (pane.facts.mux_id, str(pane.facts.pane_index))
    )


def _fits_place(place: str, pane: PaneView) -> bool:
    """``window``, ``window.pane``; a window's name may itself hold dots."""
    window, dot, index = place.rpartition(".")
    exact = bool(dot) and _fits_window(window, pane) and index in (pane.facts.mux_id, str(pane.facts.pane_index))
    return exact or _fits_window(place, pane)


def _fits_window(window: str, pane: PaneView) -> bool:
    facts = pane.facts
    return window in (facts.window_id, str(facts.window_index), facts.window_name)


def _only(text: str, found: Sequence[PaneView]) -> PaneView:
    if not found:
        raise NotFound(f"no pane is called {text!r}")
    if len(found) > 1:
        raise Ambiguous(
            f"{text!r} may mean {len(found)} panes: {', '.join(str(pane.id) for pane in found[:8])}",
            details={"candidates": [f"{pane.id} {path(pane)}" for pane in found]},
        )
    return found[0]


def path(pane: PaneView) -> str:
    """The full reference: `pane:local/work/@1/%5`."""
    facts = pane.facts
    return f"pane:{pane.instance.server.target}/{facts.session_name}/{facts.window_id}/{facts.mux_id}"
