"""A person answers a question with another text: the question is closed, and their own text is judged from the start.

Both are one story with one correlation id, which the caller who asked gets too.
"""

from termvisor.errors import BadRequest, ConfirmationRequired, Conflict, Refused, VisorError
from termvisor.model.action.action import SendText
from termvisor.model.action.approval import MAX_SHOWN_CHARS, Approval
from termvisor.model.action.preconditions import Preconditions
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.input._execute_action import ActionRequest, ActionResult, build_action_result, execute_with_approval
from termvisor.ops.panes._listing import identify_pane, resolve_pane

_REDACTION_MARKER = "[redacted:"


async def send_edited_text(services: ActingServices, number: int, text: str) -> tuple[Approval, ActionResult]:
    """The question as it was closed, and what came of the text. What cannot be done leaves the question open."""
    known = await _find_editable_approval(services, number)
    _check_text(known, text)
    pane = await resolve_pane(services, str(known.pane))
    action = SendText(
        pane=pane.id,
        text=text,
        enter=bool(known.shown.get("enter", True)),
        into_screen=bool(known.shown.get("into_screen", False)),
    )
    terms = Preconditions(into=known.into, owner=known.owner, correlation=known.correlation)
    wish = ActionRequest(action=action, preconditions=terms, pane=pane)
    await _check_policy(services, wish, number)
    closed = await services.gate.approvals.answer(number, "edit")
    outcome = await execute_with_approval(services, wish, "once")  # who wrote the text has seen it
    return closed, build_action_result(outcome, identify_pane(pane))


async def _find_editable_approval(services: ActingServices, number: int) -> Approval:
    if services.gate.actor.kind != "human":
        raise Refused("only a person may change what is asked", hint="Do it at a terminal.")
    known = await services.gate.approvals.find(number)
    if known is None:
        raise BadRequest(f"there is no question {number}", hint="`visor inbox` lists the open ones.")
    if known.state != "open":
        raise Conflict(f"question {number} is {known.state}", hint="`visor inbox` lists the open ones.")
    if known.kind != "send_text" or known.pane is None:
        raise BadRequest("only a text to type can be edited", hint=f"`visor deny {number}`, then do it your way.")
    return known


def _check_text(approval: Approval, text: str) -> None:
    if not text:
        raise _build_missing_text_error(approval)
    if _REDACTION_MARKER in text:
        raise BadRequest("a secret in the text is masked", hint="Write out what stands in [redacted:…].")


def _build_missing_text_error(approval: Approval) -> VisorError:
    """At a terminal the text is edited; what is on record of it is without secrets, and of a long one the beginning."""
    text = str(approval.shown.get("text", ""))
    hint = f"`visor approve {approval.id} --edit <the whole text>`"
    if len(text) > MAX_SHOWN_CHARS:
        return BadRequest("the text is too long to be edited here", hint=hint)
    return ConfirmationRequired("the text to type instead is missing", hint=hint, details={"editable": text})


async def _check_policy(services: ActingServices, request: ActionRequest, number: int) -> None:
    foreseen = await services.gate.preview(request.action, request.preconditions)
    is_denied = foreseen.verdict.answer == "deny"
    if is_denied or foreseen.refused:
        why = f"the policy says no: {foreseen.verdict.why}" if is_denied else foreseen.refused_text
        raise Refused(f"your text would not be typed: {why}", hint=f"Question {number} is still open.")
