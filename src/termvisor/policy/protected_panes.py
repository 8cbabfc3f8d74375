"""Match panes against the protected list of the policy, by number or by a glob over one of their names."""

from collections.abc import Callable
from fnmatch import fnmatchcase

from termvisor.policy.request import PaneContext

NAME_GETTERS_BY_KIND: dict[str, Callable[[PaneContext], str]] = {
    "session": lambda place: place.session,
    "window": lambda place: place.window,
    "title": lambda place: place.title,
    "target": lambda place: place.target,
    "agent": lambda place: place.agent,
    "foreground": lambda place: place.foreground,
    "pane": lambda place: f"{place.target}/{place.session}/{place.window}/{place.pane_index}",
}


def find_protecting_pattern(pane: PaneContext, patterns: tuple[str, ...]) -> str:
    """Return the first pattern that matches the pane, or an empty string."""
    return next((pattern for pattern in patterns if _matches_pattern(pane, pattern)), "")


def _matches_pattern(pane: PaneContext, pattern: str) -> bool:
    kind, _, glob = pattern.partition(":")
    if kind not in NAME_GETTERS_BY_KIND:
        return pane.pane is not None and pattern == str(pane.pane)
    return fnmatchcase(NAME_GETTERS_BY_KIND[kind](pane), glob)
