"""The contract of a check: verify one requirement of Termvisor and say how to fix it."""

from collections.abc import Sequence
from typing import ClassVar, Literal, Protocol

from msgspec import Struct

from termvisor.clock import Clock
from termvisor.model.agent.evidence import AgentDrift
from termvisor.model.agent.hooks import HookedFile
from termvisor.model.health import HealthStatus
from termvisor.model.terminal.pane import PaneView
from termvisor.settings import Paths, Settings

CheckStatus = Literal["ok", "warn", "fail", "skip"]


class CheckFinding(Struct, frozen=True, kw_only=True):
    """``skip`` means that it could not be checked; ``hint`` says how to fix a `warn` or `fail`."""

    name: str
    status: CheckStatus
    message: str
    hint: str = ""


class InstalledHooks(Struct, frozen=True):
    """``script_problem`` describes a problem of the script that all hooks run; empty without one."""

    files: tuple[HookedFile, ...]
    script_problem: str = ""


class LocalCheckContext(Protocol):
    """Inputs of a check that need no daemon."""

    @property
    def paths(self) -> Paths: ...

    @property
    def settings(self) -> Settings:
        """The effective settings; the defaults while the config is invalid."""

    @property
    def clock(self) -> Clock: ...

    def inspect_hooks(self) -> InstalledHooks:
        """Inspect our hooks in the settings of installed agents."""


class CheckContext(LocalCheckContext, Protocol):
    """All inputs of a check; methods that need the daemon return None without one."""

    async def list_panes(self) -> Sequence[PaneView] | None: ...

    async def get_health(self) -> HealthStatus | None: ...

    async def list_drifts(self) -> Sequence[AgentDrift] | None:
        """List differences between running agents and their recordings."""

    async def read_newest_event_time(self) -> int | None:
        """Return the time of the newest stored event."""


class Check(Protocol):
    """One check. ``doc`` is its text in the reference."""

    @property
    def name(self) -> str: ...

    @property
    def doc(self) -> str: ...

    async def run(self, context: CheckContext) -> CheckFinding: ...


class BuiltinCheck:
    """Base of the checks in this package."""

    name: ClassVar[str]
    doc: ClassVar[str]

    def report(self, status: CheckStatus, message: str, hint: str = "") -> CheckFinding:
        return CheckFinding(name=self.name, status=status, message=message, hint=hint)
