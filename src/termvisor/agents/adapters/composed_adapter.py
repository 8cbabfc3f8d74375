"""An adapter composed of independent parts, used for all built-in adapters except `generic`."""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from termvisor.agents.adapters import adapter
from termvisor.agents.adapters.command_line import SessionResume
from termvisor.agents.adapters.screen_classifier import ScreenClassifier, ScreenRuleProvider
from termvisor.agents.adapters.statements import RecordReader, build_signals
from termvisor.agents.adapters.transcript_text import TranscriptReader, TranscriptText
from termvisor.model.agent.evidence import EvidenceSource
from termvisor.model.agent.signal import Signal
from termvisor.model.terminal.screen import Screen


class ComposedAdapter(Struct, kw_only=True):  # not frozen: a Protocol cannot declare read-only attributes
    """Implementation of the adapter contract (`adapter.Adapter`) by the functions and values in its fields."""

    name: str
    contract_version: tuple[int, int] = adapter.CONTRACT_VERSION
    capabilities: frozenset[adapter.Capability]
    sources: tuple[EvidenceSource, ...]
    env_names: tuple[str, ...] = ()
    process_finder: Callable[[Sequence[adapter.ProcessInfo]], adapter.ProcessInfo | None]
    title_matcher: Callable[[str], bool]
    path_lister: Callable[[adapter.ProcessInfo], Sequence[adapter.WatchedPath]] = lambda process: ()
    readers: Mapping[str, RecordReader]
    """Record readers by source name."""
    transcript_readers: Mapping[str, TranscriptReader] = {}
    """Readers of conversation text by source name. At most one, or else every message would be stored twice."""
    screen_classifier: ScreenClassifier
    session_resume: SessionResume
    resumed_session_finder: Callable[[adapter.ProcessInfo], str] = lambda process: ""
    """Return the session that a command line resumes; empty if it names none."""
    package: str = ""
    """Package of its modules `keyboard` and `server_client`; required only for a plug-in."""
    package_names: tuple[str, ...] = ()
    """Names of the npm or Python packages that contain the program; their version is its version."""
    json_output_check: Callable[[adapter.ProcessInfo], bool] = lambda process: False
    """Return True if a process prints JSON lines for the reader of the source `printed`."""

    def with_rules(self, rule_provider: ScreenRuleProvider) -> "ComposedAdapter":
        """Return a copy with other screen rules."""
        return replace(self, screen_classifier=self.screen_classifier.with_rules(rule_provider))

    def find_process(self, processes: Sequence[adapter.ProcessInfo]) -> adapter.ProcessInfo | None:
        return self.process_finder(processes)

    def matches_title(self, title: str) -> bool:
        return self.title_matcher(title)

    def list_watched_paths(self, process: adapter.ProcessInfo) -> Sequence[adapter.WatchedPath]:
        return self.path_lister(process)

    def read_record(self, record: adapter.SourceRecord) -> Sequence[Signal]:
        reader = self.readers.get(record.source)
        if reader is None:
            return ()
        source = next(source for source in self.sources if source.name == record.source)
        return build_signals(self.name, source, record, reader(record))

    def read_transcript(self, record: adapter.SourceRecord) -> Sequence[TranscriptText]:
        reader = self.transcript_readers.get(record.source)
        return () if reader is None else tuple(reader(record))

    def classify_screen(self, screen: Screen, version: str = "") -> adapter.ScreenReading:
        return self.screen_classifier.classify_screen(screen, version)

    def build_resume_command(self, session: str) -> tuple[str, ...]:
        return self.session_resume.build_command(session)

    def find_resumed_session(self, process: adapter.ProcessInfo) -> str:
        return self.resumed_session_finder(process)

    def is_printing_json(self, process: adapter.ProcessInfo) -> bool:
        return self.json_output_check(process)
