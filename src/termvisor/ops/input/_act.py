"""How an op acts: through the door, with the question put to the person at the terminal where there is one."""

from typing import Literal, TypeVar

from msgspec import Struct, structs

from termvisor.errors import NeedsApproval
from termvisor.model.action.action import Action
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Terms
from termvisor.model.action.verdict import Answer
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.gate_service import ActingWorld, Foreseen
from termvisor.ops.approvals import _approval_item as asked
from termvisor.ops.input._preconditions import Acting, Consent, consent_of
from termvisor.ops.panes._listing import PaneIdentity, identity
from termvisor.ops.render.action_text import action_in_words, who
from termvisor.ops.render.text import Look, clean
from termvisor.redaction import redact

Status = Literal["done", "delivered", "typed_not_submitted", "unknown", "suppressed", "failed", "foreseen"]


class Wish(Struct, frozen=True, kw_only=True):
    """What an Input asks for; ``pane`` is the one it names, as it was found."""

    action: Action
    terms: Terms
    pane: PaneView | None = None


class Foretold(Struct, frozen=True, kw_only=True):
    """What would be said of it now: the policy's ``answer`` with its ``path``, and ``refused``, the first thing about
    the pane itself that speaks against it; empty when nothing does.
    """

    what: str
    by: str
    answer: Answer
    why: str
    path: tuple[str, ...]
    refused: str
    refused_why: str


class Deed(Struct, frozen=True, kw_only=True):
    """What came of it. ``why`` is a stable code; ``correlation`` finds the whole story in the audit. ``foreseen`` is
    all there is of a dry run.
    """

    status: Status
    why: str = ""
    text: str = ""
    correlation: str = ""
    pane: PaneIdentity | None = None
    foreseen: Foretold | None = None


D = TypeVar("D", bound=Deed)


async def carried_out(world: ActingWorld, wanted: Acting, wish: Wish) -> tuple[Deed, Outcome | None]:
    """The deed, or what is foreseen of it."""
    who_it_is = None if wish.pane is None else identity(wish.pane)
    if wanted.dry_run:
        return Deed(status="foreseen", pane=who_it_is, foreseen=await foretold(world, wish)), None
    outcome = await done(world, wish, consent_of(wanted))
    return deed_of(outcome, who_it_is), outcome


def deed_of(outcome: Outcome, pane: PaneIdentity | None) -> Deed:
    return Deed(
        status=outcome.status,
        why=outcome.why,
        text=redact(outcome.text),
        correlation=outcome.correlation,
        pane=pane,
    )


async def done(world: ActingWorld, wish: Wish, consent: Consent) -> Outcome:
    """Do it. Where a person must be asked and a person calls, they are asked here; their consent is their answer."""
    door = world.door
    terms = structs.replace(wish.terms, wait_for_answer=0.0) if consent != "none" else wish.terms
    try:
        return await door.do(wish.action, terms)
    except NeedsApproval as error:
        number = error.details.get("question")
        if door.actor.kind != "human" or not isinstance(number, int):
            raise
        if consent == "none":
            raise await _for_a_person(world, error, number) from error
    await door.inbox.answer(number, "allow", lasting=consent == "session")
    return await door.do(wish.action, terms)


async def foretold(world: ActingWorld, wish: Wish) -> Foretold:
    return _foretold(world, wish, await world.door.foresee(wish.action, wish.terms))


def _foretold(world: ActingWorld, wish: Wish, foreseen: Foreseen) -> Foretold:
    return Foretold(
        what=action_in_words(wish.action),
        by=who(world.door.actor),
        answer=foreseen.verdict.answer,
        why=redact(foreseen.verdict.why),
        path=tuple(redact(line) for line in foreseen.path),
        refused=foreseen.refused,
        refused_why=redact(foreseen.refused_text),
    )


async def _for_a_person(world: ActingWorld, error: NeedsApproval, number: int) -> NeedsApproval:
    """The same error with the question in it, which a terminal shows."""
    approval = await world.door.inbox.one(number)
    if approval is None:
        return error
    shown = "\n".join(asked.lines(asked.told(approval, world.clock.now())))
    return NeedsApproval(error.message, hint=error.hint, details={**error.details, "shown": shown})


def grown(deed: Deed, kind: type[D], **more: object) -> D:
    """A deed with what its own op adds."""
    return kind(**{**structs.asdict(deed), **more})


def said(deed: Deed, look: Look, words: str) -> str:
    """A deed for a person; ``words`` tell one that was done."""
    if deed.foreseen is not None:
        return "\n".join(foretold_lines(deed.foreseen, look))
    styles = {"typed_not_submitted": "yellow", "unknown": "red"}
    text = f": {deed.text}" if deed.text else f" ({deed.why})" if deed.why else ""
    return look.paint(styles.get(deed.status, ""), clean(words + text))


def foretold_lines(told: Foretold, look: Look, *, is_brief: bool = False) -> list[str]:
    """The verdict, unless brief the way to it, and what speaks against it in the pane."""
    styles = {"allow": "green", "ask": "yellow", "deny": "red"}
    head = f"{told.what}, by {told.by}"
    lines = [clean(head), *(f"  {clean(line)}" for line in told.path if not is_brief)]
    why = f": {told.why}" if told.why else ""
    lines.append(look.paint(styles[told.answer], clean(f"policy says {told.answer}{why}")))
    if told.refused:
        lines.append(look.paint("red", clean(f"nothing would be done: {told.refused_why} ({told.refused})")))
    return lines
