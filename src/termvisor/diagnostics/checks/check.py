"""A Check looks at one thing that must be right for Termvisor to work, and says what to do when it is not."""

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

from termvisor.clock import Clock
from termvisor.model.agent.drift import Drift
from termvisor.model.agent.hooks import HookedFile
from termvisor.model.health import Health
from termvisor.model.terminal.pane import PaneView
from termvisor.settings import Places, Settings

Status = Literal["ok", "warn", "fail", "skip"]


class Finding(Struct, frozen=True, kw_only=True):
    """``skip`` means that it could not be looked at; ``hint`` says what to do about a `warn` or `fail`."""

    name: str
    status: Status
    message: str
    hint: str = ""


class Hooks(Struct, frozen=True):
    """``trouble`` says what is wrong with the program that all of them run; empty when nothing is."""

    files: tuple[HookedFile, ...]
    trouble: str = ""


class LocalSight(Protocol):
    """What checks may see without a daemon."""

    @property
    def places(self) -> Places: ...

    @property
    def settings(self) -> Settings:
        """Those that hold; the defaults while the config is broken."""

    @property
    def clock(self) -> Clock: ...

    def hooks(self) -> Hooks:
        """What is found of ours in the settings of the agents that are installed."""


class Sight(LocalSight, Protocol):
    """Where no daemon runs, what only it knows is None."""

    async def panes(self) -> Sequence[PaneView] | None: ...

    async def health(self) -> Health | None: ...

    async def drifts(self) -> Sequence[Drift] | None:
        """What is no longer as we know it, of the agents that live."""

    async def newest_at(self) -> int | None:
        """The time of the newest stored event."""


class Check(Protocol):
    """One look. ``doc`` is what the reference says of it."""

    @property
    def name(self) -> str: ...

    @property
    def doc(self) -> str: ...

    async def look(self, sight: Sight) -> Finding: ...
