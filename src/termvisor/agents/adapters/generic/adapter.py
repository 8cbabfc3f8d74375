"""Declare the adapter for any other program, defined by the user's rules (setting `agent_programs`).

A rule is a single text: a pattern for the command line, a state, and a pattern for a screen row.

    aider :: waiting_input :: ^[a-z]*> $
    aider :: waiting_approval :: \\(Y\\)es/\\(N\\)o

The first rule whose program is running and whose row is shown determines the state. Without a match it is unknown.
"""

from collections.abc import Iterable, Sequence

from termvisor.agents.adapters import adapter
from termvisor.agents.adapters.screen_classifier import trim_rows
from termvisor.model.agent.evidence import HEURISTIC_SOURCES, EvidenceSource
from termvisor.model.agent.program_rule import ProgramRule, parse_program_rule
from termvisor.model.agent.signal import Signal
from termvisor.model.terminal.screen import Screen

_RULE_CONFIDENCE = 0.6


class GenericAdapter:
    """Implementation of the adapter contract (`adapter.Adapter`) by user rules."""

    name = "generic"
    contract_version = adapter.CONTRACT_VERSION
    capabilities: frozenset[adapter.Capability] = frozenset(
        {*adapter.EVENT_DRIVEN_CAPABILITIES, "recognise", "look", "polling_required"}
    ) - {"event_driven"}
    sources: tuple[EvidenceSource, ...] = HEURISTIC_SOURCES
    env_names: tuple[str, ...] = ()

    def __init__(self, rules: Iterable[ProgramRule] = ()):
        self.rules = tuple(rules)

    def find_process(self, processes: Sequence[adapter.ProcessInfo]) -> adapter.ProcessInfo | None:
        return next(
            (process for process in processes if any(rule.is_for_program(process.argv) for rule in self.rules)), None
        )

    def matches_title(self, title: str) -> bool:
        return False

    def list_watched_paths(self, process: adapter.ProcessInfo) -> Sequence[adapter.WatchedPath]:
        return ()

    def read_record(self, record: adapter.SourceRecord) -> Sequence[Signal]:
        return ()

    def classify_screen(self, screen: Screen, version: str = "") -> adapter.ScreenReading:
        """Return the state of the first rule with a matching row. The screen does not show which program is running."""
        rows = trim_rows(screen.rows)
        rule = next((rule for rule in self.rules if any(rule.is_row_match(row) for row in rows)), None)
        if rule is None:
            return adapter.ScreenReading()
        return adapter.ScreenReading(state=rule.state, rule=rule.row, confidence=_RULE_CONFIDENCE)

    def build_resume_command(self, session: str) -> tuple[str, ...]:
        return ()


# Without rules it recognizes no process.
ADAPTER = GenericAdapter()


def build_generic_adapter(rule_texts: Iterable[str]) -> GenericAdapter:
    """Return an adapter with these rules. Raises ValueError for a malformed rule."""
    return GenericAdapter(map(parse_program_rule, rule_texts))
