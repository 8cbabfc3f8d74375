"""Any other program that one works with like an agent, known by rules of the person's own (`agent_programs`).

A rule is one text: a pattern of the command line, the state, a pattern of one row of the screen.

    aider :: waiting_input :: ^[a-z]*> $
    aider :: waiting_approval :: \\(Y\\)es/\\(N\\)o

The first rule whose program runs and whose row is shown decides. What fits none is unknown.
"""

from collections.abc import Iterable, Sequence

from termvisor.agents.adapters.adapter import CONTRACT_VERSION, TELLS, Capability, Process, Record, Seen, Watch
from termvisor.agents.adapters.screen_classifier import shown_rows
from termvisor.model.agent.evidence_source import LOOKS, Source
from termvisor.model.agent.program_rule import ProgramRule, rule_of
from termvisor.model.agent.signal import Signal
from termvisor.model.terminal.screen import Screen

_CONFIDENCE = 0.6


class Generic:
    name = "generic"
    contract_version = CONTRACT_VERSION
    capabilities: frozenset[Capability] = frozenset({*TELLS, "recognise", "look", "polling_required"}) - {
        "event_driven"
    }
    sources: tuple[Source, ...] = LOOKS
    env_names: tuple[str, ...] = ()

    def __init__(self, rules: Iterable[ProgramRule] = ()):
        self.rules = tuple(rules)

    def recognise(self, processes: Sequence[Process]) -> Process | None:
        return next((one for one in processes if any(rule.is_of(one.argv) for rule in self.rules)), None)

    def title_matches(self, title: str) -> bool:
        return False

    def watches(self, process: Process) -> Sequence[Watch]:
        return ()

    def read(self, record: Record) -> Sequence[Signal]:
        return ()

    def look(self, screen: Screen, version: str = "") -> Seen:
        """Rules of all programs are tried: which of them runs is known to whoever asks, and is seen in the rows."""
        rows = shown_rows(screen.rows)
        found = next((rule for rule in self.rules if any(rule.fits(row) for row in rows)), None)
        if found is None:
            return Seen()
        return Seen(state=found.state, rule=found.row, confidence=_CONFIDENCE)

    def resume_command(self, session: str) -> tuple[str, ...]:
        return ()


ADAPTER = Generic()
"""Without rules it recognises nothing."""


def with_rules(texts: Iterable[str]) -> Generic:
    return Generic(map(rule_of, texts))
