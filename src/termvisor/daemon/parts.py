"""What the daemon is made of; only the composition root makes one."""

from msgspec import Struct, field

from termvisor.bus import Bus
from termvisor.clock import Clock
from termvisor.daemon.attending import Attending
from termvisor.daemon.ruling import Ruling
from termvisor.ingest.chronicle import Chronicle
from termvisor.ingest.eyes import Eyes
from termvisor.ingest.lookout import Lookout
from termvisor.ingest.recording import RecorderLink
from termvisor.model.approval import Approval
from termvisor.pipeline import Pipeline, Sightings
from termvisor.settings import Places, Settings
from termvisor.store import Store
from termvisor.store.patience import Patience


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
