"""The op `health`: how the product itself is doing, and what it costs."""

from msgspec import Struct

from termvisor.clock import format_timestamp
from termvisor.model.health import HealthMetrics, ProcessUsage
from termvisor.ops.api.envelope import compute_seconds_between
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.database._maintenance_progress import MaintenanceStep, build_step
from termvisor.ops.panes._listing import format_optional_timestamp
from termvisor.ops.render.text import RenderOptions, TableColumn, format_age, format_bytes, pluralize, render_table


class HealthArgs(Struct, frozen=True, kw_only=True):
    """Nothing to choose."""


class HealthReport(HealthMetrics, frozen=True, kw_only=True):
    """``ingest_lag_*`` are seconds between a byte in the raw log and its text; ``forks`` are programs we started.

    ``looks_per_minute`` is how often panes that repaint are looked at now, all together.
    """

    is_ok: bool
    started_at: str
    uptime_secs: float
    last_checkpoint_at: str | None
    """When the write-ahead file was last merged into the database; null before the first time."""
    last_maintenance: MaintenanceStep | None
    """The newest run of upkeep that did something."""


async def run(services: Services, _args: HealthArgs) -> HealthReport:
    found = await services.maintenance.get_health()
    return HealthReport(
        **{name: getattr(found, name) for name in HealthMetrics.__struct_fields__},
        is_ok=_is_ok(found),
        started_at=format_timestamp(found.started_at),
        uptime_secs=compute_seconds_between(found.started_at, services.clock.now()),
        last_checkpoint_at=format_optional_timestamp(found.last_checkpoint_at),
        last_maintenance=build_step(found.maintenance[0]) if found.maintenance else None,
    )


def _is_ok(vitals: HealthMetrics) -> bool:
    return vitals.db_writable and vitals.recorder is not None and not vitals.alerts


_SERVER_COLUMNS = (
    TableColumn("SERVER", lambda server: server.socket, can_shrink=True),
    TableColumn("TARGET", lambda server: server.target),
    TableColumn("STATE", lambda server: "ok" if server.mux_ok else "no answer"),
    TableColumn("CLIENT", lambda server: server.client),
    TableColumn("PANES", lambda server: str(server.panes), is_right_aligned=True),
    TableColumn("CORRECTIONS", lambda server: str(server.corrections or "-"), is_right_aligned=True),
    TableColumn("DETAIL", lambda server: server.detail, can_shrink=True),
)


_FACT_COLUMNS = (
    TableColumn("WHAT", lambda fact: fact[0], style="bold"),
    TableColumn("HOW IT IS", lambda fact: fact[1], can_shrink=True),
)


def render_text(result: HealthReport, options: RenderOptions) -> str:
    head = ("health", "ok" if result.is_ok else "needs attention")
    facts = render_table(_FACT_COLUMNS, [head, *list_facts(result)], options)
    servers = render_table(_SERVER_COLUMNS, result.servers, options)
    return f"{facts}\n\n{servers}" if result.servers else facts


def list_facts(report: HealthReport) -> list[tuple[str, str]]:
    """What a person wants to know first, as name and words."""
    restarts = ", ".join(f"{name} {number}" for name, number in report.restarts.items()) or "none"
    database = f"{format_bytes(report.db_bytes)}, {'writable' if report.db_writable else 'NOT WRITABLE'}"
    lag = f"{report.ingest_lag_max * 1000:.0f} ms at most, {report.ingest_lag_avg * 1000:.0f} ms on average"
    facts = [
        ("daemon", f"{_format_cost(report.daemon)}, up {format_age(report.uptime_secs)}, version {report.version}"),
        ("recorder", _format_cost(report.recorder) if report.recorder else "not running"),
        ("panes", f"{pluralize(report.panes_tracked, 'pane')}, {pluralize(report.gaps, 'gap')}"),
        ("lag", f"{lag}, {format_bytes(report.ingest_backlog_bytes)} waiting, queue {report.queue_depth}"),
        ("database", f"{database}, {pluralize(report.wal_pages, 'page')} not yet merged"),
        ("raw log", format_bytes(report.raw_bytes)),
        ("looks", f"{report.looks_per_minute:g} a minute at panes that repaint"),
        ("forks", f"{report.forks}; restarts: {restarts}; corrections: {report.corrections}"),
    ]
    if report.oldest_run_secs is not None:
        oldest = f"the oldest since {format_age(report.oldest_run_secs)}"
        facts.append(("workflows", f"{pluralize(report.workflows_active, 'run')} under way, {oldest}"))
    if run := report.last_maintenance:
        facts.append(("upkeep", f"{run.operation}: {run.detail}, at {run.started_at}"))
    return facts + [("alert", text) for text in report.alerts]


def _format_cost(cost: ProcessUsage) -> str:
    return f"pid {cost.pid}, {format_bytes(cost.rss_bytes)}, {cost.cpu_percent:.1f} % of a core"


OP = Operation(
    name="health",
    robot_name="health",
    summary="How Termvisor itself is doing, and what it costs.",
    doc="""Servers and whether they answer, how far text is behind the bytes, the database, restarts, and the CPU and
memory of daemon and recorder. `is_ok` is false when a person should look.""",
    args_type=HealthArgs,
    result_type=HealthReport,
    run=run,
    render_text=render_text,
    examples=(OperationExample("health", "for people"), OperationExample("robot health", "as JSON")),
)
