"""The long-lived components of the daemon in one struct, built only by `daemon.assembly`."""

from typing import TYPE_CHECKING, cast

from msgspec import Struct, field

from termvisor.bus import Bus
from termvisor.capture.event_log import EventLog
from termvisor.capture.recorder_client import RecorderClient
from termvisor.capture.screen_sampler import ScreenSampler
from termvisor.capture.server_supervisor import ServerSupervisor
from termvisor.clock import Clock
from termvisor.daemon.agents.assembly import AgentTracking
from termvisor.daemon.maintenance.retention_clock import RetentionClock
from termvisor.daemon.rules.active_rules import ActiveRules
from termvisor.model.action.approval import Approval
from termvisor.pipeline import Pipeline, SightingRecorder
from termvisor.settings import Paths, Settings
from termvisor.store import Store
from termvisor.store.sqlite.retrying_database import WriteRetry

if TYPE_CHECKING:
    # A cycle of types only: jobs are built from the other components.
    from termvisor.daemon.jobs.job_service import JobService


class Components(Struct):
    store: Store
    pipeline: Pipeline
    event_log: EventLog
    server_supervisor: ServerSupervisor
    recorder: RecorderClient
    screen_sampler: ScreenSampler
    sightings: SightingRecorder
    clock: Clock
    paths: Paths
    settings: Settings
    write_retry: WriteRetry
    agent_tracking: AgentTracking
    active_rules: ActiveRules
    retention_clock: RetentionClock
    jobs: "JobService" = cast("JobService", None)
    """Set right after the other components, from which it is built."""
    approval_bus: Bus[Approval] = field(default_factory=Bus)
    """New and answered approval requests. Separate from the gate, which is not built until the first action."""
