"""A person answers a question with another text: the question is closed, and their own text is judged from the start.

Both are one story with one correlation id, which the caller who asked gets too.
"""

from termvisor.errors import BadRequest, Conflict, Refused, Unconfirmed, VisorError
from termvisor.model.action.action import SendText
from termvisor.model.action.approval import SHOWN, Approval
from termvisor.model.action.preconditions import Terms
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.input._act import Deed, Wish, deed_of, done
from termvisor.ops.panes._listing import identity, named

_MASKED = "[redacted:"


async def done_instead(world: ActingWorld, number: int, text: str) -> tuple[Approval, Deed]:
    """The question as it was closed, and what came of the text. What cannot be done leaves the question open."""
    known = await _editable(world, number)
    _check(known, text)
    pane = await named(world, str(known.pane))
    action = SendText(
        pane=pane.id,
        text=text,
        enter=bool(known.shown.get("enter", True)),
        into_screen=bool(known.shown.get("into_screen", False)),
    )
    terms = Terms(into=known.into, owner=known.owner, correlation=known.correlation)
    wish = Wish(action=action, terms=terms, pane=pane)
    await _foresee(world, wish, number)
    closed = await world.door.inbox.answer(number, "edit")
    outcome = await done(world, wish, "once")  # who wrote the text has seen it
    return closed, deed_of(outcome, identity(pane))


async def _editable(world: ActingWorld, number: int) -> Approval:
    if world.door.actor.kind != "human":
        raise Refused("only a person may change what is asked", hint="Do it at a terminal.")
    known = await world.door.inbox.one(number)
    if known is None:
        raise BadRequest(f"there is no question {number}", hint="`visor inbox` lists the open ones.")
    if known.state != "open":
        raise Conflict(f"question {number} is {known.state}", hint="`visor inbox` lists the open ones.")
    if known.kind != "send_text" or known.pane is None:
        raise BadRequest("only a text to type can be edited", hint=f"`visor deny {number}`, then do it your way.")
    return known


def _check(known: Approval, text: str) -> None:
    if not text:
        raise _unwritten(known)
    if _MASKED in text:
        raise BadRequest("a secret in the text is masked", hint="Write out what stands in [redacted:…].")


def _unwritten(known: Approval) -> VisorError:
    """At a terminal the text is edited; what is on record of it is without secrets, and of a long one the beginning."""
    text = str(known.shown.get("text", ""))
    hint = f"`visor approve {known.id} --edit <the whole text>`"
    if len(text) > SHOWN:
        return BadRequest("the text is too long to be edited here", hint=hint)
    return Unconfirmed("the text to type instead is missing", hint=hint, details={"editable": text})


async def _foresee(world: ActingWorld, wish: Wish, number: int) -> None:
    foreseen = await world.door.foresee(wish.action, wish.terms)
    is_denied = foreseen.verdict.answer == "deny"
    if is_denied or foreseen.refused:
        why = f"the policy says no: {foreseen.verdict.why}" if is_denied else foreseen.refused_text
        raise Refused(f"your text would not be typed: {why}", hint=f"Question {number} is still open.")
