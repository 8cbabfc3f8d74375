"""The operation `approve`: approve an approval request, or replace its text with an edited one."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import BadRequest
from termvisor.model.action.approval import Approval
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.approvals._approval_item import ApprovalItem, ApprovalNumber, build_approval_item, format_answer
from termvisor.ops.approvals._edited_approval import send_edited_text
from termvisor.ops.input._execute_action import ActionResult
from termvisor.ops.render.text import RenderOptions, sanitize


class ApproveArgs(Struct, frozen=True, kw_only=True):
    """Choose the approval request and how to answer it."""

    id: ApprovalNumber
    text: Annotated[str, Meta(description="With --edit: the text to send instead.", extra={"positional": "rest"})] = ""
    session: Annotated[
        bool, Meta(description="Also permit this kind of action in this pane to the same caller for eight hours.")
    ] = False
    edit: Annotated[
        bool, Meta(description="Send another text instead: the words that follow, or the text from your editor.")
    ] = False


class ApproveResult(ApprovalItem, frozen=True, kw_only=True):
    """``instead`` is the outcome of the edited text."""

    instead: ActionResult | None = None


async def run(services: ActingServices, args: ApproveArgs) -> ApproveResult:
    if args.edit:
        if args.session:
            raise BadRequest("--session and --edit exclude each other", hint="Pass only one of them.")
        closed, outcome = await send_edited_text(services, args.id, args.text)
        return _build_result(services, closed, outcome)
    if args.text:
        raise BadRequest(f"unexpected argument {args.text!r}", hint="To send another text, pass it after --edit.")
    approval = await services.gate.approvals.answer(args.id, "allow", is_lasting=args.session)
    return _build_result(services, approval)


def _build_result(services: ActingServices, approval: Approval, instead: ActionResult | None = None) -> ApproveResult:
    item = build_approval_item(approval, services.clock.now())
    return ApproveResult(**{name: getattr(item, name) for name in item.__struct_fields__}, instead=instead)


def render_text(result: ApproveResult, options: RenderOptions) -> str:
    if result.instead is not None:
        return sanitize(
            f"request {result.id} edited; your text: {result.instead.status} {result.instead.text}".rstrip()
        )
    if result.state == "open":
        return f"request {result.id} has {result.answers} of {result.needs} approvals; another person must approve it"
    return format_answer(result)


OP = Operation(
    name="approve",
    robot_name="approve",
    summary="Approve an approval request in the inbox.",
    doc="""An approval is valid for this one action, once, until it expires; the waiting caller executes it now, or when
it calls again. `--session` also gives the caller a permit for the same kind of action in the same pane; `visor permits`
lists them. A permit never overrides a deny, nor a rule that requires two people. A program cannot approve its own
request: answers from the same pane or process are refused.

`--edit` sends another text instead, as your own action and checked by the policy; the requested one is not executed.
The request is closed as `edited`; the waiting caller gets `policy_denied` with `details.why` `edited` and the
correlation id of your action in the audit log. Without a text your editor opens: VISUAL, EDITOR, or one line.""",
    args_type=ApproveArgs,
    result_type=ApproveResult,
    run=run,
    render_text=render_text,
    effect="change",
    accepts_text_input=True,
    exit_statuses=(
        (75, "The request is no longer open."),
        (77, "The request came from this pane, or you are not at an interactive terminal."),
    ),
    examples=(
        OperationExample("approve 3", "approve once"),
        OperationExample("approve 3 --session", "also permit further actions of this kind"),
        OperationExample("approve 3 --edit make test", "send this text instead"),
    ),
)
