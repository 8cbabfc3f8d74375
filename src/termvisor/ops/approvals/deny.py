"""The op `deny`: a person says no to a question."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.model.action.approval import ApprovalAnswer
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.approvals._approval_item import ApprovalItem, build_approval_item
from termvisor.ops.approvals.approve import ApprovalNumber
from termvisor.ops.render.text import RenderOptions


class DenyArgs(Struct, frozen=True, kw_only=True):
    """Which question."""

    id: ApprovalNumber
    edited: Annotated[bool, Meta(description="You do it in other words yourself; who asked is told so.")] = False


async def run(services: ActingServices, args: DenyArgs) -> ApprovalItem:
    answer: ApprovalAnswer = "edit" if args.edited else "deny"
    return build_approval_item(await services.gate.approvals.answer(args.id, answer), services.clock.now())


def render_text(result: ApprovalItem, options: RenderOptions) -> str:
    return f"question {result.id} is {result.state}: {result.what}"


OP = Operation(
    name="deny",
    robot_name="deny",
    summary="Say no to a question in the inbox.",
    doc="Who asked gets `policy_denied`, and nothing is done. One no is enough, also where two people are asked.",
    args_type=DenyArgs,
    result_type=ApprovalItem,
    run=run,
    render_text=render_text,
    effect="change",
    exit_statuses=((75, "The question is no longer open."),),
    examples=(OperationExample("deny 3", "it is not done"),),
)
