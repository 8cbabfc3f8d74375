"""Health and resource usage of the daemon, the recorder and the monitored servers."""

from msgspec import Struct

from termvisor.model.maintenance import MaintenanceRun


class ServerHealth(Struct, frozen=True, kw_only=True):
    """One multiplexer server. ``client`` is the kind of connection: control, plain, or none while unreachable."""

    target: str
    socket: str
    mux_ok: bool
    client: str
    panes: int
    detail: str = ""
    corrections: int = 0
    """Changes without a notification of the server, found by a full resync."""


class ProcessUsage(Struct, frozen=True, kw_only=True):
    """``cpu_percent`` is of one core over the last minute, ``cpu_seconds`` since the start."""

    pid: int
    rss_bytes: int
    cpu_seconds: float
    cpu_percent: float


class HealthMetrics(Struct, frozen=True, kw_only=True):
    """Metrics that all frontends report."""

    version: str
    servers: tuple[ServerHealth, ...]
    panes_tracked: int
    ingest_lag_max: float
    """Maximum over the panes of the seconds from a byte in the raw log to its text."""
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
    """Child processes started."""
    looks_per_minute: float = 0.0
    """Screen samples of all panes per minute."""
    daemon: ProcessUsage
    recorder: ProcessUsage | None = None
    workflows_active: int = 0
    """Workflow runs that have not ended, including waiting ones."""
    oldest_run_secs: float | None = None
    """Age of the oldest of them."""
    alerts: tuple[str, ...] = ()


class HealthStatus(HealthMetrics, frozen=True, kw_only=True):
    started_at: int
    last_checkpoint_at: int | None = None
    """When the write-ahead log was last moved into the database; None before the first time."""
    maintenance: tuple[MaintenanceRun, ...] = ()
    """The newest maintenance runs that changed something, newest first."""
