"""Execute an action through the gate, with interactive approval for users at a terminal."""

from typing import Literal, TypeVar

from msgspec import Struct, structs

from termvisor.errors import NeedsApproval
from termvisor.model.action.action import Action
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.action.verdict import PolicyAnswer
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.approvals import _approval_item
from termvisor.ops.input._action_args import ActionArgs, ApprovalMode, get_approval_mode
from termvisor.ops.panes._listing import PaneIdentity, identify_pane
from termvisor.ops.render.action_text import describe_action, format_actor
from termvisor.ops.render.text import RenderOptions, sanitize
from termvisor.redaction import redact

ActionStatus = Literal["done", "delivered", "typed_not_submitted", "unknown", "suppressed", "failed", "foreseen"]


class ActionRequest(Struct, frozen=True, kw_only=True):
    """An action with its preconditions; ``pane`` is the resolved pane reference."""

    action: Action
    preconditions: Preconditions
    pane: PaneView | None = None


class DryRunResult(Struct, frozen=True, kw_only=True):
    """The policy's ``answer`` with its trace (``path``), and in ``refused`` the first failed precondition, or ""."""

    what: str
    by: str
    answer: PolicyAnswer
    why: str
    path: tuple[str, ...]
    refused: str
    refused_why: str


class ActionResult(Struct, frozen=True, kw_only=True):
    """Outcome of an action. ``why`` is a stable code; ``correlation`` identifies the action in the audit log.
    ``foreseen`` is set only by a dry run.
    """

    status: ActionStatus
    why: str = ""
    text: str = ""
    correlation: str = ""
    pane: PaneIdentity | None = None
    foreseen: DryRunResult | None = None


D = TypeVar("D", bound=ActionResult)


async def execute_action(
    services: ActingServices, args: ActionArgs, request: ActionRequest
) -> tuple[ActionResult, Outcome | None]:
    """Execute an action, or preview it on a dry run; a preview has no outcome."""
    pane = None if request.pane is None else identify_pane(request.pane)
    if args.dry_run:
        return ActionResult(status="foreseen", pane=pane, foreseen=await dry_run_action(services, request)), None
    outcome = await execute_with_approval(services, request, get_approval_mode(args))
    return build_action_result(outcome, pane), outcome


def build_action_result(outcome: Outcome, pane: PaneIdentity | None) -> ActionResult:
    return ActionResult(
        status=outcome.status,
        why=outcome.why,
        text=redact(outcome.text),
        correlation=outcome.correlation,
        pane=pane,
    )


async def execute_with_approval(
    services: ActingServices, request: ActionRequest, approval_mode: ApprovalMode
) -> Outcome:
    """Execute an action; if it requires approval and the caller approved in advance, approve it and retry.

    Raises NeedsApproval for other callers, with the text of the request if the caller is a user.
    """
    gate, preconditions = services.gate, request.preconditions
    if approval_mode != "none":  # the caller itself answers, so there is nothing to wait for
        preconditions = structs.replace(preconditions, wait_for_answer=0.0)
    try:
        return await gate.run(request.action, preconditions)
    except NeedsApproval as error:
        approval_id = error.details.get("question")
        if gate.actor.kind != "human" or not isinstance(approval_id, int):
            raise
        if approval_mode == "none":
            raise await _add_approval_text(services, error, approval_id) from error
    await gate.approvals.answer(approval_id, "allow", is_lasting=approval_mode == "session")
    return await gate.run(request.action, preconditions)


async def dry_run_action(services: ActingServices, request: ActionRequest) -> DryRunResult:
    preview = await services.gate.preview(request.action, request.preconditions)
    return DryRunResult(
        what=describe_action(request.action),
        by=format_actor(services.gate.actor),
        answer=preview.verdict.answer,
        why=redact(preview.verdict.why),
        path=tuple(redact(line) for line in preview.path),
        refused=preview.refused,
        refused_why=redact(preview.refused_text),
    )


async def _add_approval_text(services: ActingServices, error: NeedsApproval, approval_id: int) -> NeedsApproval:
    """Return the error with the text of the approval request, for display in a terminal."""
    approval = await services.gate.approvals.find(approval_id)
    if approval is None:
        return error
    lines = _approval_item.format_approval_lines(_approval_item.build_approval_item(approval, services.clock.now()))
    return NeedsApproval(error.message, hint=error.hint, details={**error.details, "shown": "\n".join(lines)})


def extend_result(result: ActionResult, result_type: type[D], **fields: object) -> D:
    """Return the result as a subclass, with additional fields."""
    return result_type(**{**structs.asdict(result), **fields})


def render_action_result(result: ActionResult, options: RenderOptions, done_text: str) -> str:
    """Render a result; ``done_text`` describes the executed action."""
    if result.foreseen is not None:
        return "\n".join(render_dry_run_lines(result.foreseen, options))
    styles = {"typed_not_submitted": "yellow", "unknown": "red"}
    text = f": {result.text}" if result.text else f" ({result.why})" if result.why else ""
    return options.paint(styles.get(result.status, ""), sanitize(done_text + text))


def render_dry_run_lines(dry_run: DryRunResult, options: RenderOptions, *, is_brief: bool = False) -> list[str]:
    """Render the verdict, its trace unless ``is_brief``, and the failed precondition."""
    styles = {"allow": "green", "ask": "yellow", "deny": "red"}
    head = f"{dry_run.what}, by {dry_run.by}"
    lines = [sanitize(head), *(f"  {sanitize(line)}" for line in dry_run.path if not is_brief)]
    why = f": {dry_run.why}" if dry_run.why else ""
    lines.append(options.paint(styles[dry_run.answer], sanitize(f"policy: {dry_run.answer}{why}")))
    if dry_run.refused:
        lines.append(
            options.paint("red", sanitize(f"would not be executed: {dry_run.refused_why} ({dry_run.refused})"))
        )
    return lines
