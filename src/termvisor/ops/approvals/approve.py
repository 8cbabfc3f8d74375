"""The operation `approve`: approve an approval request, or replace its text with an edited one.

An edited text closes the request and is sent as the person's own action, which passes the policy like any other. Both
share one correlation id, which the requesting caller gets too.
"""

import re
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from termvisor.errors import (
    BadRequest,
    ConfirmationRequired,
    Refused,
    StateConflict,
    VisorError,
    build_person_required_error,
)
from termvisor.model.action.action import SendText
from termvisor.model.action.approval import MAX_SHOWN_CHARS, Approval, PermitGrant
from termvisor.model.action.preconditions import Preconditions
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.approvals._answer import (
    RequestChoice,
    answer_requests,
    choose_requests,
    get_exit_status,
    parse_numbers,
)
from termvisor.ops.approvals._approval_item import (
    ApprovalItem,
    RequestId,
    UpToNumber,
    build_approval_item,
    describe_permit,
    format_answer,
)
from termvisor.ops.input._action_operation import (
    ActionRequest,
    ActionResult,
    build_action_result,
    execute_with_approval,
)
from termvisor.ops.panes._pane_reference import identify_pane, resolve_pane
from termvisor.ops.render.results import copy_fields
from termvisor.ops.render.text import RenderOptions, sanitize

_REDACTION_MARKER = "[redacted:"
_DURATION = re.compile(r"(\d+(?:\.\d+)?)([smhd])", re.ASCII)
_SECONDS_BY_UNIT = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
MAX_GRANT_S = 7 * 86_400.0


class ApproveArgs(Struct, frozen=True, kw_only=True):
    """Choose the approval requests and how to answer them. Without a number: the only open one."""

    requests: Annotated[
        str,
        Meta(description="Numbers in `visor inbox`; with --edit one, then the text.", extra={"positional": "rest"}),
    ] = ""
    id: RequestId = None
    text: Annotated[str, Meta(description="With --edit: the text to send instead, for programs.")] = ""
    pane: Annotated[str, Meta(description="All open requests that concern this pane.")] = ""
    all: Annotated[bool, Meta(description="All open requests; lists them and asks first.")] = False
    up_to: UpToNumber = None
    yes: Annotated[bool, Meta(description="With --all: do not ask.")] = False
    session: Annotated[
        bool, Meta(description="Also grant the caller what the request names: its programs, folders and hosts.")
    ] = False
    category: Annotated[
        bool, Meta(description="Like --session, but grant the whole categories: shell, filesystem, network, …")
    ] = False
    lasting: Annotated[
        str, Meta(description="With --session or --category: how long, such as 30m or 2h.", extra={"also": ("--for",)})
    ] = "8h"
    after: Annotated[
        int | None, Meta(description="Allow it only after this approved request was executed: a plan, in order.")
    ] = None
    edit: Annotated[
        bool, Meta(description="Send another text instead: the words that follow, or the text from your editor.")
    ] = False


class ApproveResult(ApprovalItem, frozen=True, kw_only=True):
    """``instead`` is the outcome of the edited text, ``granted`` the permit that was given, in words. ``more`` are the
    other requests that were answered by the same call.
    """

    instead: ActionResult | None = None
    granted: str = ""
    permit_id: int | None = None
    more: tuple["ApproveResult", ...] = ()


async def run(services: Services, args: ApproveArgs) -> ApproveResult:
    grants = args.session or args.category
    if args.edit:
        if grants or args.after is not None:
            raise BadRequest("--session and --edit cannot be combined", hint="Pass only one of them.")
        word, _, rest = args.requests.partition(" ")
        (number,) = parse_numbers(args.id, "" if args.id else word) or (None,)
        if number is None:
            raise BadRequest("--edit needs the number of the request", hint="`visor inbox` shows it.")
        closed, outcome = await send_edited_text(services, number, args.text or (args.requests if args.id else rest))
        return _build_result(services, closed, outcome)
    numbers = await choose_requests(services, _build_choice(args))
    grant = PermitGrant(_parse_duration(args.lasting), args.category) if grants else None
    answered = await answer_requests(
        services, numbers, lambda number: services.gate.approvals.answer(number, "allow", grant, after=args.after)
    )
    first, *more = [_build_result(services, approval) for approval in answered]
    return replace(first, more=tuple(more))


def _build_choice(args: ApproveArgs) -> RequestChoice:
    return RequestChoice(
        numbers=parse_numbers(args.id, args.requests),
        pane=args.pane,
        all=args.all,
        up_to=args.up_to,
        is_confirmed=args.yes,
        verb="approve",
    )


def _parse_duration(text: str) -> float:
    match = _DURATION.fullmatch(text)
    seconds = float(match[1]) * _SECONDS_BY_UNIT[match[2]] if match else 0.0
    if not 0 < seconds <= MAX_GRANT_S:
        raise BadRequest(f"{text[:40]!r} is not a duration of at most 7 days", hint="For example --for 2h.")
    return seconds


def _build_result(services: Services, approval: Approval, instead: ActionResult | None = None) -> ApproveResult:
    item = build_approval_item(approval, services.clock.now())
    permit = approval.permit
    granted = "" if permit is None else describe_permit(permit)
    permit_id = None if permit is None else permit.id
    return copy_fields(ApproveResult, item, instead=instead, granted=granted, permit_id=permit_id)


async def send_edited_text(services: Services, number: int, text: str) -> tuple[Approval, ActionResult]:
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
    # Checked before the request is closed, so that the person can still answer differently if the text is denied.
    await _check_policy(services, request, number)
    closed = await services.gate.approvals.answer(number, "edit")
    # The person who wrote the text needs no second request for it.
    outcome = await execute_with_approval(services, request, "once")
    return closed, build_action_result(outcome, identify_pane(pane))


async def _find_editable_approval(services: Services, number: int) -> Approval:
    if services.gate.actor.kind != "human":
        raise build_person_required_error("approvals", services.gate.actor.doubt, f"visor approve {number} --edit")
    approval = await services.gate.approvals.find(number)
    if approval is None:
        raise BadRequest(f"approval request {number} not found", hint="`visor inbox` lists the open requests.")
    if approval.state != "open":
        raise StateConflict(
            f"request {number} is already {approval.state}", hint="`visor inbox` lists the open requests."
        )
    if approval.kind != "send_text" or approval.pane is None:
        raise BadRequest(
            f"request {number} does not send text, so it cannot be edited",
            hint=f"Deny it with `visor deny {number}` and run your own command.",
        )
    return approval


def _check_text(approval: Approval, text: str) -> None:
    if not text:
        raise _build_missing_text_error(approval)
    # The editor shows the stored text, in which secrets are redacted; the marker would be typed literally.
    if _REDACTION_MARKER in text:
        raise BadRequest("the text contains a redacted secret", hint="Replace [redacted:…] with its real value.")


def _build_missing_text_error(approval: Approval) -> VisorError:
    """Ask the client to open its editor with the stored text.

    A long text is stored only up to MAX_SHOWN_CHARS, so editing it here would silently truncate it.
    """
    text = str(approval.shown.get("text", ""))
    hint = f"Pass the full text: `visor approve {approval.id} --edit <text>`."
    if len(text) > MAX_SHOWN_CHARS:
        return BadRequest("the text is too long to edit here", hint=hint)
    return ConfirmationRequired("the new text is missing", hint=hint, details={"editable": text})


async def _check_policy(services: Services, request: ActionRequest, number: int) -> None:
    preview = await services.gate.preview(request.action, request.preconditions)
    is_denied = preview.verdict.answer == "deny"
    if is_denied or preview.refused:
        why = f"denied by policy: {preview.verdict.why}" if is_denied else preview.refused_text
        raise Refused(f"your text was not sent: {why}", hint=f"Request {number} is still open.")


def render_text(result: ApproveResult, options: RenderOptions) -> str:
    return "\n".join(_format_result(one) for one in (result, *result.more))


def _format_result(result: ApproveResult) -> str:
    if result.instead is not None:
        return sanitize(
            f"request {result.id} edited; your text: {result.instead.status} {result.instead.text}".rstrip()
        )
    if result.state == "open" and not result.outcome:
        return f"request {result.id} has {result.answers} of {result.needs} approvals; another person must approve it"
    lines = [format_answer(result)]
    if result.state == "allowed":
        is_agent = result.kind == "answer_agent"
        reason = "its dialog was not seen again yet" if is_agent else "its caller does not wait and must call again"
        lines.append(f"  not executed yet: {reason}")
    if result.granted:
        lines.append(sanitize(f"permit {result.permit_id}: {result.granted}"))
        lines.append(f"`visor revoke-permit {result.permit_id}` ends it earlier.")
    return "\n".join(lines)


OP = Operation(
    name="approve",
    robot_name="approve",
    summary="Approve approval requests in the inbox.",
    doc="""`approve 10 11` answers several, `--pane 7` those of a pane, `--all` all after it has listed them and asked;
without a number it answers the only open one. If the caller or the agent waits, the answer shows the outcome.

An approval is valid for this one action, once, until it expires; the waiting caller executes it now, or when
it calls again. `--session` also gives the caller a permit for the kind of action and the pane of the request, and for
exactly the programs, folders and hosts that the request names (`grants`); `--category` for whole categories of them.
`visor permits` lists them. No permit covers a deny, or a command of a class that is asked about, such as `sudo`: such a
request can be approved once only. `--after 3` makes an ordered plan of single approvals. A program cannot approve its
own request: answers from the same pane or process are refused.

Only a person may approve: a caller of the command line whose process has a terminal of its own, and which no agent
started, as far as the system shows: by its ancestors, its session, its environment or the time of its start. Where the
output goes makes no difference. What cannot be proven is refused with the reason; run the command in another terminal.

`--edit` sends another text instead, as your own action and checked by the policy; the requested one is not executed.
The request is closed as `edited`; the waiting caller gets `policy_denied` with `details.why` `edited` and the
correlation id of your action in the audit log. Without a text your editor opens: VISUAL, EDITOR, or one line.""",
    run=run,
    render_text=render_text,
    effect="change",
    accepts_text_input=True,
    get_exit_status=get_exit_status,
    exit_statuses=(
        (75, "The request is no longer open."),
        (77, "The request came from this pane, or you are not at an interactive terminal."),
    ),
    examples=(
        OperationExample("approve 3", "approve once"),
        OperationExample("approve 10 11", "approve two requests"),
        OperationExample("approve --all", "list all open requests, ask, then approve them"),
        OperationExample("approve 3 --session --for 2h", "also grant what the request names, for two hours"),
        OperationExample("approve 4 --after 3", "allow it once, after request 3 was executed"),
        OperationExample("approve 3 --edit make test", "send this text instead"),
    ),
)
