"""How the product itself is doing, and what it costs."""

from msgspec import Struct


class ServerHealth(Struct, frozen=True, kw_only=True):
    """One multiplexer server. ``client`` is how we talk to it: control, plain, or none while it is unreachable."""

    target: str
    socket: str
    mux_ok: bool
    client: str
    panes: int
    detail: str = ""


class ProcessCost(Struct, frozen=True, kw_only=True):
    """``cpu_percent`` is of one core over the last minute, ``cpu_seconds`` since the start."""

    pid: int
    rss_bytes: int
    cpu_seconds: float
    cpu_percent: float


class Health(Struct, frozen=True, kw_only=True):
    version: str
    started_at: int
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
    daemon: ProcessCost
    recorder: ProcessCost | None = None
    alerts: tuple[str, ...] = ()
