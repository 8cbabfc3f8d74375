"""Adapter: what the product knows of one agent program.

Each has a package of its own that says how to recognise it, what its signals mean, and what its states look like. How
to type to it is its `channel`, which only the gate may import.

An adapter is pure: it is handed what was read and answers with values. Reading is done by whoever holds the files and
sockets, once for all adapters.
"""

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

from termvisor.model.agent.evidence_source import EvidenceSource
from termvisor.model.agent.read_position import ReadPosition
from termvisor.model.agent.signal import FlagUpdate, ProcessHint, Signal
from termvisor.model.agent.state import StateName
from termvisor.model.event import Scalar
from termvisor.model.terminal.screen import Screen

CONTRACT_VERSION = (1, 1)
"""Major, minor. A minor step keeps older adapters loading. 1.1: a look is told the version of the program."""
VERSION_AWARE_CONTRACT = (1, 1)

Capability = Literal[
    "recognise",  # tells its process from others
    "signals",  # its own words are understood
    "look",  # its screens are known
    "subtasks",  # sub-agents and background work are counted
    "usage_limit",  # tells a limit and when it ends
    "compaction",
    "auth",
    "resume",  # a session can be taken up again
    "event_driven",  # it tells by itself what changes
    "polling_required",  # only looking at it tells
    "supports_waiting_approval",  # that it waits for a permission can be known
    "supports_waiting_input",
    "supports_completed",
    "native_send",  # a prompt gets to it without typing
    "native_approve",  # the answer to a permission request gets to it without typing
]
EVENT_DRIVEN_CAPABILITIES: frozenset[Capability] = frozenset(
    {"event_driven", "supports_waiting_approval", "supports_waiting_input", "supports_completed"}
)
"""An agent that tells all that it waits for, and when it is done."""
FULL_CAPABILITIES: frozenset[Capability] = EVENT_DRIVEN_CAPABILITIES | {
    "recognise",
    "signals",
    "look",
    "subtasks",
    "usage_limit",
    "compaction",
    "auth",
    "resume",
}
"""One of which nothing is missing but a way to answer it without its keyboard."""


class ProcessInfo(Struct, frozen=True, kw_only=True):
    """One process of a pane's tree."""

    pid: int
    pid_started: int = 0
    program: str = ""
    argv: tuple[str, ...] = ()
    cwd: str = ""
    env: dict[str, str] = {}
    """Of its environment only what adapters ask for by name; the rest may hold secrets and is never read."""


class WatchedPath(Struct, frozen=True, kw_only=True):
    """A place on disk in which one process of the agent leaves word.

    ``files``: whenever a file that fits changes, its whole text is one record; when it is gone, an empty text is.
    ``lines``: every line that is added to a file that fits is a record.
    """

    source: str
    kind: Literal["files", "lines"]
    folder: str
    pattern: str
    """Of the file's name, with ``*``."""
    is_deep: bool = False
    """Files in folders below count, too."""
    required_sibling: str = ""
    """Only files that stand beside one of this name count: a lock that names the process."""
    from_start: bool = False
    """Lines that stood there before we looked are read as well."""
    hint: ProcessHint = ProcessHint()
    """What is known of the process, for every record."""


class SourceRecord(Struct, frozen=True, kw_only=True):
    """One thing that was read from a source, redacted: a hook's payload, a line of a log, a mark, a registry file."""

    source: str
    text: str
    at: int
    """When we read it."""
    path: str = ""
    """The file that it stood in; an agent's session may be named there."""
    hint: ProcessHint = ProcessHint()
    event_id: str = ""
    seq: int | None = None
    life: int = 0
    bookmark: ReadPosition | None = None
    """How far its place is read once this is stored; of the last record of a look."""


class ScreenReading(Struct, frozen=True, kw_only=True):
    """What a look found, by the rule with that id. A screen that is not known is `unknown`, never `idle`."""

    state: StateName = "unknown"
    rule: str = ""
    flags: FlagUpdate = FlagUpdate()
    confidence: float = 0.0
    details: dict[str, Scalar] = {}
    tasks: int | None = None
    """How many sub-tasks the screen counts; None where screens of this agent do not tell."""

    @property
    def rule_name(self) -> str:
        """The rule's own name, without those of its agent and scope."""
        return self.rule.rpartition(".")[2]


class Adapter(Protocol):
    """One agent program."""

    name: str
    contract_version: tuple[int, int]
    capabilities: frozenset[Capability]
    sources: tuple[EvidenceSource, ...]
    """Where it speaks, and how far each place is believed."""
    env_names: tuple[str, ...]
    """Variables of its process that move its folders, such as ``HOME``."""

    def find_process(self, processes: Sequence[ProcessInfo]) -> ProcessInfo | None:
        """Which process of a pane is this agent."""

    def title_matches(self, title: str) -> bool:
        """Whether a pane's title names this agent. That alone proves nothing."""

    def list_watched_paths(self, process: ProcessInfo) -> Sequence[WatchedPath]:
        """Where this process leaves word on disk."""

    def read_record(self, record: SourceRecord) -> Sequence[Signal]:
        """What one record of one of its sources says. One that is not understood gives a signal
        `unknown` with the reason `unsupported_signal`; one that says nothing gives none.
        """

    def classify_screen(self, screen: Screen, version: str = "") -> ScreenReading:
        """What its screen says; ``version`` is the program's, where it is known."""

    def build_resume_command(self, session: str) -> tuple[str, ...]:
        """The argv that takes a session up again; empty where that is not possible."""


def is_supported_contract(version: tuple[int, int]) -> bool:
    """Whether an adapter written for this version of the contract can be loaded."""
    return version[0] == CONTRACT_VERSION[0] and version[1] <= CONTRACT_VERSION[1]
