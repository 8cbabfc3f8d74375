"""The operation `deny`: deny an approval request."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.model.action.approval import ApprovalAnswer
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.approvals._approval_item import ApprovalItem, ApprovalNumber, build_approval_item, format_answer


class DenyArgs(Struct, frozen=True, kw_only=True):
    """Choose the approval request."""

    id: ApprovalNumber
    edited: Annotated[bool, Meta(description="Close it as edited: you run another command yourself.")] = False


async def run(services: Services, args: DenyArgs) -> ApprovalItem:
    # `edit` informs the waiting caller that the user acts in its place.
    answer: ApprovalAnswer = "edit" if args.edited else "deny"
    return build_approval_item(await services.gate.approvals.answer(args.id, answer), services.clock.now())


OP = Operation(
    name="deny",
    robot_name="deny",
    summary="Deny an approval request in the inbox.",
    doc="The waiting caller gets `policy_denied`; nothing is done. One deny is enough even if two people must approve.",
    run=run,
    render_text=lambda result, _options: format_answer(result),
    effect="change",
    exit_statuses=((75, "The request is no longer open."),),
    examples=(OperationExample("deny 3", "deny request 3"),),
)
