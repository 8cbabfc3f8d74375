"""The adapters that are switched on, loaded when the first of them is needed, and kept from doing harm.

Here is the border to code that may not be ours: what an adapter raises is told once in the log, and counts as silence.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeVar

from termvisor.agents import ruled
from termvisor.agents.adapters.adapter import TELLS_VERSION, Adapter, Process, Record, Seen, Watch
from termvisor.agents.adapters.screen_classifier import RulesOf
from termvisor.agents.adapters.transcript_text import Words
from termvisor.log import logger
from termvisor.model.agent.evidence_source import STRANGERS, Source
from termvisor.model.agent.signal import Signal
from termvisor.model.terminal.screen import Screen

T = TypeVar("T")
log = logger("agents")


class Circle:
    def __init__(self, load: Callable[[], Sequence[Adapter]]):
        self._load = load
        self.failures: dict[str, int] = {}
        """How often each adapter failed."""

    @cached_property
    def adapters(self) -> dict[str, Adapter]:
        return {adapter.name: adapter for adapter in self._load()}

    def use(self, rules: RulesOf) -> None:
        """From now on these are the rules for screens."""
        self.adapters = {name: ruled(one, rules) for name, one in self.adapters.items()}

    @property
    def sources(self) -> dict[str, tuple[Source, ...]]:
        """Where each of them speaks; under the empty name stands what holds for all others."""
        return {"": STRANGERS} | {name: one.sources for name, one in self.adapters.items()}

    @property
    def env_names(self) -> tuple[str, ...]:
        return tuple(sorted({name for one in self.adapters.values() for name in one.env_names}))

    @cached_property
    def _spoken(self) -> frozenset[tuple[str, str]]:
        return frozenset((name, source.name) for name, one in self.adapters.items() for source in one.sources)

    def speaks(self, agent: str, source: str) -> bool:
        """Whether it declares a source of this name."""
        return (agent, source) in self._spoken

    def speaking(self, source: str) -> list[str]:
        return [name for name in self.adapters if self.speaks(name, source)]

    def recognise(self, agent: str, processes: Sequence[Process]) -> Process | None:
        return self._ask(agent, lambda one: one.recognise(processes), None)

    def watches(self, agent: str, process: Process) -> Sequence[Watch]:
        return self._ask(agent, lambda one: tuple(one.watches(process)), ())

    def read(self, agent: str, record: Record) -> Sequence[Signal]:
        return self._ask(agent, lambda one: tuple(one.read(record)), ())

    def words(self, agent: str, record: Record) -> Sequence[Words]:
        """What was said in a conversation; an adapter need not know."""

        def said(one: Adapter) -> Sequence[Words]:
            tell = getattr(one, "words", None)
            return tuple(tell(record)) if tell is not None else ()

        return self._ask(agent, said, ())

    def session(self, agent: str, process: Process) -> str:
        """The one that its command line takes up; an adapter need not know."""

        def named(one: Adapter) -> str:
            tell = getattr(one, "session_of", None)
            return str(tell(process)) if tell is not None else ""

        return self._ask(agent, named, "")

    def prints(self, agent: str, process: Process) -> bool:
        """Whether what this process prints is meant for programs; an adapter need not know."""

        def printing(one: Adapter) -> bool:
            tell = getattr(one, "prints", None)
            return tell is not None and bool(tell(process))

        return self._ask(agent, printing, False)

    def look(self, agent: str, screen: Screen, version: str = "") -> Seen | None:
        """``version`` is the program's, where it is known; older adapters are not told."""

        def look(one: Adapter) -> Seen:
            return one.look(screen, version) if version and one.contract_version >= TELLS_VERSION else one.look(screen)

        return self._ask(agent, look, None)

    def title_matches(self, agent: str, title: str) -> bool:
        return self._ask(agent, lambda one: one.title_matches(title), False)

    def resume(self, agent: str, session: str) -> tuple[str, ...]:
        return self._ask(agent, lambda one: tuple(one.resume_command(session)), ())

    def _ask(self, agent: str, question: Callable[[Adapter], T], otherwise: T) -> T:
        adapter = self.adapters.get(agent)
        if adapter is None:
            return otherwise
        try:
            return question(adapter)
        except Exception as error:  # an adapter may be anybody's, and what it is shown is anybody's too
            if not self.failures.get(agent):
                log.error("the agent adapter %s failed: %s: %s", agent, type(error).__name__, error)
            self.failures[agent] = self.failures.get(agent, 0) + 1
            return otherwise
