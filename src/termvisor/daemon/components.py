"""What the daemon is made of; only the composition root makes one."""

from msgspec import Struct, field

from termvisor.bus import Bus
from termvisor.capture.event_log import Chronicle
from termvisor.capture.recorder_client import RecorderLink
from termvisor.capture.screen_sampler import Eyes
from termvisor.capture.server_supervisor import Lookout
from termvisor.clock import Clock
from termvisor.daemon.agents.assembly import Attending
from termvisor.daemon.rules.active_rules import Ruling
from termvisor.model.action.approval import Approval
from termvisor.pipeline import Pipeline, Sightings
from termvisor.settings import Places, Settings
from termvisor.store import Store
from termvisor.store.sqlite.retrying_database import Patience


class Parts(Struct):
    """What the daemon is made of."""

    store: Store
    pipeline: Pipeline
    chronicle: Chronicle
    lookout: Lookout
    recorder: RecorderLink
    eyes: Eyes
    sightings: Sightings
    clock: Clock
    places: Places
    settings: Settings
    patience: Patience
    attending: Attending
    ruling: Ruling
    questions: Bus[Approval] = field(default_factory=Bus)
    """What is asked of people, also before anything that acts is loaded."""
