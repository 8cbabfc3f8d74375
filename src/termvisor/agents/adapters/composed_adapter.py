"""An adapter put together from its parts: each of them is a function or a value, and knows nothing of the others."""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.adapters.adapter import CONTRACT_VERSION, Capability, Process, Record, Seen, Watch
from termvisor.agents.adapters.command_line import Resume
from termvisor.agents.adapters.screen_classifier import RulesOf, Sight
from termvisor.agents.adapters.statements import Reader, signals
from termvisor.agents.adapters.transcript_text import Words, WordsIn
from termvisor.model.agent.evidence_source import Source
from termvisor.model.agent.signal import Signal
from termvisor.model.terminal.screen import Screen


def _nowhere(process: Process) -> Sequence[Watch]:
    return ()


def _unnamed(process: Process) -> str:
    return ""


def _prints_nothing(process: Process) -> bool:
    return False


class Composed(Struct, kw_only=True):  # not frozen: a contract cannot say that its fields are only read
    """The contract's own words are its methods; the fields are what they are made of."""

    name: str
    contract_version: tuple[int, int] = CONTRACT_VERSION
    capabilities: frozenset[Capability]
    sources: tuple[Source, ...]
    env_names: tuple[str, ...] = ()
    found: Callable[[Sequence[Process]], Process | None]
    is_title: Callable[[str], bool]
    places: Callable[[Process], Sequence[Watch]] = _nowhere
    readers: Mapping[str, Reader]
    """By the name of the source."""
    speech: Mapping[str, WordsIn] = {}
    """What was said to it and by it, by the name of the source; it is one source, so that nothing is told twice."""
    sight: Sight
    resume: Resume
    resumed: Callable[[Process], str] = _unnamed
    """The session that a command line takes up; empty where it names none."""
    package: str = ""
    """Where its `channel` and `served` stand; those of ours are found without."""
    printed: Callable[[Process], bool] = _prints_nothing
    """Whether this process prints lines for programs, which the reader of that source understands."""

    def with_rules(self, rules: RulesOf) -> "Composed":
        """The same, with these rules for its screens."""
        return replace(self, sight=self.sight.with_rules(rules))

    def recognise(self, processes: Sequence[Process]) -> Process | None:
        return self.found(processes)

    def title_matches(self, title: str) -> bool:
        return self.is_title(title)

    def watches(self, process: Process) -> Sequence[Watch]:
        return self.places(process)

    def read(self, record: Record) -> Sequence[Signal]:
        reader = self.readers.get(record.source)
        if reader is None:
            return ()
        source = next(one for one in self.sources if one.name == record.source)
        return signals(self.name, source, record, reader(record))

    def words(self, record: Record) -> Sequence[Words]:
        reader = self.speech.get(record.source)
        return () if reader is None else tuple(reader(record))

    def look(self, screen: Screen, version: str = "") -> Seen:
        return self.sight.look(screen, version)

    def resume_command(self, session: str) -> tuple[str, ...]:
        return self.resume.command(session)

    def session_of(self, process: Process) -> str:
        return self.resumed(process)

    def prints(self, process: Process) -> bool:
        return self.printed(process)
