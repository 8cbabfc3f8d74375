"""The op `approve`: a person says yes to a question, or does in other words what it asks for."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import BadRequest
from termvisor.model.action.approval import Approval
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.approvals._approval_item import ApprovalItem, build_approval_item
from termvisor.ops.approvals._edited_approval import send_edited_text
from termvisor.ops.input._execute_action import ActionResult
from termvisor.ops.render.text import RenderOptions, sanitize

ApprovalNumber = Annotated[
    int, Meta(description="The question's number in `visor inbox`.", extra={"positional": "one"}, ge=1)
]


class ApproveArgs(Struct, frozen=True, kw_only=True):
    """Which question, and how."""

    id: ApprovalNumber
    text: Annotated[
        str, Meta(description="With --edit: the text to type instead; all further words.", extra={"positional": "rest"})
    ] = ""
    session: Annotated[
        bool, Meta(description="And the same caller may do this kind of thing in this pane for eight hours.")
    ] = False
    edit: Annotated[
        bool, Meta(description="Type another text instead: the words that follow, or what your editor gives back.")
    ] = False


class ApproveResult(ApprovalItem, frozen=True, kw_only=True):
    """``instead`` is what came of the edited text."""

    instead: ActionResult | None = None


async def run(services: ActingServices, args: ApproveArgs) -> ApproveResult:
    if args.edit:
        if args.session:
            raise BadRequest("--session allows what is asked, --edit does not", hint="Say one of them.")
        closed, deed = await send_edited_text(services, args.id, args.text)
        return _build_result(services, closed, deed)
    if args.text:
        raise BadRequest(f"unexpected word {args.text!r}", hint="Another text to type stands behind --edit.")
    approval = await services.gate.approvals.answer(args.id, "allow", is_lasting=args.session)
    return _build_result(services, approval)


def _build_result(services: ActingServices, approval: Approval, instead: ActionResult | None = None) -> ApproveResult:
    asked = build_approval_item(approval, services.clock.now())
    return ApproveResult(**{name: getattr(asked, name) for name in asked.__struct_fields__}, instead=instead)


def render_text(result: ApproveResult, options: RenderOptions) -> str:
    if result.instead is not None:
        return sanitize(
            f"question {result.id} is edited; your text: {result.instead.status} {result.instead.text}".rstrip()
        )
    if result.state == "open":
        return f"question {result.id}: {result.answers} of {result.needs} people said yes; it needs another person"
    return f"question {result.id} is {result.state}: {result.what}"


OP = Operation(
    name="approve",
    robot_name="approve",
    summary="Say yes to a question in the inbox.",
    doc="""Good for doing that very action once, in time; who asked does it now, or when they call again. `--session`
spares further questions of the same caller about the same kind of action in the same pane; `permits` lists such
allowances, and they never lift a deny, nor the ask of a rule that wants two people. Who asked, and is no person, cannot
answer from the same pane or process.

`--edit` types another text instead. It is your own action, judged from the start; what was asked is not done. The
question is closed as `edited`; who waits for it gets `policy_denied` with `details.why` `edited` and the correlation id
under which the audit tells what was done instead. Without a text your editor opens: VISUAL, EDITOR, or one line.""",
    args_type=ApproveArgs,
    result_type=ApproveResult,
    run=run,
    render_text=render_text,
    effect="change",
    accepts_text_input=True,
    exit_statuses=(
        (75, "The question is no longer open."),
        (77, "It was asked from this very pane, or you are no person."),
    ),
    examples=(
        OperationExample("approve 3", "once"),
        OperationExample("approve 3 --session", "and spare me the next ones"),
        OperationExample("approve 3 --edit make test", "type this instead"),
    ),
)
