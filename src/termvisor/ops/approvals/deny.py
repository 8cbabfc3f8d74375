"""The operation `deny`: deny approval requests, and tell the agent why."""

from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from termvisor.errors import VisorError
from termvisor.model.action.action import SendText
from termvisor.model.action.approval import Approval, ApprovalAnswer
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
    format_answer,
)
from termvisor.ops.input._action_operation import ActionRequest, execute_with_approval
from termvisor.ops.panes._pane_reference import resolve_pane
from termvisor.ops.render.results import copy_fields
from termvisor.ops.render.text import RenderOptions, sanitize
from termvisor.redaction import redact

# The agent shows its composer again a moment after its dialog was refused.
_COMPOSER_TIMEOUT_S = 10.0
_COMPOSER_POLL_S = 0.25
_RESTING_STATES = ("idle", "completed", "waiting_input", "error")
# How an answer reaches an agent without a message: keys on its dialog, and servers that take only a decision.
_WORDLESS_ANSWERS = ("dialog_left", "answered")


class DenyArgs(Struct, frozen=True, kw_only=True):
    """Choose the approval requests. Without a number: the only open one."""

    requests: Annotated[str, Meta(description="Numbers in `visor inbox`.", extra={"positional": "rest"})] = ""
    id: RequestId = None
    reason: Annotated[str, Meta(description="Why, for the caller: an agent reads it.", max_length=2000)] = ""
    pane: Annotated[str, Meta(description="All open requests that concern this pane.")] = ""
    all: Annotated[bool, Meta(description="All open requests; lists them and asks first.")] = False
    up_to: UpToNumber = None
    yes: Annotated[bool, Meta(description="With --all: do not ask.")] = False
    edited: Annotated[bool, Meta(description="Close it as edited: you run another command yourself.")] = False


class DenyResult(ApprovalItem, frozen=True, kw_only=True):
    """``told`` is how the reason reached the agent, empty if it did not. ``more`` are the other denied requests."""

    told: str = ""
    more: tuple["DenyResult", ...] = ()


async def run(services: Services, args: DenyArgs) -> DenyResult:
    choice = RequestChoice(
        numbers=parse_numbers(args.id, args.requests),
        pane=args.pane,
        all=args.all,
        up_to=args.up_to,
        is_confirmed=args.yes,
        verb="deny",
    )
    # `edit` informs the waiting caller that the user acts in its place.
    answer: ApprovalAnswer = "edit" if args.edited else "deny"
    denied = await answer_requests(
        services,
        await choose_requests(services, choice),
        lambda number: services.gate.approvals.answer(number, answer, reason=args.reason),
    )
    first, *more = [await _build_result(services, approval, args.reason) for approval in denied]
    return replace(first, more=tuple(more))


async def _build_result(services: Services, approval: Approval, reason: str) -> DenyResult:
    item = build_approval_item(approval, services.clock.now())
    told = await _send_reason(services, approval, reason) if reason and item.outcome == "done" else ""
    return copy_fields(DenyResult, item, told=sanitize(redact(told)))


async def _send_reason(services: Services, approval: Approval, reason: str) -> str:
    """Send the reason to an agent whose dialog took only the denial; return how the agent got it."""
    outcome = approval.outcome
    if approval.kind != "answer_agent" or approval.pane is None or outcome is None:
        return ""
    if outcome.why not in _WORDLESS_ANSWERS:
        return "the agent gets the reason with the answer"
    pane = await resolve_pane(services, str(approval.pane))
    until = services.clock.monotonic() + _COMPOSER_TIMEOUT_S
    while (view := (await services.agents.list_views(pane.id)).get(pane.id)) is not None:
        if view.state.value in _RESTING_STATES:
            break
        if services.clock.monotonic() >= until:
            return f"the reason was not sent: the agent is {view.state.value.replace('_', ' ')}"
        await services.clock.sleep(_COMPOSER_POLL_S)
    preconditions = Preconditions(into="program", is_input_empty=True)
    request = ActionRequest(action=SendText(pane=pane.id, text=reason), preconditions=preconditions, pane=pane)
    try:
        # The person who wrote the reason needs no second request for it.
        sent = await execute_with_approval(services, request, "once")
    except VisorError as error:
        return f"the reason was not sent: {error.message}"
    return f"the reason was sent as a prompt: {sent.status.replace('_', ' ')}"


def render_text(result: DenyResult, options: RenderOptions) -> str:
    results = (result, *result.more)
    return "\n".join(format_answer(one) + (f"\n  {one.told}" if one.told else "") for one in results)


OP = Operation(
    name="deny",
    robot_name="deny",
    summary="Deny approval requests in the inbox.",
    doc="""The waiting caller gets `policy_denied`; nothing is done. One deny is enough even if two people must approve.
`deny 10 11`, `--pane`, `--all` and the call without a number choose like `approve`.

`--reason` tells the caller why. An agent with a hook gets it with the answer; for others it is sent as your prompt once
the agent's dialog was refused and its input is empty: checked by the policy, logged and verified like `visor send`.""",
    run=run,
    render_text=render_text,
    effect="change",
    get_exit_status=get_exit_status,
    exit_statuses=((75, "The request is no longer open."),),
    examples=(
        OperationExample("deny 3", "deny request 3"),
        OperationExample('deny 3 --reason "use make test"', "deny it and tell the agent why"),
        OperationExample("deny --pane 7", "deny all requests of pane 7"),
    ),
)
