"""The op `health`: how the product itself is doing, and what it costs."""

from msgspec import Struct

from termvisor.clock import iso
from termvisor.model.health import ProcessCost, Vitals
from termvisor.ops.api.envelope import seconds_between
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.database._progress import UpkeepStep, step
from termvisor.ops.panes._listing import instant
from termvisor.ops.render.text import Column, Look, age, counted, size, table


class GetHealth(Struct, frozen=True, kw_only=True):
    """Nothing to choose."""


class HealthReport(Vitals, frozen=True, kw_only=True):
    """``ingest_lag_*`` are seconds between a byte in the raw log and its text; ``forks`` are programs we started.

    ``looks_per_minute`` is how often panes that repaint are looked at now, all together.
    """

    is_ok: bool
    started_at: str
    uptime_secs: float
    last_checkpoint_at: str | None
    """When the write-ahead file was last merged into the database; null before the first time."""
    last_maintenance: UpkeepStep | None
    """The newest run of upkeep that did something."""


async def run(world: World, _wanted: GetHealth) -> HealthReport:
    found = await world.upkeep.health()
    return HealthReport(
        **{name: getattr(found, name) for name in Vitals.__struct_fields__},
        is_ok=_is_ok(found),
        started_at=iso(found.started_at),
        uptime_secs=seconds_between(found.started_at, world.clock.now()),
        last_checkpoint_at=instant(found.last_checkpoint_at),
        last_maintenance=step(found.maintenance[0]) if found.maintenance else None,
    )


def _is_ok(found: Vitals) -> bool:
    return found.db_writable and found.recorder is not None and not found.alerts


_SERVERS = (
    Column("SERVER", lambda server: server.socket, may_shrink=True),
    Column("TARGET", lambda server: server.target),
    Column("STATE", lambda server: "ok" if server.mux_ok else "no answer"),
    Column("CLIENT", lambda server: server.client),
    Column("PANES", lambda server: str(server.panes), is_right=True),
    Column("CORRECTIONS", lambda server: str(server.corrections or "-"), is_right=True),
    Column("DETAIL", lambda server: server.detail, may_shrink=True),
)


_FACTS = (
    Column("WHAT", lambda fact: fact[0], style="bold"),
    Column("HOW IT IS", lambda fact: fact[1], may_shrink=True),
)


def plain(report: HealthReport, look: Look) -> str:
    head = ("health", "ok" if report.is_ok else "needs attention")
    facts = table(_FACTS, [head, *facts_of(report)], look)
    servers = table(_SERVERS, report.servers, look)
    return f"{facts}\n\n{servers}" if report.servers else facts


def facts_of(report: HealthReport) -> list[tuple[str, str]]:
    """What a person wants to know first, as name and words."""
    restarts = ", ".join(f"{name} {number}" for name, number in report.restarts.items()) or "none"
    database = f"{size(report.db_bytes)}, {'writable' if report.db_writable else 'NOT WRITABLE'}"
    lag = f"{report.ingest_lag_max * 1000:.0f} ms at most, {report.ingest_lag_avg * 1000:.0f} ms on average"
    facts = [
        ("daemon", f"{_cost(report.daemon)}, up {age(report.uptime_secs)}, version {report.version}"),
        ("recorder", _cost(report.recorder) if report.recorder else "not running"),
        ("panes", f"{counted(report.panes_tracked, 'pane')}, {counted(report.gaps, 'gap')}"),
        ("lag", f"{lag}, {size(report.ingest_backlog_bytes)} waiting, queue {report.queue_depth}"),
        ("database", f"{database}, {counted(report.wal_pages, 'page')} not yet merged"),
        ("raw log", size(report.raw_bytes)),
        ("looks", f"{report.looks_per_minute:g} a minute at panes that repaint"),
        ("forks", f"{report.forks}; restarts: {restarts}; corrections: {report.corrections}"),
    ]
    if report.oldest_run_secs is not None:
        oldest = f"the oldest since {age(report.oldest_run_secs)}"
        facts.append(("workflows", f"{counted(report.workflows_active, 'run')} under way, {oldest}"))
    if run := report.last_maintenance:
        facts.append(("upkeep", f"{run.operation}: {run.detail}, at {run.started_at}"))
    return facts + [("alert", text) for text in report.alerts]


def _cost(cost: ProcessCost) -> str:
    return f"pid {cost.pid}, {size(cost.rss_bytes)}, {cost.cpu_percent:.1f} % of a core"


OP = Op(
    name="health",
    robot="health",
    summary="How Termvisor itself is doing, and what it costs.",
    doc="""Servers and whether they answer, how far text is behind the bytes, the database, restarts, and the CPU and
memory of daemon and recorder. `is_ok` is false when a person should look.""",
    Input=GetHealth,
    Output=HealthReport,
    run=run,
    plain=plain,
    examples=(Example("health", "for people"), Example("robot health", "as JSON")),
)
