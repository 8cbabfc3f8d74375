"""A Check looks at one thing that must be right for Termvisor to work, and says what to do when it is not."""

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

from termvisor.clock import Clock
from termvisor.model.agent.drift import AgentDrift
from termvisor.model.agent.hooks import HookedFile
from termvisor.model.health import HealthStatus
from termvisor.model.terminal.pane import PaneView
from termvisor.settings import Paths, Settings

CheckStatus = Literal["ok", "warn", "fail", "skip"]


class CheckFinding(Struct, frozen=True, kw_only=True):
    """``skip`` means that it could not be looked at; ``hint`` says what to do about a `warn` or `fail`."""

    name: str
    status: CheckStatus
    message: str
    hint: str = ""


class InstalledHooks(Struct, frozen=True):
    """``trouble`` says what is wrong with the program that all of them run; empty when nothing is."""

    files: tuple[HookedFile, ...]
    script_problem: str = ""


class LocalCheckContext(Protocol):
    """What checks may see without a daemon."""

    @property
    def paths(self) -> Paths: ...

    @property
    def settings(self) -> Settings:
        """Those that hold; the defaults while the config is broken."""

    @property
    def clock(self) -> Clock: ...

    def inspect_hooks(self) -> InstalledHooks:
        """What is found of ours in the settings of the agents that are installed."""


class CheckContext(LocalCheckContext, Protocol):
    """Where no daemon runs, what only it knows is None."""

    async def list_panes(self) -> Sequence[PaneView] | None: ...

    async def get_health(self) -> HealthStatus | None: ...

    async def list_drifts(self) -> Sequence[AgentDrift] | None:
        """What is no longer as we know it, of the agents that live."""

    async def read_newest_event_time(self) -> int | None:
        """The time of the newest stored event."""


class Check(Protocol):
    """One look. ``doc`` is what the reference says of it."""

    @property
    def name(self) -> str: ...

    @property
    def doc(self) -> str: ...

    async def run(self, context: CheckContext) -> CheckFinding: ...
