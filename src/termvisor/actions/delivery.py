"""Texts on their way, with a journal: whatever fails, one key is one text, and what came of it is on record.

An agent that can be spoken to by its own server is; else the text is typed.
"""

import asyncio

from msgspec.structs import replace

from termvisor.actions import input_line
from termvisor.actions.agent_server import send_prompt
from termvisor.actions.attempt import Attempt, GateDependencies, build_refused_error
from termvisor.actions.audit_entry import AuditContext, hash_action, hash_text
from termvisor.actions.preconditions import PaneSnapshot, PreconditionFailure, can_send_natively
from termvisor.actions.text_typer import StepRecorder, TextTyper, TypingJob, TypingResult
from termvisor.errors import Conflict, NotFound, StaleSnapshot, VisorError
from termvisor.model.action.action import Action, SendText
from termvisor.model.action.audit import AuditFilter
from termvisor.model.action.delivery import DeliveryRecord, DeliveryStep
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions


class TextDelivery:
    def __init__(self, dependencies: GateDependencies):
        self._dependencies = dependencies

    async def deliver(self, attempt: Attempt, action: SendText) -> Outcome:
        case, terms, belief = attempt.audit, attempt.request.preconditions, attempt.snapshot
        if belief is None:
            raise NotFound("there is no pane to send to")
        key, now = terms.key or case.correlation, self._dependencies.clock.now()
        send = DeliveryRecord(
            key=key,
            correlation=case.correlation,
            pane=action.pane,
            action_hash=case.action_hash,
            text_hash=hash_text(action.text, self._dependencies.hash_key),
            begun_at=now,
        )
        intent = case.build_entry("intent", now, verdict=attempt.decision.verdict, observed=attempt.describe_pane())
        earlier = await self._dependencies.store.deliveries.begin(send, intent)
        if earlier is not None:
            return _replay_outcome(earlier, case.action_hash)
        ended = await self._type_or_prompt(send, self._build_job(action, belief, terms, key))
        await self._record_end(key, case, ended)
        await self._dependencies.policy.report_outcome(attempt.decision, ended.status, ended.why)
        if ended.status == "refused":
            raise build_refused_error(PreconditionFailure(why=ended.why, text=ended.text), case)
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

    def _build_job(self, action: SendText, snapshot: PaneSnapshot, preconditions: Preconditions, key: str) -> TypingJob:
        voice = snapshot.interaction
        return TypingJob(
            action, snapshot, preconditions.into == "prompt" and voice is None, self._build_step_recorder(key), voice
        )

    async def _type_or_prompt(self, delivery: DeliveryRecord, job: TypingJob) -> TypingResult:
        panes = self._dependencies.panes
        native = panes.get_session_control(delivery.pane) if can_send_natively(job.snapshot, job.action) else None
        try:
            if native is not None:
                return await send_prompt(native, job.text, job.snapshot.pane_state.title, job.record_step)
            ended = await TextTyper(panes.get_control(delivery.pane), panes, self._dependencies.clock).type_text(job)
            return replace(ended, channel="keys" if job.interaction is not None else None)
        except asyncio.CancelledError:
            # Who asked has left in the middle of it: what came of it is on record all the same.
            await self.resolve_interrupted(
                await self._dependencies.store.deliveries.find_by_key(delivery.key) or delivery
            )
            raise

    def _build_step_recorder(self, key: str) -> StepRecorder:
        async def record_step(step: DeliveryStep) -> None:
            await self._dependencies.store.deliveries.record_step(key, step, self._dependencies.clock.now())

        return record_step

    async def _record_end(self, key: str, audit: AuditContext, ended: TypingResult) -> None:
        entry = audit.build_entry("outcome", self._dependencies.clock.now(), outcome=ended.status, why=ended.why)
        await self._dependencies.store.deliveries.end(key, ended.status, ended.why, entry)

    async def find_by_key(self, action: Action, preconditions: Preconditions) -> Outcome | None:
        """What came of the first call with this key."""
        if not (preconditions.key and isinstance(action, SendText)):
            return None
        earlier = await self._dependencies.store.deliveries.find_by_key(preconditions.key)
        if earlier is None:
            return None
        return _replay_outcome(earlier, hash_action(action, await self._dependencies.panes.get_pane(action.pane)))

    async def resolve_interrupted(self, delivery: DeliveryRecord) -> None:
        """What can be said of a send that was under way when its daemon ended."""
        ended = await self._inspect_interrupted(delivery)
        story = await self._dependencies.store.audit.list(filters=AuditFilter(correlation=delivery.correlation))
        intent = next(entry for entry in reversed(story) if entry.stage == "intent")
        now = self._dependencies.clock.now()
        entry = replace(intent, stage="outcome", at=now, outcome=ended.status, why=ended.why)
        await self._dependencies.store.deliveries.end(delivery.key, ended.status, ended.why, entry)

    async def _inspect_interrupted(self, delivery: DeliveryRecord) -> TypingResult:
        panes = self._dependencies.panes
        try:
            belief = await panes.take_snapshot(delivery.pane, Preconditions())
            line = (
                await panes.find_last_command_line(delivery.pane, delivery.step_at)
                if delivery.step == "submitting"
                else None
            )
        except VisorError as error:
            return TypingResult("unknown", "interrupted", f"the pane cannot be looked at: {error}")
        typed = belief.typed_input or input_line.read_program_input(belief.pane_state)
        if (
            typed is not None
            and self.is_text_of(delivery, typed.before)
            and not input_line.strip_decoration(typed.behind)
        ):
            return TypingResult("typed_not_submitted", "interrupted", "the text stands in the input")
        if line is not None and self.is_text_of(delivery, line):
            return TypingResult("delivered", "interrupted", "the shell said that it started this command")
        return TypingResult("unknown", "interrupted", "it cannot be said whether the text was taken")

    def is_text_of(self, delivery: DeliveryRecord, text: str) -> bool:
        return hash_text(text, self._dependencies.hash_key) == delivery.text_hash


def _replay_outcome(earlier: DeliveryRecord, action_hash: str) -> Outcome:
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
