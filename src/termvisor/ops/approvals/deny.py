"""The op `deny`: a person says no to a question."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.model.action.approval import ApprovalAnswer
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.approvals._approval_item import Asked, told
from termvisor.ops.approvals.approve import Number
from termvisor.ops.render.text import Look


class Deny(Struct, frozen=True, kw_only=True):
    """Which question."""

    id: Number
    edited: Annotated[bool, Meta(description="You do it in other words yourself; who asked is told so.")] = False


async def run(world: ActingWorld, wanted: Deny) -> Asked:
    answer: ApprovalAnswer = "edit" if wanted.edited else "deny"
    return told(await world.door.inbox.answer(wanted.id, answer), world.clock.now())


def plain(asked: Asked, look: Look) -> str:
    return f"question {asked.id} is {asked.state}: {asked.what}"


OP = Op(
    name="deny",
    robot="deny",
    summary="Say no to a question in the inbox.",
    doc="Who asked gets `policy_denied`, and nothing is done. One no is enough, also where two people are asked.",
    Input=Deny,
    Output=Asked,
    run=run,
    plain=plain,
    effect="change",
    exits=((75, "The question is no longer open."),),
    examples=(Example("deny 3", "it is not done"),),
)
