"""One machine's memory: panes, what they printed, what happened."""

from collections.abc import Callable
from typing import TypeVar

from termvisor.clock import Clock
from termvisor.errors import StorageError
from termvisor.store.maintenance.maintenance import Keeping
from termvisor.store.sqlite.database import Database
from termvisor.store.sqlite.retrying_database import Patience, PatientDatabase
from termvisor.store.tables.accounts import Accounts
from termvisor.store.tables.agent_facts import Facts
from termvisor.store.tables.approvals import Approvals, Permits
from termvisor.store.tables.audit import Audit
from termvisor.store.tables.baseline_screens import FirstScreens
from termvisor.store.tables.commands import Commands
from termvisor.store.tables.deliveries import Sends
from termvisor.store.tables.detections import Detections
from termvisor.store.tables.events import Events
from termvisor.store.tables.notification_outbox import Notices
from termvisor.store.tables.output import Output
from termvisor.store.tables.panes import Panes
from termvisor.store.tables.reservations import Reservations
from termvisor.store.tables.screen_rows import Sightings
from termvisor.store.tables.search_queries import Reading
from termvisor.store.tables.sessions import Sessions
from termvisor.store.tables.transcripts import Utterances
from termvisor.store.tables.workflow_runs import Runs

T = TypeVar("T")


class Store:
    """What is awaited here is stored when the call returns, and is there again after a crash."""

    def __init__(self, db: Database, clock: Clock):
        self._db = db
        self._clock = clock
        self.panes = Panes(db)
        self.output = Output(db)
        self.events = Events(db)
        self.detections = Detections(db)
        self.sightings = Sightings(db)
        self.first_screens = FirstScreens(db)
        self.commands = Commands(db)
        self.facts = Facts(db)
        self.sessions = Sessions(db)
        self.utterances = Utterances(db)
        self.audit = Audit(db)
        self.approvals = Approvals(db, self.audit)
        self.permits = Permits(db)
        self.reservations = Reservations(db)
        self.sends = Sends(db, self.audit)
        self.runs = Runs(db)
        self.accounts = Accounts(db)
        self.notices = Notices(db)
        self.keeping = Keeping(db, clock)
        self.checkpointed_at: int | None = None

    @classmethod
    async def open(cls, path: str, clock: Clock) -> "Store":
        """Open or make the database. Raises ``StorageError`` or ``NewerDatabase`` and then leaves the file alone."""
        return cls(await Database.open(path), clock)

    def waiting(self, patience: Patience) -> "Store":
        """The same memory for those who cannot go on before it took what they know."""
        return Store(PatientDatabase(self._db, patience), self._clock)

    async def read(self, fn: Callable[[Reading], T]) -> T:
        """Run ``fn`` in the reader's thread on one consistent view."""
        return await self._db.read(lambda connection: fn(Reading(connection)))

    async def checkpoint(self) -> None:
        await self._db.checkpoint()
        self.checkpointed_at = self._clock.now()

    async def rest(self) -> None:
        """Hold no more in memory than an idle database does."""
        await self._db.rest()

    async def sizes(self) -> tuple[int, int]:
        """Bytes of the database, pages in its write-ahead file."""
        return await self._db.sizes()

    async def check(self, *, thorough: bool = False) -> str:
        """``ok``, or what is wrong with the file. ``thorough`` also compares the index with the text."""
        try:
            return await self.keeping.examine(thorough=thorough)
        except StorageError as error:
            return str(error)

    def writable(self) -> bool:
        return self._db.is_writable()

    async def close(self) -> None:
        await self._db.close()
