"""Declare the adapter for any other program, declared by the user in tables `[agents.<name>]` (`agent_programs`).

The first program in the settings whose pattern for a row matches the screen determines the state. Without a match it is
unknown.
"""

from collections.abc import Iterable, Sequence

from termvisor.agents.adapters import adapter
from termvisor.agents.adapters.screen_classifier import trim_rows
from termvisor.model.agent.agent_program import AgentProgram, is_row_match
from termvisor.model.agent.evidence import HEURISTIC_SOURCES, EvidenceSource
from termvisor.model.agent.signal import Signal
from termvisor.model.terminal.screen import Screen

_RULE_CONFIDENCE = 0.6


class GenericAdapter:
    """Implementation of the adapter contract (`adapter.Adapter`) by programs that the user declared."""

    name = "generic"
    contract_version = adapter.CONTRACT_VERSION
    capabilities: frozenset[adapter.Capability] = frozenset(
        {*adapter.EVENT_DRIVEN_CAPABILITIES, "recognise", "look", "polling_required"}
    ) - {"event_driven"}
    sources: tuple[EvidenceSource, ...] = HEURISTIC_SOURCES
    env_names: tuple[str, ...] = ()

    def __init__(self, programs: Iterable[AgentProgram] = ()):
        self.programs = tuple(programs)

    def find_process(self, processes: Sequence[adapter.ProcessInfo]) -> adapter.ProcessInfo | None:
        return next(
            (process for process in processes if any(one.is_for_program(process.argv) for one in self.programs)), None
        )

    def matches_title(self, title: str) -> bool:
        return False

    def list_watched_paths(self, process: adapter.ProcessInfo) -> Sequence[adapter.WatchedPath]:
        return ()

    def read_record(self, record: adapter.SourceRecord) -> Sequence[Signal]:
        return ()

    def classify_screen(self, screen: Screen, version: str = "") -> adapter.ScreenReading:
        """Return the state of the first pattern with a matching row. The screen does not show which program runs."""
        rows = trim_rows(screen.rows)
        patterns = (pattern for program in self.programs for pattern in program.list_row_patterns())
        for state, pattern in patterns:
            if any(is_row_match(pattern, row) for row in rows):
                return adapter.ScreenReading(state=state, rule=pattern, confidence=_RULE_CONFIDENCE)
        return adapter.ScreenReading()

    def build_resume_command(self, session: str) -> tuple[str, ...]:
        return ()


# Without programs it recognizes no process.
ADAPTER = GenericAdapter()
