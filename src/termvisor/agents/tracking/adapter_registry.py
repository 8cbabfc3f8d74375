"""Load the enabled adapters on first use, and isolate their errors (`AdapterRegistry`).

Adapters may be third-party plug-ins, so an exception from an adapter is logged once and treated as an empty result.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeVar

from termvisor.agents.adapters.adapter import Adapter, ProcessInfo, ScreenReading, SourceRecord, WatchedPath
from termvisor.agents.adapters.loader import apply_screen_rules
from termvisor.agents.adapters.screen_classifier import ScreenRuleProvider
from termvisor.agents.adapters.transcript_text import TranscriptText
from termvisor.log import get_logger
from termvisor.model.agent.evidence import DEFAULT_SOURCES, EvidenceSource
from termvisor.model.agent.signal import Signal
from termvisor.model.terminal.screen import Screen

T = TypeVar("T")
_MAX_CACHED_NAMES = 1024
log = get_logger("agents")


class AdapterRegistry:
    def __init__(self, load_adapters: Callable[[], Sequence[Adapter]]):
        self._load_adapters = load_adapters
        self.failure_counts: dict[str, int] = {}
        """How often each adapter raised."""
        self._agents_by_command: dict[str, str] = {}

    @cached_property
    def adapters(self) -> dict[str, Adapter]:
        return {adapter.name: adapter for adapter in self._load_adapters()}

    def use_rules(self, rules: ScreenRuleProvider) -> None:
        """Replace the screen rules of all adapters."""
        self.adapters = {name: apply_screen_rules(one, rules) for name, one in self.adapters.items()}

    def reload(self) -> None:
        """Load the adapters again with the next use."""
        for name in ("adapters", "_declared_sources"):
            self.__dict__.pop(name, None)
        self._agents_by_command.clear()

    @property
    def sources(self) -> dict[str, tuple[EvidenceSource, ...]]:
        """The sources of each agent; the empty name has those of all other agents."""
        return {"": DEFAULT_SOURCES} | {name: one.sources for name, one in self.adapters.items()}

    @property
    def env_names(self) -> tuple[str, ...]:
        return tuple(sorted({name for one in self.adapters.values() for name in one.env_names}))

    @cached_property
    def _declared_sources(self) -> frozenset[tuple[str, str]]:
        return frozenset((name, source.name) for name, one in self.adapters.items() for source in one.sources)

    def has_source(self, agent: str, source: str) -> bool:
        return (agent, source) in self._declared_sources

    def list_agents_with_source(self, source: str) -> list[str]:
        return [name for name in self.adapters if self.has_source(name, source)]

    def find_process(self, agent: str, processes: Sequence[ProcessInfo]) -> ProcessInfo | None:
        return self._call_adapter(agent, lambda one: one.find_process(processes), None)

    def get_package_names(self, agent: str) -> tuple[str, ...]:
        """Return the names of the packages that contain the agent's program; optional for adapters."""
        return self._call_adapter(agent, lambda one: tuple(map(str, getattr(one, "package_names", ()))), ())

    def match_command(self, command: str) -> str:
        """Return the agent whose program has this name, as the multiplexer reports it; empty if there is none."""
        if command not in self._agents_by_command:
            # Adapters match processes, so build one with that name.
            processes = [ProcessInfo(pid=1, program=command, argv=(command,))]
            match = next((agent for agent in self.adapters if self.find_process(agent, processes)), "")
            add_to_cache(self._agents_by_command, command, match)
        return self._agents_by_command[command]

    def list_watched_paths(self, agent: str, process: ProcessInfo) -> Sequence[WatchedPath]:
        return self._call_adapter(agent, lambda one: tuple(one.list_watched_paths(process)), ())

    def read_record(self, agent: str, record: SourceRecord) -> Sequence[Signal]:
        return self._call_adapter(agent, lambda one: tuple(one.read_record(record)), ())

    def read_transcript(self, agent: str, record: SourceRecord) -> Sequence[TranscriptText]:
        """Return the transcript messages of a record; optional for adapters."""
        return self._call_optional(agent, "read_transcript", record, tuple, ())

    def find_resumed_session(self, agent: str, process: ProcessInfo) -> str:
        """Return the session id that the command line resumes; optional for adapters."""
        return self._call_optional(agent, "find_resumed_session", process, str, "")

    def is_printing_json(self, agent: str, process: ProcessInfo) -> bool:
        """Return True if this process prints JSON for other programs; optional for adapters."""
        return self._call_optional(agent, "is_printing_json", process, bool, False)

    def classify_screen(self, agent: str, screen: Screen, version: str = "") -> ScreenReading | None:
        """Classify a screen of an agent whose program has this version; empty if the version is unknown."""
        return self._call_adapter(agent, lambda one: one.classify_screen(screen, version), None)

    def is_title_match(self, agent: str, title: str) -> bool:
        return self._call_adapter(agent, lambda one: one.matches_title(title), False)

    def build_resume_command(self, agent: str, session: str) -> tuple[str, ...]:
        return self._call_adapter(agent, lambda one: tuple(one.build_resume_command(session)), ())

    def _call_optional(self, agent: str, name: str, argument: object, convert: Callable[[Any], T], fallback: T) -> T:
        """Call a method that older adapters do not have."""

        def call(one: Adapter) -> T:
            method = getattr(one, name, None)
            return convert(method(argument)) if method is not None else fallback

        return self._call_adapter(agent, call, fallback)

    def _call_adapter(self, agent: str, call: Callable[[Adapter], T], fallback: T) -> T:
        adapter = self.adapters.get(agent)
        if adapter is None:
            return fallback
        try:
            return call(adapter)
        except Exception as error:  # plug-in boundary: third-party code reads untrusted input
            # Logged only once, because a failing adapter is called for every record and screen.
            if not self.failure_counts.get(agent):
                log.error("agent adapter %s failed: %s: %s", agent, type(error).__name__, error)
            self.failure_counts[agent] = self.failure_counts.get(agent, 0) + 1
            return fallback


def add_to_cache(cache: dict[str, str], text: str, agent: str) -> None:
    """Cache the agent of a command or title. Agents show their status in the title, so the number is unlimited."""
    if len(cache) >= _MAX_CACHED_NAMES:
        cache.clear()
    cache[text] = agent
