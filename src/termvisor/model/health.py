"""How the product itself is doing, and what it costs."""

from msgspec import Struct

from termvisor.model.maintenance import MaintenanceRun


class ServerHealth(Struct, frozen=True, kw_only=True):
    """One multiplexer server. ``client`` is how we talk to it: control, plain, or none while it is unreachable."""

    target: str
    socket: str
    mux_ok: bool
    client: str
    panes: int
    detail: str = ""
    corrections: int = 0
    """Changes that nobody announced, found by reading everything again."""


class ProcessUsage(Struct, frozen=True, kw_only=True):
    """``cpu_percent`` is of one core over the last minute, ``cpu_seconds`` since the start."""

    pid: int
    rss_bytes: int
    cpu_seconds: float
    cpu_percent: float


class HealthMetrics(Struct, frozen=True, kw_only=True):
    """What is told of the product in the same words everywhere."""

    version: str
    servers: tuple[ServerHealth, ...]
    panes_tracked: int
    ingest_lag_max: float
    """Seconds between a byte in the raw log and its text, at most, over the panes."""
    ingest_lag_avg: float
    ingest_backlog_bytes: int
    queue_depth: int
    db_writable: bool
    db_bytes: int
    wal_pages: int
    raw_bytes: int
    gaps: int
    restarts: dict[str, int]
    corrections: int
    forks: int
    """Programs we started."""
    looks_per_minute: float = 0.0
    """How often repainting panes are looked at now, all together."""
    daemon: ProcessUsage
    recorder: ProcessUsage | None = None
    workflows_active: int = 0
    """Runs that have not ended, also those that wait."""
    oldest_run_secs: float | None = None
    """For how long the oldest of them has been going on."""
    alerts: tuple[str, ...] = ()


class HealthStatus(HealthMetrics, frozen=True, kw_only=True):
    started_at: int
    last_checkpoint_at: int | None = None
    """When the write-ahead file was last merged into the database; None before the first time."""
    maintenance: tuple[MaintenanceRun, ...] = ()
    """The newest runs that did something, newest first."""
