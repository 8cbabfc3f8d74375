"""Operation `doctor`: run the diagnostic checks and report how to fix problems."""

from collections.abc import Sequence
from contextlib import suppress

from msgspec import Struct

from termvisor.clock import Clock
from termvisor.diagnostics.checks import BUILTIN_CHECKS
from termvisor.diagnostics.checks.check import Check, CheckFinding, CheckStatus, InstalledHooks
from termvisor.errors import ConfigError, Unavailable
from termvisor.model.agent.agent_view import AgentView
from termvisor.model.agent.evidence import AgentDrift
from termvisor.model.health import HealthStatus
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.results import count_values
from termvisor.ops.render.text import RenderOptions, sanitize
from termvisor.redaction import redact
from termvisor.settings import Paths, Settings, get_environment
from termvisor.setup.agent_settings import inspect_installed_hooks


class DoctorArgs(Struct, frozen=True, kw_only=True):
    """Takes no arguments."""


class DoctorResult(Struct, frozen=True, kw_only=True):
    """``is_fine`` is false if a check failed; warnings and skipped checks do not count."""

    is_fine: bool
    summary: dict[str, int]
    items: tuple[CheckFinding, ...]


async def run(services: Services, _args: DoctorArgs) -> DoctorResult:
    context = ServicesCheckContext(services)
    findings = tuple([await _run_check(check, context) for check in BUILTIN_CHECKS])
    statuses = [finding.status for finding in findings]
    return DoctorResult(is_fine="fail" not in statuses, summary=count_values(statuses), items=findings)


async def _run_check(check: Check, context: "ServicesCheckContext") -> CheckFinding:
    try:
        return await check.run(context)
    except Exception as error:  # a bug in one check must not hide the results of the others
        message = f"the check crashed: {type(error).__name__}: {redact(str(error))}"
        return CheckFinding(
            name=check.name, status="fail", message=message, hint="This is a bug in Termvisor; please report it."
        )


class ServicesCheckContext:
    """Data for the checks; methods return None if no daemon is running."""

    def __init__(self, services: Services):
        self._services = services
        self.paths: Paths = services.paths
        self.clock: Clock = services.clock

    @property
    def settings(self) -> Settings:
        try:
            return self._services.configuration[1]
        # A separate check reports the invalid file; the others continue with the defaults.
        except ConfigError:
            return Settings()

    # Without a daemon the local services raise Unavailable; each check then decides what that means for it.
    async def list_panes(self) -> Sequence[PaneView] | None:
        with suppress(Unavailable):
            return await self._services.panes.list_panes()
        return None

    async def get_health(self) -> HealthStatus | None:
        with suppress(Unavailable):
            return await self._services.maintenance.get_health()
        return None

    async def list_drifts(self) -> Sequence[AgentDrift] | None:
        with suppress(Unavailable):
            return await self._services.agents.list_drifts()
        return None

    async def list_agents(self) -> Sequence[AgentView] | None:
        with suppress(Unavailable):
            return tuple((await self._services.agents.list_views()).values())
        return None

    def inspect_hooks(self) -> InstalledHooks:
        return inspect_installed_hooks(self.paths, get_environment())

    async def read_newest_event_time(self) -> int | None:
        with suppress(Unavailable):
            events = await self._services.history.list_events(limit=1)
            return events[-1].at if events else None
        return None


_STATUS_STYLES: dict[CheckStatus, str] = {"ok": "green", "warn": "yellow", "fail": "red", "skip": "dim"}


def render_text(result: DoctorResult, options: RenderOptions) -> str:
    lines = []
    for item in result.items:
        if options.is_quiet and item.status in ("ok", "skip"):
            continue
        mark = options.paint(_STATUS_STYLES[item.status], f"{item.status:<4}")
        lead = "- " if options.format == "markdown" else ""
        lines.append(f"{lead}{mark}  {item.name:<13}  {sanitize(item.message)}")
        if item.hint:
            lines.append(f"{' ' * len(lead)}      {' ' * 13}  -> {sanitize(item.hint)}")
    footer = ", ".join(f"{number} {status}" for status, number in result.summary.items())
    return "\n".join(lines) if options.is_quiet else "\n".join([*lines, "", footer])


OP = Operation(
    name="doctor",
    summary="Run diagnostic checks and show how to fix problems.",
    doc="""Also works without a daemon; checks that need one are then skipped. Each check is `ok`, `warn`, `fail` or
`skip`, with a hint. The checks reference lists all checks.""",
    run=run,
    render_text=render_text,
    works_without_daemon=True,
    get_exit_status=lambda result: 0 if result.is_fine else 1,
    exit_statuses=((0, "No check failed."), (1, "At least one check failed.")),
    examples=(OperationExample("doctor", "run all checks"), OperationExample("doctor -q", "show only problems")),
)
