"""Declare and execute operations that act: shared arguments, preconditions, approval, dry run and result.

An acting operation builds a request, which `policy explain` and a dry run only show; the gate executes it.
"""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_args

from msgspec import Meta, Struct, structs

from termvisor.errors import NeedsApproval, find_error_class
from termvisor.model.action.action import Action
from termvisor.model.action.approval import PermitGrant, PolicyAnswer
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.agent.state import PRECEDENCE
from termvisor.model.terminal.pane import ActivityKind, PaneView
from termvisor.ops.agents._pane_agents import parse_state_names
from termvisor.ops.api.operation import CLI_FACES, PROGRAM_FACES, Operation
from termvisor.ops.api.services import Services
from termvisor.ops.approvals import _approval_item
from termvisor.ops.panes._pane_reference import PaneIdentity, identify_pane, resolve_pane
from termvisor.ops.render.action_text import describe_action, describe_caller, format_actor
from termvisor.ops.render.text import RenderOptions, sanitize
from termvisor.redaction import redact

REQUIRABLE_STATES: tuple[str, ...] = tuple(dict.fromkeys((*PRECEDENCE, *get_args(ActivityKind))))
"""The states of agents and the activities of panes."""
# What the caller approves in advance: nothing, this action, or this kind of action for the session.
ApprovalMode = Literal["none", "once", "session"]


IfRuntime = Annotated[
    int | None,
    Meta(
        description="Require this agent process: `runtime` of `visor status` and events.",
        extra={"form_doc": "Require this agent process (its `runtime`)."},
    ),
]
IfState = Annotated[
    str | None,
    Meta(
        description="Require one of these agent states (idle,completed) or activities (prompt, alt_screen).",
        extra={"form_doc": "Require one of these states (idle,completed) or activities (prompt)."},
    ),
]
IfUpdatedWithin = Annotated[
    Annotated[float, Meta(gt=0)] | None, Meta(description="Require output within this many seconds.")
]
IfScreen = Annotated[
    Annotated[str, Meta(min_length=1)] | None,
    Meta(description="Require this text, or /pattern/ between slashes, on the screen."),
]
IfPrompt = Annotated[bool, Meta(description="Require a shell at its prompt.")]
IfReady = Annotated[
    bool,
    Meta(
        description="Require that the program reported `ready` since its last command began.",
        extra={"form_doc": "Require that the program reported `ready`."},
    ),
]
IfTail = Annotated[
    Annotated[str, Meta(min_length=1)] | None, Meta(description="Require that the last lines match this pattern.")
]
Stable = Annotated[float, Meta(description="Require that they have not changed for this many seconds.", ge=0, le=3600)]


class ActionArgs(Struct, frozen=True, kw_only=True):
    """How the action is executed."""

    dry_run: Annotated[bool, Meta(description="Say what the call would do, and its exit status; execute nothing.")] = (
        False
    )
    yes: Annotated[
        bool,
        Meta(description="Approve the action, if it requires approval (terminal only).", extra={"faces": CLI_FACES}),
    ] = False
    yes_for_session: Annotated[
        bool,
        Meta(
            description="Like --yes, and for eight hours also what the request names: programs, folders, hosts.",
            extra={"faces": CLI_FACES},
        ),
    ] = False
    owner: Annotated[str, Meta(description="Owner of the reservation to act under; default: you.")] = ""
    override_reservation: Annotated[
        bool,
        Meta(
            description="Act although another caller reserved the pane (terminal only); logged.",
            extra={"faces": CLI_FACES},
        ),
    ] = False
    wait_answer_secs: Annotated[
        float, Meta(description="Wait this many seconds for approval, if required.", ge=0, le=86_400)
    ] = 0.0
    force_stale: Annotated[
        bool,
        Meta(
            description="Execute even if the pane's state is outdated or incomplete; logged.",
            extra={"faces": PROGRAM_FACES},
        ),
    ] = False


class PreconditionArgs(ActionArgs, frozen=True, kw_only=True):
    """Preconditions; if one fails, nothing is executed."""

    if_runtime: IfRuntime = None
    if_state: IfState = None
    if_updated_within: IfUpdatedWithin = None
    if_screen: IfScreen = None
    if_prompt: IfPrompt = False
    if_ready: IfReady = False
    if_tail: IfTail = None
    lines: Annotated[int, Meta(description="Number of last lines that --if-tail checks.", ge=1, le=1000)] = 5
    stable: Stable = 0.0


def get_approval_mode(args: ActionArgs) -> ApprovalMode:
    """Return how the caller approves in advance."""
    return "session" if args.yes_for_session else "once" if args.yes else "none"


def build_preconditions(args: ActionArgs) -> Preconditions:
    """Return the preconditions given by the arguments. Raises BadRequest for an unknown state."""
    preconditions = Preconditions(
        owner=args.owner,
        overrides_reservation=args.override_reservation,
        force_stale=args.force_stale,
        wait_for_answer=args.wait_answer_secs,
    )
    # Operations whose effect does not depend on what the pane shows offer no preconditions on it.
    if not isinstance(args, PreconditionArgs):
        return preconditions
    return add_guards(preconditions, args, args.lines)


def add_guards(preconditions: Preconditions, args: Any, tail_lines: int) -> Preconditions:
    """Return the preconditions with the conditions in the fields `if_…` and `stable` of the arguments."""
    return structs.replace(
        preconditions,
        runtime=args.if_runtime,
        states=frozenset() if args.if_state is None else parse_state_names(args.if_state, REQUIRABLE_STATES),
        updated_within=args.if_updated_within,
        screen=args.if_screen,
        at_prompt=args.if_prompt,
        is_ready=args.if_ready,
        tail=args.if_tail,
        tail_lines=tail_lines,
        stable_for=args.stable,
    )


ActionStatus = Literal[
    "done", "delivered", "queued", "typed_not_submitted", "unknown", "suppressed", "failed", "foreseen"
]


class ActionRequest(Struct, frozen=True, kw_only=True):
    """An action with its preconditions; ``pane`` is the resolved pane reference."""

    action: Action
    preconditions: Preconditions
    pane: PaneView | None = None


class DryRunResult(Struct, frozen=True, kw_only=True):
    """The policy's ``answer`` with its trace (``path``), and in ``refused`` the first failed precondition, or "".

    ``code`` is the error that the call would end with, and ``hint`` what to do then; empty if it would be executed.
    """

    what: str
    by: str
    answer: PolicyAnswer
    why: str
    path: tuple[str, ...]
    refused: str
    refused_why: str
    code: str = ""
    hint: str = ""


class ActionResult(Struct, frozen=True, kw_only=True):
    """Outcome of an action. ``why`` is a stable code; ``correlation`` identifies the action in the audit log.
    ``foreseen`` is set only by a dry run.
    """

    detail_fields: ClassVar[tuple[str, ...]] = ("correlation",)

    status: ActionStatus
    why: str = ""
    text: str = ""
    correlation: str = ""
    pane: PaneIdentity | None = None
    foreseen: DryRunResult | None = None


D = TypeVar("D", bound=ActionResult)
RequestBuilder = Callable[[Services, Any], Awaitable[ActionRequest]]
ActionExecutor = Callable[[Services, Any, ActionRequest], Awaitable[ActionResult]]


async def execute_and_report(services: Services, args: ActionArgs, request: ActionRequest) -> ActionResult:
    return (await execute_action(services, args, request))[0]


def declare_action(
    *, build_request: RequestBuilder, execute: ActionExecutor = execute_and_report, **declaration: Any
) -> Operation:
    """Declare an operation that executes the action of its request; ``declaration`` are other fields of `Operation`."""

    async def run(services: Services, args: Any) -> ActionResult:
        return await execute(services, args, await build_request(services, args))

    # Operations with their own result or text override these.
    defaults: dict[str, Any] = {
        "result_type": ActionResult,
        "render_text": render_action_result,
        "get_exit_status": get_exit_status,
    }
    return Operation(run=run, build_request=build_request, effect="change", **(defaults | declaration))


def build_on_pane(build_action: Callable[[PaneView, Any], Action]) -> RequestBuilder:
    """Return a function that builds the request for the pane named by ``args.pane``."""

    async def build_request(services: Services, args: Any) -> ActionRequest:
        pane = await resolve_pane(services, args.pane)
        return ActionRequest(action=build_action(pane, args), preconditions=build_preconditions(args), pane=pane)

    return build_request


async def execute_action(
    services: Services, args: ActionArgs, request: ActionRequest
) -> tuple[ActionResult, Outcome | None]:
    """Execute an action, or preview it on a dry run; a preview has no outcome."""
    pane = None if request.pane is None else identify_pane(request.pane)
    if not args.dry_run:
        outcome = await execute_with_approval(services, request, get_approval_mode(args))
        return build_action_result(outcome, pane), outcome
    # The real call would return this outcome, too, and do nothing.
    if (previous := await services.gate.find_repeated(request.action, request.preconditions)) is not None:
        return build_action_result(previous, pane), previous
    # The preview runs the same checks, but requests no approval, logs nothing and does not count against rate limits.
    foreseen = await dry_run_action(services, request)
    is_approved = get_approval_mode(args) != "none" and services.gate.actor.kind == "human"
    if foreseen.code == NeedsApproval.code and is_approved:
        foreseen = structs.replace(foreseen, code="", hint="")
    return ActionResult(status="foreseen", pane=pane, foreseen=foreseen), None


def build_action_result(outcome: Outcome, pane: PaneIdentity | None) -> ActionResult:
    return ActionResult(
        status=outcome.status, why=outcome.why, text=redact(outcome.text), correlation=outcome.correlation, pane=pane
    )


async def execute_with_approval(services: Services, request: ActionRequest, approval_mode: ApprovalMode) -> Outcome:
    """Execute an action; if it requires approval and the caller approved in advance, approve it and retry.

    Raises NeedsApproval for other callers, with the text of the request if the caller is a user.
    """
    gate, preconditions = services.gate, request.preconditions
    # The caller answers its own request, so there is nothing to wait for.
    if approval_mode != "none":
        preconditions = structs.replace(preconditions, wait_for_answer=0.0)
    try:
        return await gate.run(request.action, preconditions)
    # The request is open now. Only a user at a terminal may answer it in advance; for all other callers it waits in the
    # inbox, where a user decides.
    except NeedsApproval as error:
        approval_id = error.details.get("question")
        if gate.actor.kind != "human" or not isinstance(approval_id, int):
            raise
        if approval_mode == "none":
            # The user can answer immediately, so the error shows the whole request.
            raise await _add_approval_text(services, error, approval_id) from error
    # The approval is bound to this exact action: running it again finds the approval and executes it.
    await gate.approvals.answer(approval_id, "allow", PermitGrant() if approval_mode == "session" else None)
    return await gate.run(request.action, preconditions)


async def dry_run_action(services: Services, request: ActionRequest) -> DryRunResult:
    preview = await services.gate.preview(request.action, request.preconditions)
    return DryRunResult(
        what=describe_action(request.action),
        by=format_actor(services.gate.actor),
        answer=preview.verdict.answer,
        why=redact(preview.verdict.why),
        path=tuple(redact(line) for line in preview.path),
        refused=preview.refused,
        refused_why=redact(preview.refused_text),
        code=preview.code,
        hint=redact(preview.hint),
    )


async def preview_for_confirmation(services: Services, request: ActionRequest) -> str:
    """Return the action and the verdict on it, to be shown before the caller confirms."""
    return "\n".join(render_dry_run_lines(await dry_run_action(services, request), RenderOptions(), is_brief=True))


async def _add_approval_text(services: Services, error: NeedsApproval, approval_id: int) -> NeedsApproval:
    """Return the error with the text of the approval request, for display in a terminal."""
    approval = await services.gate.approvals.find(approval_id)
    if approval is None:
        return error
    lines = _approval_item.format_approval_lines(_approval_item.build_approval_item(approval, services.clock.now()))
    return NeedsApproval(error.message, hint=error.hint, details={**error.details, "shown": "\n".join(lines)})


def extend_result(result: ActionResult, result_type: type[D], **fields: object) -> D:
    """Return the result as a subclass, with additional fields."""
    return result_type(**{**structs.asdict(result), **fields})


def get_exit_status(result: ActionResult) -> int:
    """Return 6 if the action was executed but its effect could not be verified, for a dry run that of the real call."""
    if result.foreseen is not None and result.foreseen.code:
        return find_error_class(result.foreseen.code).exit_status
    return 6 if result.status == "unknown" else 0


def render_action_result(result: ActionResult, options: RenderOptions, done_text: str = "done") -> str:
    """Render a result; ``done_text`` describes the executed action."""
    if result.foreseen is not None:
        return "\n".join(render_dry_run_lines(result.foreseen, options, is_brief=True))
    styles = {"typed_not_submitted": "yellow", "unknown": "red"}
    text = f": {result.text}" if result.text else f" ({result.why})" if result.why else ""
    return options.paint(styles.get(result.status, ""), sanitize(done_text + text))


def render_dry_run_lines(dry_run: DryRunResult, options: RenderOptions, *, is_brief: bool = False) -> list[str]:
    """Render the verdict, its trace unless ``is_brief``, and the failed precondition."""
    styles = {"allow": "green", "ask": "yellow", "deny": "red"}
    head = f"{dry_run.what}, by {describe_caller(dry_run.by)}"
    lines = [sanitize(head), *(f"  {sanitize(line)}" for line in dry_run.path if not is_brief)]
    why = f": {dry_run.why}" if dry_run.why else ""
    lines.append(options.paint(styles[dry_run.answer], sanitize(f"policy: {dry_run.answer}{why}")))
    if dry_run.refused:
        lines.append(
            options.paint("red", sanitize(f"would not be executed: {dry_run.refused_why} ({dry_run.refused})"))
        )
    if dry_run.code and dry_run.hint:
        lines.append(sanitize(f"hint: {dry_run.hint}"))
    return lines
