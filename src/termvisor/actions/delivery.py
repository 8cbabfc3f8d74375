"""Texts on their way, with a journal: whatever fails, one key is one text, and what came of it is on record.

An agent that can be spoken to by its own server is; else the text is typed.
"""

import asyncio

from msgspec.structs import replace

from termvisor.actions import input_line as screen
from termvisor.actions.agent_server import prompted
from termvisor.actions.attempt import Attempt, Means, refused
from termvisor.actions.audit_entry import Case, hash_of, text_hash
from termvisor.actions.preconditions import Belief, Refusal, takes_natively
from termvisor.actions.typing import Ended, Journey, Sender, Step
from termvisor.errors import Conflict, NotFound, StaleSnapshot, VisorError
from termvisor.model.action.action import Action, SendText
from termvisor.model.action.audit import AuditFilter
from termvisor.model.action.delivery import Send, SendStep
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Terms


class Delivery:
    def __init__(self, means: Means):
        self._means = means

    async def send(self, attempt: Attempt, action: SendText) -> Outcome:
        case, terms, belief = attempt.case, attempt.wish.terms, attempt.belief
        if belief is None:
            raise NotFound("there is no pane to send to")
        key, now = terms.key or case.correlation, self._means.clock.now()
        send = Send(
            key=key,
            correlation=case.correlation,
            pane=action.pane,
            action_hash=case.action_hash,
            text_hash=text_hash(action.text, self._means.secret),
            begun_at=now,
        )
        intent = case.entry("intent", now, verdict=attempt.judged.verdict, observed=attempt.observed())
        earlier = await self._means.store.sends.begin(send, intent)
        if earlier is not None:
            return _repeated(earlier, case.action_hash)
        ended = await self._travelled(send, self._journey(action, belief, terms, key))
        await self._end(key, case, ended)
        await self._means.judge.after(attempt.judged, ended.status, ended.why)
        if ended.status == "refused":
            raise refused(Refusal(why=ended.why, text=ended.text), case)
        sent = len(action.text.encode("utf-8", "replace"))
        return Outcome(
            status=ended.status,
            why=ended.why,
            text=ended.text,
            correlation=case.correlation,
            key=key,
            pane=action.pane,
            bytes_sent=sent,
            lines=belief.view.lines,
            channel=ended.channel,
        )

    def _journey(self, action: SendText, belief: Belief, terms: Terms, key: str) -> Journey:
        voice = belief.voice
        return Journey(action, belief, terms.into == "prompt" and voice is None, self._steps_of(key), voice)

    async def _travelled(self, send: Send, journey: Journey) -> Ended:
        panes = self._means.panes
        native = panes.line(send.pane) if takes_natively(journey.belief, journey.action) else None
        try:
            if native is not None:
                return await prompted(native, journey.text, journey.belief.sight.title, journey.step)
            ended = await Sender(panes.control(send.pane), panes, self._means.clock).send(journey)
            return replace(ended, channel="keys" if journey.voice is not None else None)
        except asyncio.CancelledError:
            # Who asked has left in the middle of it: what came of it is on record all the same.
            await self.look_at(await self._means.store.sends.one(send.key) or send)
            raise

    def _steps_of(self, key: str) -> Step:
        async def step(step: SendStep) -> None:
            await self._means.store.sends.step(key, step, self._means.clock.now())

        return step

    async def _end(self, key: str, case: Case, ended: Ended) -> None:
        entry = case.entry("outcome", self._means.clock.now(), outcome=ended.status, why=ended.why)
        await self._means.store.sends.end(key, ended.status, ended.why, entry)

    async def earlier(self, action: Action, terms: Terms) -> Outcome | None:
        """What came of the first call with this key."""
        if not (terms.key and isinstance(action, SendText)):
            return None
        earlier = await self._means.store.sends.one(terms.key)
        if earlier is None:
            return None
        return _repeated(earlier, hash_of(action, await self._means.panes.view(action.pane)))

    async def look_at(self, send: Send) -> None:
        """What can be said of a send that was under way when its daemon ended."""
        ended = await self._interrupted(send)
        story = await self._means.store.audit.list(only=AuditFilter(correlation=send.correlation))
        intent = next(entry for entry in reversed(story) if entry.stage == "intent")
        now = self._means.clock.now()
        entry = replace(intent, stage="outcome", at=now, outcome=ended.status, why=ended.why)
        await self._means.store.sends.end(send.key, ended.status, ended.why, entry)

    async def _interrupted(self, send: Send) -> Ended:
        panes = self._means.panes
        try:
            belief = await panes.believe(send.pane, Terms())
            line = await panes.last_command_line(send.pane, send.step_at) if send.step == "submitting" else None
        except VisorError as error:
            return Ended("unknown", "interrupted", f"the pane cannot be looked at: {error}")
        typed = belief.typed or screen.in_program(belief.sight)
        if typed is not None and self.is_of(send, typed.before) and not screen.squeeze(typed.behind):
            return Ended("typed_not_submitted", "interrupted", "the text stands in the input")
        if line is not None and self.is_of(send, line):
            return Ended("delivered", "interrupted", "the shell said that it started this command")
        return Ended("unknown", "interrupted", "it cannot be said whether the text was taken")

    def is_of(self, send: Send, text: str) -> bool:
        return text_hash(text, self._means.secret) == send.text_hash


def _repeated(earlier: Send, action_hash: str) -> Outcome:
    """The same key again: nothing is done, the first answer is given once more."""
    if earlier.action_hash != action_hash:
        raise Conflict(f"the key {earlier.key!r} was used for another action", hint="Every action needs its own key.")
    if earlier.status == "refused":
        raise StaleSnapshot(f"it was refused then: {earlier.why}", details={"outcome": "refused", "why": earlier.why})
    return Outcome(
        status=earlier.status or "unknown",
        why=earlier.why or "under_way",
        correlation=earlier.correlation,
        key=earlier.key,
        pane=earlier.pane,
        is_repeated=True,
    )
