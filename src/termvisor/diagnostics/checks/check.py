"""Interface of a check, which verifies one requirement of Termvisor and suggests how to fix it."""

from collections.abc import Sequence
from typing import ClassVar, Literal, Protocol

from msgspec import Struct

from termvisor.clock import Clock
from termvisor.model.agent.agent_view import AgentView
from termvisor.model.agent.evidence import AgentDrift
from termvisor.model.agent.hooks import HookedFile
from termvisor.model.health import HealthStatus
from termvisor.model.terminal.pane import PaneView
from termvisor.settings import Paths, Settings

CheckStatus = Literal["ok", "warn", "fail", "skip"]


class CheckFinding(Struct, frozen=True, kw_only=True):
    """Result of a check. ``skip`` means that it could not run; ``hint`` explains how to fix a `warn` or `fail`."""

    name: str
    status: CheckStatus
    message: str
    hint: str = ""


class InstalledHooks(Struct, frozen=True):
    """State of our hooks. ``script_problem`` is what is wrong with the script that all hooks run, empty if nothing."""

    files: tuple[HookedFile, ...]
    script_problem: str = ""


class LocalCheckContext(Protocol):
    """Check inputs that are available without a daemon."""

    @property
    def paths(self) -> Paths: ...

    @property
    def settings(self) -> Settings:
        """The effective settings, or the defaults if the config is invalid."""

    @property
    def clock(self) -> Clock: ...

    def inspect_hooks(self) -> InstalledHooks:
        """Inspect our hooks in the settings of installed agents."""


class CheckContext(LocalCheckContext, Protocol):
    """All check inputs. Methods that need the daemon return None if none is running."""

    async def list_panes(self) -> Sequence[PaneView] | None: ...

    async def get_health(self) -> HealthStatus | None: ...

    async def list_drifts(self) -> Sequence[AgentDrift] | None:
        """List how running agents differ from their recordings."""

    async def list_agents(self) -> Sequence[AgentView] | None:
        """List the running agents."""

    async def read_newest_event_time(self) -> int | None:
        """Return the time of the newest stored event."""


class Check(Protocol):
    """A single check. ``doc`` is its description in the reference."""

    @property
    def name(self) -> str: ...

    @property
    def doc(self) -> str: ...

    async def run(self, context: CheckContext) -> CheckFinding: ...


class BuiltinCheck:
    """Base class of the checks in this package."""

    name: ClassVar[str]
    doc: ClassVar[str]

    def report(self, status: CheckStatus, message: str, hint: str = "") -> CheckFinding:
        return CheckFinding(name=self.name, status=status, message=message, hint=hint)
