"""Answer an approval request with an edited text: close the request and send the new text as the person's own action.

The new text passes the policy like any action. Both share one correlation id, which the requesting caller gets too.
"""

from termvisor.errors import BadRequest, ConfirmationRequired, Conflict, Refused, VisorError
from termvisor.model.action.action import SendText
from termvisor.model.action.approval import MAX_SHOWN_CHARS, Approval
from termvisor.model.action.preconditions import Preconditions
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.input._execute_action import ActionRequest, ActionResult, build_action_result, execute_with_approval
from termvisor.ops.panes._listing import identify_pane
from termvisor.ops.panes._pane_reference import resolve_pane

_REDACTION_MARKER = "[redacted:"


async def send_edited_text(services: ActingServices, number: int, text: str) -> tuple[Approval, ActionResult]:
    """Return the closed approval request and the outcome of the new text.

    Raises BadRequest, Conflict or Refused, and leaves the request open, if the text cannot be sent.
    """
    approval = await _find_editable_approval(services, number)
    _check_text(approval, text)
    pane = await resolve_pane(services, str(approval.pane))
    action = SendText(
        pane=pane.id,
        text=text,
        enter=bool(approval.shown.get("enter", True)),
        into_screen=bool(approval.shown.get("into_screen", False)),
    )
    preconditions = Preconditions(into=approval.into, owner=approval.owner, correlation=approval.correlation)
    request = ActionRequest(action=action, preconditions=preconditions, pane=pane)
    await _check_policy(services, request, number)
    closed = await services.gate.approvals.answer(number, "edit")
    # The person who wrote the text needs no second request for it.
    outcome = await execute_with_approval(services, request, "once")
    return closed, build_action_result(outcome, identify_pane(pane))


async def _find_editable_approval(services: ActingServices, number: int) -> Approval:
    if services.gate.actor.kind != "human":
        raise Refused("approvals must come from an interactive terminal", hint=f"Run `visor approve {number}` there.")
    approval = await services.gate.approvals.find(number)
    if approval is None:
        raise BadRequest(f"approval request {number} not found", hint="`visor inbox` lists the open requests.")
    if approval.state != "open":
        raise Conflict(f"request {number} is already {approval.state}", hint="`visor inbox` lists the open requests.")
    if approval.kind != "send_text" or approval.pane is None:
        raise BadRequest(
            f"request {number} is not for sending text and cannot be edited",
            hint=f"Deny it with `visor deny {number}` and run your own command.",
        )
    return approval


def _check_text(approval: Approval, text: str) -> None:
    if not text:
        raise _build_missing_text_error(approval)
    if _REDACTION_MARKER in text:
        raise BadRequest("the text contains a redacted secret", hint="Replace [redacted:…] with its real value.")


def _build_missing_text_error(approval: Approval) -> VisorError:
    """Ask the client to open its editor with the stored text.

    A long text is stored only up to MAX_SHOWN_CHARS: editing that would silently cut it.
    """
    text = str(approval.shown.get("text", ""))
    hint = f"Pass the full text: `visor approve {approval.id} --edit <text>`."
    if len(text) > MAX_SHOWN_CHARS:
        return BadRequest("the text is too long to edit here", hint=hint)
    return ConfirmationRequired("the new text is missing", hint=hint, details={"editable": text})


async def _check_policy(services: ActingServices, request: ActionRequest, number: int) -> None:
    preview = await services.gate.preview(request.action, request.preconditions)
    is_denied = preview.verdict.answer == "deny"
    if is_denied or preview.refused:
        why = f"denied by policy: {preview.verdict.why}" if is_denied else preview.refused_text
        raise Refused(f"your text was not sent: {why}", hint=f"Request {number} is still open.")
