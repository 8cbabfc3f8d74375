"""How an op acts: through the door, with the question put to the person at the terminal where there is one."""

from typing import Literal, TypeVar

from msgspec import Struct, structs

from termvisor.errors import NeedsApproval
from termvisor.model.action.action import Action
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.action.verdict import PolicyAnswer
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.gate_service import ActingServices, GatePreview
from termvisor.ops.approvals import _approval_item
from termvisor.ops.input._action_args import ActionArgs, ApprovalMode, get_approval_mode
from termvisor.ops.panes._listing import PaneIdentity, identify_pane
from termvisor.ops.render.action_text import describe_action, format_actor
from termvisor.ops.render.text import RenderOptions, sanitize
from termvisor.redaction import redact

ActionStatus = Literal["done", "delivered", "typed_not_submitted", "unknown", "suppressed", "failed", "foreseen"]


class ActionRequest(Struct, frozen=True, kw_only=True):
    """What an Input asks for; ``pane`` is the one it names, as it was found."""

    action: Action
    preconditions: Preconditions
    pane: PaneView | None = None


class DryRunResult(Struct, frozen=True, kw_only=True):
    """What would be said of it now: the policy's ``answer`` with its ``path``, and ``refused``, the first thing about
    the pane itself that speaks against it; empty when nothing does.
    """

    what: str
    by: str
    answer: PolicyAnswer
    why: str
    path: tuple[str, ...]
    refused: str
    refused_why: str


class ActionResult(Struct, frozen=True, kw_only=True):
    """What came of it. ``why`` is a stable code; ``correlation`` finds the whole story in the audit. ``foreseen`` is
    all there is of a dry run.
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
    """The deed, or what is foreseen of it."""
    who_it_is = None if request.pane is None else identify_pane(request.pane)
    if args.dry_run:
        return ActionResult(status="foreseen", pane=who_it_is, foreseen=await dry_run_action(services, request)), None
    outcome = await execute_with_approval(services, request, get_approval_mode(args))
    return build_action_result(outcome, who_it_is), outcome


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
    """Do it. Where a person must be asked and a person calls, they are asked here; their consent is their answer."""
    door = services.gate
    terms = (
        structs.replace(request.preconditions, wait_for_answer=0.0)
        if approval_mode != "none"
        else request.preconditions
    )
    try:
        return await door.run(request.action, terms)
    except NeedsApproval as error:
        number = error.details.get("question")
        if door.actor.kind != "human" or not isinstance(number, int):
            raise
        if approval_mode == "none":
            raise await _add_approval_text(services, error, number) from error
    await door.approvals.answer(number, "allow", is_lasting=approval_mode == "session")
    return await door.run(request.action, terms)


async def dry_run_action(services: ActingServices, request: ActionRequest) -> DryRunResult:
    return _build_dry_run_result(services, request, await services.gate.preview(request.action, request.preconditions))


def _build_dry_run_result(services: ActingServices, request: ActionRequest, preview: GatePreview) -> DryRunResult:
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
    """The same error with the question in it, which a terminal shows."""
    approval = await services.gate.approvals.find(approval_id)
    if approval is None:
        return error
    shown = "\n".join(
        _approval_item.format_approval_lines(_approval_item.build_approval_item(approval, services.clock.now()))
    )
    return NeedsApproval(error.message, hint=error.hint, details={**error.details, "shown": shown})


def extend_result(result: ActionResult, result_type: type[D], **fields: object) -> D:
    """A deed with what its own op adds."""
    return result_type(**{**structs.asdict(result), **fields})


def render_action_result(result: ActionResult, options: RenderOptions, done_text: str) -> str:
    """A deed for a person; ``words`` tell one that was done."""
    if result.foreseen is not None:
        return "\n".join(render_dry_run_lines(result.foreseen, options))
    styles = {"typed_not_submitted": "yellow", "unknown": "red"}
    text = f": {result.text}" if result.text else f" ({result.why})" if result.why else ""
    return options.paint(styles.get(result.status, ""), sanitize(done_text + text))


def render_dry_run_lines(dry_run: DryRunResult, options: RenderOptions, *, is_brief: bool = False) -> list[str]:
    """The verdict, unless brief the way to it, and what speaks against it in the pane."""
    styles = {"allow": "green", "ask": "yellow", "deny": "red"}
    head = f"{dry_run.what}, by {dry_run.by}"
    lines = [sanitize(head), *(f"  {sanitize(line)}" for line in dry_run.path if not is_brief)]
    why = f": {dry_run.why}" if dry_run.why else ""
    lines.append(options.paint(styles[dry_run.answer], sanitize(f"policy says {dry_run.answer}{why}")))
    if dry_run.refused:
        lines.append(
            options.paint("red", sanitize(f"nothing would be done: {dry_run.refused_why} ({dry_run.refused})"))
        )
    return lines
