"""Operation `health`: report the health and resource usage of Termvisor itself."""

from msgspec import Struct

from termvisor.clock import compute_seconds_between, format_timestamp
from termvisor.model.health import HealthMetrics, ProcessUsage
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.database._maintenance_progress import MaintenanceStep, build_step
from termvisor.ops.render.results import copy_fields, format_optional_timestamp
from termvisor.ops.render.table import TableColumn, render_table
from termvisor.ops.render.text import RenderOptions, format_age, format_bytes, format_moment, pluralize, sanitize


class HealthArgs(Struct, frozen=True, kw_only=True):
    """Takes no arguments."""


class HealthReport(HealthMetrics, frozen=True, kw_only=True):
    """``ingest_lag_*`` are seconds between a byte in the raw log and its stored text; ``forks`` counts started child
    processes; ``looks_per_minute`` is the current number of screen captures of full-screen programs, over all panes.
    """

    is_ok: bool
    started_at: str
    uptime_secs: float
    last_checkpoint_at: str | None
    """Time of the last checkpoint of the write-ahead log; null before the first."""
    last_maintenance: MaintenanceStep | None
    """The newest maintenance run that changed something."""


async def run(services: Services, _args: HealthArgs) -> HealthReport:
    health = await services.maintenance.get_health()
    return copy_fields(
        HealthReport,
        health,
        is_ok=health.db_writable and health.recorder is not None and not health.alerts,
        started_at=format_timestamp(health.started_at),
        uptime_secs=compute_seconds_between(health.started_at, services.clock.now()),
        last_checkpoint_at=format_optional_timestamp(health.last_checkpoint_at),
        last_maintenance=build_step(health.maintenance[0]) if health.maintenance else None,
    )


_SERVER_COLUMNS = (
    TableColumn("SERVER", lambda server: server.socket, can_shrink=True, min_width=20, kind="folder"),
    TableColumn("TARGET", lambda server: server.target, worth=2),
    TableColumn("STATE", lambda server: "ok" if server.mux_ok else "no response"),
    TableColumn("CLIENT", lambda server: server.client, worth=1),
    TableColumn("ATTACHED", lambda server: str(server.attached_sessions or "-"), is_right_aligned=True, worth=3),
    TableColumn("PANES", lambda server: str(server.panes), is_right_aligned=True),
    TableColumn("CORRECTIONS", lambda server: str(server.corrections or "-"), is_right_aligned=True, worth=4),
    TableColumn("DETAIL", lambda server: server.detail, can_shrink=True, min_width=16, worth=5),
)

_FACT_COLUMNS = (
    TableColumn("COMPONENT", lambda fact: fact[0], style="bold"),
    TableColumn("STATUS", lambda fact: fact[1], can_shrink=True, kind="sentence"),
)


def render_text(result: HealthReport, options: RenderOptions) -> str:
    head = ("health", "ok" if result.is_ok else "needs attention")
    facts = render_table(_FACT_COLUMNS, [head, *list_facts(result, options)], options)
    servers = render_table(_SERVER_COLUMNS, result.servers, options)
    alerts = "".join(f"\n{options.paint('red', sanitize(f'alert: {text}'))}" for text in result.alerts)
    return (f"{facts}\n\n{servers}" if result.servers else facts) + alerts


def list_facts(report: HealthReport, options: RenderOptions) -> list[tuple[str, str]]:
    """Return (component, status) pairs, the most important first."""
    restarts = ", ".join(f"{name} {number}" for name, number in report.restarts.items()) or "none"
    database = f"{format_bytes(report.db_bytes)}, {'writable' if report.db_writable else 'NOT WRITABLE'}"
    lag = f"{report.ingest_lag_max * 1000:.0f} ms maximum, {report.ingest_lag_avg * 1000:.0f} ms average"
    facts = [
        ("daemon", f"{_format_usage(report.daemon)}, up {format_age(report.uptime_secs)}, version {report.version}"),
        ("recorder", _format_usage(report.recorder) if report.recorder else "not running"),
        ("panes", f"{pluralize(report.panes_tracked, 'pane')}, {pluralize(report.gaps, 'gap')}"),
        ("lag", f"{lag}, {format_bytes(report.ingest_backlog_bytes)} pending, queue {report.queue_depth}"),
        ("database", f"{database}, {pluralize(report.wal_pages, 'WAL page')}"),
        ("raw log", format_bytes(report.raw_bytes)),
        ("captures", f"{report.looks_per_minute:g} screens per minute"),
        ("processes", f"{report.forks} started; restarts: {restarts}; corrections: {report.corrections}"),
    ]
    if report.oldest_run_secs is not None:
        oldest = f"oldest {format_age(report.oldest_run_secs)}"
        facts.append(("workflows", f"{pluralize(report.workflows_active, 'active run')}, {oldest}"))
    if run := report.last_maintenance:
        facts.append(("maintenance", f"{run.operation}: {run.detail}, {format_moment(run.started_at, options)}"))
    return facts


def _format_usage(usage: ProcessUsage) -> str:
    return f"pid {usage.pid}, {format_bytes(usage.rss_bytes)}, {usage.cpu_percent:.1f} % of a core"


OP = Operation(
    name="health",
    robot_name="health",
    summary="Show the health and resource usage of Termvisor itself.",
    doc="""Shows the multiplexer servers: whether they respond, how commands reach them (`native`, or `plain`: a tmux
process for each, with the reason in `detail`), and how many of their sessions Termvisor is attached to because another
program uses a pane's pipe. Then the delay between captured bytes and stored text, the database, restarts, and CPU and
memory of daemon and recorder. `is_ok` is false if something needs attention.""",
    run=run,
    render_text=render_text,
    examples=(OperationExample("health", "show the health"), OperationExample("robot health", "as JSON")),
)
