"""Panes that the policy protects, by number or by a glob over one of their names."""

from collections.abc import Callable
from fnmatch import fnmatchcase

from termvisor.policy.request import Place

KINDS: dict[str, Callable[[Place], str]] = {
    "session": lambda place: place.session,
    "window": lambda place: place.window,
    "title": lambda place: place.title,
    "target": lambda place: place.target,
    "agent": lambda place: place.agent,
    "foreground": lambda place: place.foreground,
    "pane": lambda place: f"{place.target}/{place.session}/{place.window}/{place.pane_index}",
}


def protected_by(place: Place, patterns: tuple[str, ...]) -> str:
    """The first pattern that fits; empty when none does."""
    return next((pattern for pattern in patterns if _fits(place, pattern)), "")


def _fits(place: Place, pattern: str) -> bool:
    kind, _, glob = pattern.partition(":")
    if kind not in KINDS:
        return place.pane is not None and pattern == str(place.pane)
    return fnmatchcase(KINDS[kind](place), glob)
