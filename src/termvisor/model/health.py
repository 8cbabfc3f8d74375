"""Health and resource usage of the daemon, the recorder and the monitored servers."""

from msgspec import Struct

from termvisor.model.maintenance import MaintenanceRun


class ServerHealth(Struct, frozen=True, kw_only=True):
    """A multiplexer server. ``client`` is how commands are sent: native, plain (one process each), or none."""

    target: str
    socket: str
    mux_ok: bool
    client: str
    panes: int
    attached_sessions: int = 0
    """Sessions that a client of ours is attached to, because another program uses the pipe of one of their panes."""
    detail: str = ""
    """The last error, or why commands are not sent by the native client."""
    corrections: int = 0
    """Changes that were not noticed when they happened and a full listing found."""


class ProcessUsage(Struct, frozen=True, kw_only=True):
    """``cpu_percent`` refers to one core over the last minute, ``cpu_seconds`` to the time since the start."""

    pid: int
    rss_bytes: int
    cpu_seconds: float
    cpu_percent: float
    free_descriptors: int | None = None
    """Number of files that the process may still open; null if unknown."""


class HealthMetrics(Struct, frozen=True, kw_only=True):
    """Health metrics shown by all front ends."""

    version: str
    servers: tuple[ServerHealth, ...]
    panes_tracked: int
    ingest_lag_max: float
    """Seconds between a byte in the raw log and its stored text, maximum over all panes."""
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
    """Number of child processes started."""
    looks_per_minute: float = 0.0
    """Screen samples of all panes per minute."""
    daemon: ProcessUsage
    recorder: ProcessUsage | None = None
    workflows_active: int = 0
    """Workflow runs that have not ended, including waiting ones."""
    oldest_run_secs: float | None = None
    """Age of the oldest such run, in seconds."""
    clock_jump_secs: float = 0.0
    """By how many seconds the system clock was set while the machine ran, until it has been steady for a day."""
    alerts: tuple[str, ...] = ()


class HealthStatus(HealthMetrics, frozen=True, kw_only=True):
    started_at: int
    last_checkpoint_at: int | None = None
    """When the write-ahead log was last moved into the database; None if never."""
    maintenance: tuple[MaintenanceRun, ...] = ()
    """Recent maintenance runs that changed something, newest first."""
