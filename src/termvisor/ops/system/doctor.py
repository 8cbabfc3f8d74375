"""The op `doctor`: look at everything that must be right, and say how to mend what is not."""

from collections.abc import Sequence

from msgspec import Struct

from termvisor.clock import Clock
from termvisor.diagnostics.checks import BUILTIN
from termvisor.diagnostics.checks.check import Check, Finding, Hooks, Status
from termvisor.errors import ConfigError, Unavailable
from termvisor.model.agent.drift import Drift
from termvisor.model.health import Health
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.config._shared import where
from termvisor.ops.panes._listing import counts
from termvisor.ops.render.text import Look, clean
from termvisor.redaction import redact
from termvisor.settings import Places, Settings, environment
from termvisor.setup.installed_agents import survey


class RunDoctor(Struct, frozen=True, kw_only=True):
    """Nothing to choose."""


class Diagnosis(Struct, frozen=True, kw_only=True):
    """``is_fine`` is false when a check failed; warnings and skipped checks do not count."""

    is_fine: bool
    summary: dict[str, int]
    items: tuple[Finding, ...]


async def run(world: World, _wanted: RunDoctor) -> Diagnosis:
    sight = WorldSight(world)
    findings = tuple([await _look(check, sight) for check in BUILTIN])
    statuses = [finding.status for finding in findings]
    return Diagnosis(is_fine="fail" not in statuses, summary=counts(statuses), items=findings)


async def _look(check: Check, sight: "WorldSight") -> Finding:
    """One check that breaks does not hide the others."""
    try:
        return await check.look(sight)
    except Exception as error:
        message = f"the check itself broke: {type(error).__name__}: {redact(str(error))}"
        return Finding(name=check.name, status="fail", message=message, hint="Please report this.")


class WorldSight:
    """What checks may see, taken from the World; None where no daemon runs."""

    def __init__(self, world: World):
        self._world = world
        self.places: Places = where(world)
        self.clock: Clock = world.clock

    @property
    def settings(self) -> Settings:
        try:
            return self._world.configuration[1]
        except ConfigError:
            return Settings()

    async def panes(self) -> Sequence[PaneView] | None:
        try:
            return await self._world.fleet.panes()
        except Unavailable:
            return None

    async def health(self) -> Health | None:
        try:
            return await self._world.upkeep.health()
        except Unavailable:
            return None

    async def drifts(self) -> Sequence[Drift] | None:
        try:
            return await self._world.agents.drifts()
        except Unavailable:
            return None

    def hooks(self) -> Hooks:
        return survey(self.places, environment())

    async def newest_at(self) -> int | None:
        try:
            events = await self._world.history.events(limit=1)
        except Unavailable:
            return None
        return events[-1].at if events else None


_STYLES: dict[Status, str] = {"ok": "green", "warn": "yellow", "fail": "red", "skip": "dim"}


def plain(diagnosis: Diagnosis, look: Look) -> str:
    lines = []
    for item in diagnosis.items:
        if look.is_quiet and item.status in ("ok", "skip"):
            continue
        mark = look.paint(_STYLES[item.status], f"{item.status:<4}")
        lead = "- " if look.form == "markdown" else ""
        lines.append(f"{lead}{mark}  {item.name:<13}  {clean(item.message)}")
        if item.hint:
            lines.append(f"{' ' * len(lead)}      {' ' * 13}  -> {clean(item.hint)}")
    told = ", ".join(f"{number} {status}" for status, number in diagnosis.summary.items())
    return "\n".join(lines) if look.is_quiet else "\n".join([*lines, "", told])


OP = Op(
    name="doctor",
    summary="Check everything that must be right, and say how to mend what is not.",
    doc="""Works without a daemon too; what only a daemon knows is then skipped. Each check is `ok`, `warn`, `fail`
or `skip`, with a hint. The checks are listed in the checks reference.""",
    Input=RunDoctor,
    Output=Diagnosis,
    run=run,
    plain=plain,
    works_alone=True,
    exit_status=lambda diagnosis: 0 if diagnosis.is_fine else 1,
    exits=((0, "No check failed."), (1, "At least one check failed.")),
    examples=(Example("doctor", "look at everything"), Example("doctor -q", "only what is wrong")),
)
