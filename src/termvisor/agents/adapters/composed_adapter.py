"""An adapter put together from its parts: each of them is a function or a value, and knows nothing of the others."""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.adapters.adapter import (
    CONTRACT_VERSION,
    Capability,
    ProcessInfo,
    ScreenReading,
    SourceRecord,
    WatchedPath,
)
from termvisor.agents.adapters.command_line import SessionResume
from termvisor.agents.adapters.screen_classifier import ScreenClassifier, ScreenRuleProvider
from termvisor.agents.adapters.statements import RecordReader, build_signals
from termvisor.agents.adapters.transcript_text import TranscriptReader, TranscriptText
from termvisor.model.agent.evidence_source import EvidenceSource
from termvisor.model.agent.signal import Signal
from termvisor.model.terminal.screen import Screen


def _list_no_paths(process: ProcessInfo) -> Sequence[WatchedPath]:
    return ()


def _find_no_session(process: ProcessInfo) -> str:
    return ""


def _is_never_printing_json(process: ProcessInfo) -> bool:
    return False


class ComposedAdapter(Struct, kw_only=True):  # not frozen: a contract cannot say that its fields are only read
    """The contract's own words are its methods; the fields are what they are made of."""

    name: str
    contract_version: tuple[int, int] = CONTRACT_VERSION
    capabilities: frozenset[Capability]
    sources: tuple[EvidenceSource, ...]
    env_names: tuple[str, ...] = ()
    process_finder: Callable[[Sequence[ProcessInfo]], ProcessInfo | None]
    title_matcher: Callable[[str], bool]
    path_lister: Callable[[ProcessInfo], Sequence[WatchedPath]] = _list_no_paths
    readers: Mapping[str, RecordReader]
    """By the name of the source."""
    transcript_readers: Mapping[str, TranscriptReader] = {}
    """What was said to it and by it, by the name of the source; it is one source, so that nothing is told twice."""
    screen_classifier: ScreenClassifier
    session_resume: SessionResume
    resumed_session_finder: Callable[[ProcessInfo], str] = _find_no_session
    """The session that a command line takes up; empty where it names none."""
    package: str = ""
    """Where its `channel` and `served` stand; those of ours are found without."""
    json_output_check: Callable[[ProcessInfo], bool] = _is_never_printing_json
    """Whether this process prints lines for programs, which the reader of that source understands."""

    def with_rules(self, rule_provider: ScreenRuleProvider) -> "ComposedAdapter":
        """The same, with these rules for its screens."""
        return replace(self, screen_classifier=self.screen_classifier.with_rules(rule_provider))

    def find_process(self, processes: Sequence[ProcessInfo]) -> ProcessInfo | None:
        return self.process_finder(processes)

    def title_matches(self, title: str) -> bool:
        return self.title_matcher(title)

    def list_watched_paths(self, process: ProcessInfo) -> Sequence[WatchedPath]:
        return self.path_lister(process)

    def read_record(self, record: SourceRecord) -> Sequence[Signal]:
        reader = self.readers.get(record.source)
        if reader is None:
            return ()
        source = next(one for one in self.sources if one.name == record.source)
        return build_signals(self.name, source, record, reader(record))

    def read_transcript(self, record: SourceRecord) -> Sequence[TranscriptText]:
        reader = self.transcript_readers.get(record.source)
        return () if reader is None else tuple(reader(record))

    def classify_screen(self, screen: Screen, version: str = "") -> ScreenReading:
        return self.screen_classifier.classify_screen(screen, version)

    def build_resume_command(self, session: str) -> tuple[str, ...]:
        return self.session_resume.build_command(session)

    def find_resumed_session(self, process: ProcessInfo) -> str:
        return self.resumed_session_finder(process)

    def is_printing_json(self, process: ProcessInfo) -> bool:
        return self.json_output_check(process)
