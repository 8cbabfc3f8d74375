"""When a repainting pane is looked at: when it has painted, not too often, and never while it is quiet. Pure.

A program that never pauses is looked at all the same, at the latest a second after it began.
"""

from msgspec import Struct

from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.screen_row import Life

QUIET_FOR = 0.15
"""Seconds without output after which a screen counts as painted."""
APART_FOR = 0.5
"""Seconds between two looks, at least."""
LATEST_AFTER = 1.0
_TRIES = 10


class Stir(Struct, frozen=True):
    """A pane printed something; ``life`` is that of the screen it paints on, None where it no longer does."""

    pane: PaneId
    epoch: EpochId
    life: Life | None = None
    is_painting: bool = False
    """It is within a synchronized update: what it shows now is half of a picture."""
    is_painted: bool = False
    """A synchronized update has just ended: what it shows now is whole."""
    is_sign: bool = True
    """It repainted. Otherwise it only printed, which keeps a look waiting but asks for none."""


class Pace(Struct):
    """The rhythm of one pane. Instants are seconds of a clock that never runs backwards."""

    life: Life
    stirred_at: float = 0.0
    looked_at: float = -APART_FOR
    waiting_since: float | None = None
    """The first paint that no look has seen yet."""
    is_painting: bool = False
    is_painted: bool = False
    tries: int = 0

    def stir(self, stir: Stir, now: float) -> None:
        self.stirred_at, self.tries = now, 0
        self.is_painting = stir.is_painting
        self.is_painted = stir.is_painted and not stir.is_painting
        if stir.is_sign and self.waiting_since is None:
            self.waiting_since = now

    @property
    def due_at(self) -> float | None:
        """When to look, None while there is nothing to see."""
        if self.waiting_since is None:
            return None
        latest = self.waiting_since + LATEST_AFTER
        return max(self.looked_at + APART_FOR, min(self._settled_at(latest), latest))

    def _settled_at(self, latest: float) -> float:
        if self.is_painting:
            return latest
        return self.stirred_at if self.is_painted else self.stirred_at + QUIET_FOR

    def look(self, now: float) -> None:
        """A look is being taken: what is painted from now on asks for another one."""
        self.looked_at, self.waiting_since, self.is_painted = now, None, False

    def missed(self, now: float) -> None:
        """The look could not be taken; it is tried again a few times, in case the way to the pane is being made."""
        self.tries += 1
        if self.waiting_since is None and self.tries < _TRIES:
            self.waiting_since = now
