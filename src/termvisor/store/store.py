"""Open the database of one machine and give access to its tables."""

from collections.abc import Callable
from typing import TypeVar

from termvisor.clock import Clock
from termvisor.errors import StorageError
from termvisor.store.maintenance.maintenance import StoreMaintenance
from termvisor.store.sqlite.database import Database
from termvisor.store.sqlite.retrying_database import RetryingDatabase, WriteRetry
from termvisor.store.tables.accounts import AccountTable
from termvisor.store.tables.agent_facts import AgentFactTable
from termvisor.store.tables.approvals import ApprovalTable, PermitTable, ReservationTable
from termvisor.store.tables.audit import AuditTable
from termvisor.store.tables.commands import CommandTable
from termvisor.store.tables.deliveries import DeliveryTable
from termvisor.store.tables.derived_text import DerivedTextTable
from termvisor.store.tables.detections import DetectionTable
from termvisor.store.tables.events import EventTable
from termvisor.store.tables.jobs import JobTable
from termvisor.store.tables.notification_outbox import NotificationOutbox
from termvisor.store.tables.output import OutputTable
from termvisor.store.tables.panes import PaneTable
from termvisor.store.tables.screens import BaselineScreenTable, SightingTable
from termvisor.store.tables.search_queries import SearchReader
from termvisor.store.tables.sessions import SessionTable
from termvisor.store.tables.transcripts import TranscriptTable
from termvisor.store.tables.workflow_runs import WorkflowRunTable

T = TypeVar("T")


class Store:
    """All tables of one database. An awaited write is committed when the call returns and survives a crash."""

    def __init__(self, db: Database, clock: Clock):
        self._db = db
        self._clock = clock
        self.panes = PaneTable(db)
        self.output = OutputTable(db)
        self.derived_text = DerivedTextTable(db)
        self.events = EventTable(db)
        self.detections = DetectionTable(db)
        self.sightings = SightingTable(db)
        self.baseline_screens = BaselineScreenTable(db)
        self.commands = CommandTable(db)
        self.agent_facts = AgentFactTable(db)
        self.sessions = SessionTable(db)
        self.transcripts = TranscriptTable(db)
        self.audit = AuditTable(db)
        self.approvals = ApprovalTable(db, self.audit)
        self.permits = PermitTable(db)
        self.reservations = ReservationTable(db)
        self.deliveries = DeliveryTable(db, self.audit)
        self.workflow_runs = WorkflowRunTable(db)
        self.jobs = JobTable(db)
        self.accounts = AccountTable(db)
        self.notification_outbox = NotificationOutbox(db)
        self.maintenance = StoreMaintenance(db, clock)
        self.checkpointed_at: int | None = None

    @classmethod
    async def open(cls, path: str, clock: Clock) -> "Store":
        """Open or create the database. Raises StorageError or NewerDatabase, leaving the file unchanged."""
        return cls(await Database.open(path), clock)

    def with_write_retry(self, retry: WriteRetry) -> "Store":
        """Return a view of this store that retries writes until the disk accepts them."""
        return Store(RetryingDatabase(self._db, retry), self._clock)

    async def read(self, fn: Callable[[SearchReader], T]) -> T:
        """Run ``fn`` in the reader thread on one consistent view of the database."""
        return await self._db.read(lambda connection: fn(SearchReader(connection)))

    async def checkpoint(self) -> None:
        await self._db.checkpoint()
        self.checkpointed_at = self._clock.now()

    async def shrink_memory(self) -> None:
        """Free the page caches of the connections."""
        await self._db.shrink_memory()

    async def measure_sizes(self) -> tuple[int, int]:
        """Return the size of the database and its write-ahead log in bytes, and the number of pages in that log."""
        return await self._db.measure_sizes()

    async def check_integrity(self, *, thorough: bool = False) -> str:
        """Return ``ok`` or the damage found. ``thorough`` also compares the search indexes with the text."""
        try:
            return await self.maintenance.check_integrity(thorough=thorough)
        except StorageError as error:
            # A file that SQLite cannot read at all is damaged as well.
            return str(error)

    async def check_files(self) -> None:
        """Repair what another program did to the database files. Raises StorageError if that is not possible."""
        await self._db.check_files()

    @property
    def file_problems(self) -> tuple[str, ...]:
        """What is or was wrong with the database files since they were opened."""
        return tuple(filter(None, (self._db.damage, self._db.repair_notice)))

    def is_writable(self) -> bool:
        return self._db.is_writable()

    async def close(self) -> None:
        await self._db.close()
