"""Writes down what was said in the conversations of agents that live in panes, for those who search.

What comes in: records, each with the agent whose it is. What goes out: utterances, to the store. Words of a session
that no agent in a pane has shown are a stranger's, who only shares a folder, and are left alone.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

from termvisor.agents.adapters.adapter import Record
from termvisor.agents.adapters.transcript_text import Words
from termvisor.agents.tracking.adapter_registry import Circle
from termvisor.agents.tracking.tracker import Knowing
from termvisor.errors import StorageError
from termvisor.log import logger
from termvisor.model.agent.session import AgentSession
from termvisor.model.agent.transcript_message import Utterance
from termvisor.model.detection.detection import Detection
from termvisor.model.event import Event
from termvisor.redaction import redact

LONGEST = 16_000
"""Characters of one utterance that are kept."""
log = logger("scribe")


class Shelf(Protocol):
    async def add(self, said: list[Utterance]) -> int: ...

    async def add_found(self, said: list[tuple[Utterance, Sequence[Detection]]]) -> tuple[int, list[Event]]: ...


class Scribe:
    def __init__(self, knowing: Knowing, circle: Circle, shelf: Shelf):
        self._knowing, self._circle, self._shelf = knowing, circle, shelf
        self.is_asked = True
        """Whether anything is to be written down."""
        self.written = 0
        self.spot: Callable[[Utterance], Sequence[Detection]] = lambda said: ()
        """What rules find in it; stored with it, so each once."""
        self.tell: Callable[[Event], None] = lambda event: None

    async def take(self, heard: Iterable[tuple[str, Record]]) -> None:
        """What these records hold of words. What cannot be stored is told in the log: the transcript still has it."""
        if not self.is_asked:
            return
        said = [one for agent, record in heard for one in self._said(agent, record)]
        if not said:
            return
        try:
            await self._write([(one, self.spot(one)) for one in said])
        except StorageError as error:
            log.warning("%d utterances were not stored: %s", len(said), error)

    async def _write(self, said: list[tuple[Utterance, Sequence[Detection]]]) -> None:
        if not any(found for _, found in said):
            self.written += await self._shelf.add([one for one, _ in said])
            return
        count, events = await self._shelf.add_found(said)
        self.written += count
        for event in events:
            self.tell(event)

    def _said(self, agent: str, record: Record) -> Iterator[Utterance]:
        for words in self._circle.words(agent, record):
            session = self._session(agent, words.session)
            if session is not None:
                yield _utterance(words, session, record)

    def _session(self, agent: str, name: str) -> AgentSession | None:
        going_on = self._knowing.standing.story.going_on.values()
        return next((one for one in going_on if (one.agent, one.external_id) == (agent, name)), None)


def _utterance(words: Words, session: AgentSession, record: Record) -> Utterance:
    at = min(words.at, record.at) if words.at > 0 else record.at
    return Utterance(
        pane=session.pane,
        runtime=session.runtime,
        agent=session.agent,
        session=words.session[:200],
        role=words.role,
        key=words.key[:200],
        at=at,
        text=redact(words.text[:LONGEST]),
    )
