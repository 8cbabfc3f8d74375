"""Deliver a text to a program once per idempotency key, and log the outcome.

An agent with a connected server gets the text as a prompt; any other program gets it typed. Invariant: the same key
never delivers a text twice, even if the daemon crashes in between.
"""

import asyncio

from msgspec.structs import replace

from termvisor.actions import input_line
from termvisor.actions.attempt import Attempt, hash_action, hash_text
from termvisor.actions.pane_snapshot import PaneAccess, PaneSnapshot
from termvisor.actions.policy_check import PolicyChecker
from termvisor.actions.precondition_failure import PreconditionFailure
from termvisor.actions.preconditions import can_send_natively
from termvisor.actions.text_typer import StepRecorder, TextTyper, TypingResult
from termvisor.agents.adapters.server_contract import SessionControl
from termvisor.clock import Clock
from termvisor.errors import BadRequest, NotFound, StaleSnapshot, StateConflict, TimedOut, Unavailable, VisorError
from termvisor.model.action.action import Action, SendText
from termvisor.model.action.audit import AuditFilter
from termvisor.model.action.outcome import AgentChannel, DeliveryRecord, DeliveryStep, Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.store import Store


class TextDelivery:
    def __init__(self, *, store: Store, panes: PaneAccess, policy: PolicyChecker, clock: Clock, hash_key: bytes):
        """``hash_key`` is the key of the digests used to recognize a text on a screen."""
        self._store, self._panes, self._policy, self._clock = store, panes, policy, clock
        self._hash_key = hash_key

    async def deliver(self, attempt: Attempt, action: SendText) -> Outcome:
        snapshot = attempt.snapshot
        if snapshot is None:
            raise NotFound(f"pane {action.pane} does not exist")
        now = self._clock.now()
        delivery = DeliveryRecord(
            key=attempt.preconditions.key or attempt.correlation,
            correlation=attempt.correlation,
            pane=action.pane,
            action_hash=attempt.action_hash,
            text_hash=hash_text(action.text, self._hash_key),
            begun_at=now,
        )
        intent = attempt.build_entry("intent", now, verdict=attempt.decision.verdict, observed=attempt.describe_pane())
        # One transaction claims the key and logs the intent, so only one of two concurrent calls with a key types.
        previous = await self._store.deliveries.begin(delivery, intent)
        if previous is not None:
            return _replay_outcome(previous, attempt.action_hash)
        result = await self._type_or_prompt(delivery, attempt, action, snapshot)
        entry = attempt.build_entry("outcome", self._clock.now(), outcome=result.status, why=result.why)
        await self._store.deliveries.end(delivery.key, result.status, result.why, entry)
        await self._policy.report_outcome(attempt.decision, result.status, result.why)
        if result.status == "refused":
            raise PreconditionFailure(result.why, result.text).build_error(attempt.correlation)
        return Outcome(
            status=result.status,
            why=result.why,
            text=result.text,
            correlation=attempt.correlation,
            key=delivery.key,
            pane=action.pane,
            bytes_sent=len(action.text.encode("utf-8", "replace")),
            lines=snapshot.view.lines,
            sent_at=result.submitted_at or now,
            channel=result.channel,
        )

    async def _type_or_prompt(
        self, delivery: DeliveryRecord, attempt: Attempt, action: SendText, snapshot: PaneSnapshot
    ) -> TypingResult:
        step_times: dict[DeliveryStep, int] = {}

        async def record_step(step: DeliveryStep) -> None:
            at = step_times[step] = self._clock.now()
            await self._store.deliveries.record_step(delivery.key, step, at)

        panes, pane, interaction = self._panes, delivery.pane, snapshot.interaction
        session_control = panes.get_session_control(pane) if can_send_natively(snapshot, action) else None
        try:
            if session_control is not None:
                result = await send_prompt(session_control, action.text, snapshot.pane_state.title, record_step)
                return replace(result, submitted_at=step_times.get("submitting", 0))
            typer = TextTyper(
                action,
                snapshot,
                into_prompt=attempt.preconditions.into == "prompt" and interaction is None,
                allows_typing_beside_people=attempt.decision.allows_typing_beside_people,
                panes=panes,
                clock=self._clock,
                record_step=record_step,
            )
            result = await typer.type_text()
            channel: AgentChannel | None = "keys" if interaction is not None else None
            return replace(result, channel=channel, submitted_at=step_times.get("submitting", 0))
        except asyncio.CancelledError:
            # The client disconnected while the text was being typed. Inspect the pane and log the outcome anyway.
            await self.resolve_interrupted(await self._store.deliveries.find_by_key(delivery.key) or delivery)
            raise

    async def find_by_key(self, action: Action, preconditions: Preconditions) -> Outcome | None:
        """Return the outcome of the first call with this idempotency key, or None."""
        if not (preconditions.key and isinstance(action, SendText)):
            return None
        previous = await self._store.deliveries.find_by_key(preconditions.key)
        if previous is None:
            return None
        return _replay_outcome(previous, hash_action(action, await self._panes.get_pane(action.pane)))

    async def resolve_interrupted(self, delivery: DeliveryRecord) -> None:
        """Log the outcome of an interrupted delivery, inferred from the pane."""
        result = await self._inspect_interrupted(delivery)
        entries = await self._store.audit.list(filters=AuditFilter(correlation=delivery.correlation))
        intent = next(entry for entry in reversed(entries) if entry.stage == "intent")
        entry = replace(intent, stage="outcome", at=self._clock.now(), outcome=result.status, why=result.why)
        await self._store.deliveries.end(delivery.key, result.status, result.why, entry)

    async def _inspect_interrupted(self, delivery: DeliveryRecord) -> TypingResult:
        is_submitting, line = delivery.step == "submitting", None
        try:
            snapshot = await self._panes.take_snapshot(delivery.pane, Preconditions())
            if is_submitting:
                # A command counts only with our nonce; which process printed it can no longer be found out.
                line = await self._panes.find_last_command_line(delivery.pane, delivery.step_at)
        except VisorError as error:
            # Without the pane nothing can be proven, and an unproven delivery is not reported as delivered.
            return TypingResult("unknown", "interrupted", f"the pane cannot be read: {error}")
        typed = snapshot.typed_input or input_line.read_program_input(snapshot.pane_state)
        if (
            typed is not None
            and self.is_text_of(delivery, typed.before)
            and not input_line.strip_decoration(typed.behind)
        ):
            return TypingResult("typed_not_submitted", "interrupted", "the text is in the input")
        if line is not None and self.is_text_of(delivery, line):
            return TypingResult("delivered", "interrupted", "the shell reported that it started this command")
        return TypingResult("unknown", "interrupted", "it is not known whether the program took the text")

    def is_text_of(self, delivery: DeliveryRecord, text: str) -> bool:
        return hash_text(text, self._hash_key) == delivery.text_hash


async def send_prompt(
    session_control: SessionControl, text: str, title: str, record_step: StepRecorder
) -> TypingResult:
    """Start a turn with the prompt ``text`` in the session shown by the pane titled ``title``.

    Never retries, because an unconfirmed prompt may have arrived.
    """
    await record_step("submitting")
    try:
        has_started = await session_control.send_prompt(text, title)
    except BadRequest as error:
        # The server reported that it started no turn, so nothing happened.
        return TypingResult("refused", "server_refused", f"the agent's server rejected it: {error.message}")
    except (TimedOut, Unavailable) as error:
        return TypingResult("unknown", "no_answer", f"the agent's server did not confirm it: {error.message}")
    if not has_started:
        return TypingResult("unknown", "not_confirmed", "the agent's server reported no new turn")
    return TypingResult("delivered", "turn_started", channel="native")


def _replay_outcome(previous: DeliveryRecord, action_hash: str) -> Outcome:
    """Return the outcome of the first call with the same key.

    Raises ``Conflict`` if the key belongs to another action, ``StaleSnapshot`` if the first call was refused.
    """
    if previous.action_hash != action_hash:
        hint = "Use a new key for every action."
        raise StateConflict(f"the key {previous.key!r} was already used for another action", hint=hint)
    if previous.status == "refused":
        details = {"outcome": "refused", "why": previous.why}
        raise StaleSnapshot(f"the first call with this key was refused: {previous.why}", details=details)
    return Outcome(
        status=previous.status or "unknown",
        why=previous.why or "under_way",
        correlation=previous.correlation,
        key=previous.key,
        pane=previous.pane,
        sent_at=previous.begun_at,
        is_repeated=True,
    )
