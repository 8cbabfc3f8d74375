"""Acts of runs: through the gate, each with a key made of the run, the step and the attempt.

Invariant: an act is tried only where the record shows that this attempt did not begin. After a crash its outcome is
looked up; what is not known stays `unknown` and is never done again.
"""

import os
from collections.abc import Sequence

from msgspec.structs import replace

from termvisor.errors import Conflict, MuxError, NeedsApproval, NotDone, NotFound, Refused, StorageError, VisorError
from termvisor.model.action.action import Action, Actor, AskPerson, Notify, SendKeys, SendText, Spawn, risk_of
from termvisor.model.action.audit import AuditEntry
from termvisor.model.action.delivery import Send
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Terms
from termvisor.model.terminal.pane import PaneView
from termvisor.model.workflow.run import Mode, Run
from termvisor.workflows.calls import Act, Answer, Ask, Deed, Press, SendTo, Start, Tell, Wish
from termvisor.workflows.engine.journaled_calls import Going, left
from termvisor.workflows.engine.services import Hands, Modes, Sight, Words
from termvisor.workflows.steps.race import race

_FOR_A_DAY = 86_400.0
"""A question's own expiry, which the policy sets, ends the waiting for it."""
_STRICTNESS: tuple[Mode, ...] = ("on", "ask", "off")


class Deeds:
    def __init__(self, hands: Hands, sight: Sight, words: Words, modes: Modes):
        self._hands, self._sight, self._words, self._modes = hands, sight, words, modes

    async def act(self, call: Act, going: Going) -> Deed:
        run, correlation = going.run, correlation_of(going)
        if going.is_resumed and (earlier := await self._earlier(correlation)) is not None:
            return replace(earlier, at=going.step.at)
        mode = self.mode(run)
        if mode == "off":
            raise NotDone(f"{run.workflow} is switched off", details={"status": "denied", "why": "switched_off"})
        action, terms = await self.prepared(run, call)
        terms = _keyed(terms, correlation, asks=mode == "ask" and is_asked(action))
        try:
            outcome = await self._hands.do(action, actor_of(run), terms)
        except (NotFound, StorageError):
            raise
        except VisorError as error:
            raise _not_done(error) from error
        if outcome.status == "failed":
            raise _undone(outcome.status, outcome.why)
        return replace(_deed(outcome, correlation), at=going.step.at)

    async def prepared(self, run: Run, call: Act) -> tuple[Action, Terms]:
        """The action that a call stands for in the pane as it is now."""
        if call.action is not None:
            return call.action, Terms()
        if call.wish is None or run.pane is None:
            raise NotDone("the run has no pane to act on", details={"status": "failed", "why": "no_pane"})
        view = await self._sight.view(run.pane)
        if view is None or view.gone_at is not None:
            raise NotFound(f"pane {run.pane} no longer exists")
        is_agent = isinstance(call.wish, SendTo) and bool((await self._sight.observe(run.pane, 0)).agent)
        return made(call.wish, view, is_agent=is_agent)

    def mode(self, run: Run) -> Mode:
        """A setting that became stricter holds at once; one that became milder is for later runs."""
        return max(run.mode, self._modes.of(run.workflow), key=_STRICTNESS.index)

    async def ask(self, call: Ask, going: Going, now: int) -> Answer:
        """By the inbox, or by a person's word to the run, whichever comes first."""
        correlation = correlation_of(going)
        patience = left(going, call.expires, now)
        came = await race(self._asked(call, going, patience), self._word(call, going))
        if came.why == "signal":
            await self._hands.withdraw(correlation)
        return came

    async def _asked(self, call: Ask, going: Going, patience: float) -> Answer:
        run, correlation = going.run, correlation_of(going)
        if going.is_resumed and (found := answered(await self._hands.story(correlation), call)) is not None:
            return found
        action = AskPerson(
            question=call.question,
            choices=call.choices,
            how=f"visor workflow signal {run.id} <choice>",
            pane=run.pane,
            request=correlation,
        )
        terms = Terms(correlation=correlation, asks=True, wait_for_answer=patience)
        try:
            await self._hands.do(action, actor_of(run), terms)
        except (Refused, NeedsApproval) as error:
            said = str(error.details.get("why", "expired"))
            return Answer(choice=call.choices[-1] if said == "denied" else "", why=said)
        return Answer(choice=call.choices[0], why="allowed")

    async def _word(self, call: Ask, going: Going) -> Answer:
        with self._words.news() as news:
            while True:
                for signal in await self._words.said(going.run.id):
                    if signal.at >= going.step.at and signal.word in call.choices and signal.by.startswith("human"):
                        return Answer(choice=signal.word, why="signal")
                await news.get()

    async def _earlier(self, correlation: str) -> Deed | None:
        """What is on record of this attempt; None where it did not begin."""
        send = await self._hands.send(correlation)
        return came_of(await self._hands.story(correlation), send, correlation)


def correlation_of(going: Going) -> str:
    """One act's story in the audit, and its key: it begins with that of the run."""
    return f"{story_of(going.run)}.{going.step.number}.{going.step.attempt}"


def story_of(run: Run) -> str:
    """What the correlations of all its acts begin with."""
    return f"{run.correlation}.{run.id}"


def actor_of(run: Run) -> Actor:
    return Actor(kind="workflow", name=run.workflow, uid=os.getuid(), pid=os.getpid())


def is_asked(action: Action) -> bool:
    """What a run that asks asks about: all that is more than a look or a word to a person."""
    return risk_of(action) not in ("look", "reversible") and not isinstance(action, Notify)


def made(wish: Wish, view: PaneView, *, is_agent: bool) -> tuple[Action, Terms]:
    """A text goes to the agent's own input, or to a shell at its prompt; never to a program that nobody knows."""
    if isinstance(wish, SendTo):
        text = SendText(pane=view.id, text=wish.text, enter=wish.enter, into_screen=is_agent and view.facts.alternate)
        return text, Terms(into="program" if is_agent else "prompt", is_input_empty=is_agent)
    if isinstance(wish, Press):
        return SendKeys(pane=view.id, keys=wish.keys), Terms()
    if isinstance(wish, Tell):
        return Notify(title=wish.title, text=wish.text, pane=view.id, way=wish.way), Terms()
    return _spawn(wish, view), Terms()


def _spawn(wish: Start, view: PaneView) -> Spawn:
    return Spawn(
        where=wish.where,
        server=view.instance.server.socket,
        session=view.facts.session_id or view.facts.session_name if wish.where == "window" else "",
        beside=view.id if wish.where == "pane" else None,
        command=wish.command,
        cwd=wish.cwd or view.facts.cwd,
        env=wish.env,
        name=wish.name,
        account=wish.account,
        keeps_failure=wish.keeps_failure,
    )


def came_of(story: Sequence[AuditEntry], send: Send | None, correlation: str) -> Deed | None:
    """What the record says of an attempt: done, not done (raised), `unknown`, or nothing. Pure."""
    if send is not None and send.status != "refused":
        return Deed(status=send.status or "unknown", why=send.why or "interrupted", correlation=correlation)
    ended = next((entry for entry in reversed(story) if entry.stage == "outcome"), None)
    if ended is not None:
        if ended.outcome in ("denied", "refused", "failed"):
            raise _undone(ended.outcome, ended.why)
        return Deed(status=ended.outcome, why=ended.why, correlation=correlation)
    if any(entry.stage == "intent" for entry in story):
        return Deed(status="unknown", why="interrupted", correlation=correlation)
    if any(entry.stage == "answered" and entry.outcome == "deny" for entry in story):
        raise NotDone("a person said no", details={"status": "denied", "why": "denied"})
    return None


def answered(story: Sequence[AuditEntry], call: Ask) -> Answer | None:
    """What a person said before the daemon ended, if they did. Pure."""
    said = next((entry.outcome for entry in reversed(story) if entry.stage == "answered"), "")
    choices = {"allow": call.choices[0], "deny": call.choices[-1]}
    return Answer(choice=choices[said], why="allowed" if said == "allow" else "denied") if said in choices else None


def _keyed(terms: Terms, correlation: str, *, asks: bool) -> Terms:
    return replace(terms, key=correlation, correlation=correlation, asks=asks, wait_for_answer=_FOR_A_DAY)


def _deed(outcome: Outcome, correlation: str) -> Deed:
    return Deed(
        status=outcome.status,
        why=outcome.why,
        text=outcome.text,
        correlation=correlation,
        line=outcome.lines,
        mux_pane=outcome.mux_pane,
    )


def _undone(status: str, why: str) -> NotDone:
    """In the same words whether it was seen to fail or is looked up after a crash: only these are on record."""
    told = "it failed" if status == "failed" else f"it was {status}"
    return NotDone(f"{told}: {why}", details={"status": status, "why": why})


def _not_done(error: VisorError) -> NotDone:
    """Why nothing was done, in the gate's own words."""
    why = str(error.details.get("why", "") or error.code)
    if isinstance(error, Refused):
        status = "denied"
        why = "rate" if error.details.get("retry_at") else str(error.details.get("why", "policy"))
    elif isinstance(error, NeedsApproval):
        status, why = "expired", "expired"
    elif isinstance(error, MuxError):
        status, why = "failed", "mux_error"
    else:
        status = "refused" if isinstance(error, Conflict) else "failed"
    return NotDone(error.message, details={"status": status, "why": why, "question": error.details.get("question")})
