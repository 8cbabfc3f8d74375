"""The contract of adapters, each of which holds everything known about one agent program.

An adapter package defines how to recognize the process, what its signals mean and what its screens show. Typing to
the agent is defined in its module `keyboard`, which only the gate may import.

Invariant: an adapter is pure. It gets records and screens and returns values; it never opens files or sockets itself.
"""

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

from termvisor.model.agent.evidence import EvidenceSource
from termvisor.model.agent.signal import FlagUpdate, ProcessHint, ReadPosition, Signal
from termvisor.model.agent.state import StateName
from termvisor.model.event import Scalar
from termvisor.model.terminal.screen import Screen

CONTRACT_VERSION = (2, 0)
"""Major and minor version. Adapters for an older minor version still load; those for another major version do not."""

Capability = Literal[
    "recognise",  # its process can be recognized
    "signals",  # its own reports are parsed
    "look",  # its screens are classified
    "subtasks",  # sub-agents and background work are counted
    "usage_limit",  # reports a usage limit and its reset time
    "compaction",
    "auth",
    "resume",  # a session can be resumed
    "event_driven",  # reports changes on its own
    "polling_required",  # its state is visible only on its screen
    "supports_waiting_approval",  # waiting for a permission is detected
    "supports_waiting_input",
    "supports_completed",
    "native_send",  # prompts can be sent without typing
    "native_approve",  # permission requests can be answered without typing
]
EVENT_DRIVEN_CAPABILITIES: frozenset[Capability] = frozenset(
    {"event_driven", "supports_waiting_approval", "supports_waiting_input", "supports_completed"}
)
"""Capabilities of an agent that reports whenever it waits and whenever a turn ends."""
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
"""All capabilities except sending and answering without typing."""


class ProcessInfo(Struct, frozen=True, kw_only=True):
    """One process in the process tree of a pane."""

    pid: int
    pid_started: int = 0
    program: str = ""
    argv: tuple[str, ...] = ()
    cwd: str = ""
    env: dict[str, str] = {}
    """Only the variables that adapters name in ``env_names``; the others may hold secrets and are not kept."""
    version: str = ""
    """The version in the files of its program; empty if none proves it."""


class WatchedPath(Struct, frozen=True, kw_only=True):
    """Files that one process of the agent writes.

    ``files``: a matching file gives a record with its whole text when it changes, and an empty one when it is removed.
    ``lines``: every line appended to a matching file is a record.
    """

    source: str
    kind: Literal["files", "lines"]
    folder: str
    pattern: str
    """Pattern of the file name; ``*`` is a wildcard."""
    is_deep: bool = False
    """Also watch files in subfolders."""
    required_sibling: str = ""
    """Watch a file only if its folder contains a file of this name, such as a lock file named after the process."""
    from_start: bool = False
    """Also read the lines that already exist when watching starts."""
    hint: ProcessHint = ProcessHint()
    """What is known about the process; copied to every record."""


class SourceRecord(Struct, frozen=True, kw_only=True):
    """One record of an evidence source, redacted: a hook payload, a log line, an OSC mark, a registry file."""

    source: str
    text: str
    at: int
    """When it was read."""
    path: str = ""
    """The file that contained it; its name may contain the session id."""
    hint: ProcessHint = ProcessHint()
    event_id: str = ""
    seq: int | None = None
    """Read position of the hook spool after this record, in the spool with the number ``life``."""
    life: int = 0
    bookmark: ReadPosition | None = None
    """Read position of the file after this record; set on the last record of each read."""


class ScreenReading(Struct, frozen=True, kw_only=True):
    """The state that a screen shows and the rule that matched. Without a match the state is `unknown`, never `idle`."""

    state: StateName = "unknown"
    rule: str = ""
    flags: FlagUpdate = FlagUpdate()
    confidence: float = 0.0
    details: dict[str, Scalar] = {}
    tasks: int | None = None
    """Number of sub-tasks shown on the screen; None if screens of this agent do not show any."""

    @property
    def names_agent(self) -> bool:
        """Return True if a rule of this agent matched; the structures that all agents share identify none of them."""
        return bool(self.rule) and not self.rule.startswith("any_agent.")

    @property
    def rule_name(self) -> str:
        """The last part of the rule id, without agent and scope."""
        return self.rule.rpartition(".")[2]


class Adapter(Protocol):
    """Adapter for one agent program. Optional methods are listed in docs/extend.md."""

    name: str
    contract_version: tuple[int, int]
    capabilities: frozenset[Capability]
    sources: tuple[EvidenceSource, ...]
    """Its evidence sources, each with its rank."""
    env_names: tuple[str, ...]
    """Environment variables that determine where it keeps its files, such as ``HOME``."""

    def find_process(self, processes: Sequence[ProcessInfo]) -> ProcessInfo | None:
        """Return the process of this agent among those of a pane; None if there is none."""

    def matches_title(self, title: str) -> bool:
        """Return True if a pane title names this agent, which alone proves nothing."""

    def list_watched_paths(self, process: ProcessInfo) -> Sequence[WatchedPath]:
        """Return the files that this process writes."""

    def read_record(self, record: SourceRecord) -> Sequence[Signal]:
        """Parse one record of one of its sources.

        Returns a signal `unknown` with the reason `unsupported_signal` for a record of an unsupported format, and
        nothing for an irrelevant record.
        """

    def classify_screen(self, screen: Screen, version: str = "") -> ScreenReading:
        """Return the state that a screen shows. ``version`` is the program's version; empty if unknown."""

    def build_resume_command(self, session: str) -> tuple[str, ...]:
        """Return the argv that resumes a session; empty if that is not possible."""


def is_supported_contract(version: tuple[int, int]) -> bool:
    """Return True if an adapter written for this contract version can be loaded."""
    return version[0] == CONTRACT_VERSION[0] and version[1] <= CONTRACT_VERSION[1]
