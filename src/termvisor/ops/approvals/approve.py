"""The op `approve`: a person says yes to a question, or does in other words what it asks for."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import BadRequest
from termvisor.model.action.approval import Approval
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.approvals._approval_item import Asked, told
from termvisor.ops.approvals._edited_approval import done_instead
from termvisor.ops.input._act import Deed
from termvisor.ops.render.text import Look, clean

Number = Annotated[int, Meta(description="The question's number in `visor inbox`.", extra={"positional": "one"}, ge=1)]


class Approve(Struct, frozen=True, kw_only=True):
    """Which question, and how."""

    id: Number
    text: Annotated[
        str, Meta(description="With --edit: the text to type instead; all further words.", extra={"positional": "rest"})
    ] = ""
    session: Annotated[
        bool, Meta(description="And the same caller may do this kind of thing in this pane for eight hours.")
    ] = False
    edit: Annotated[
        bool, Meta(description="Type another text instead: the words that follow, or what your editor gives back.")
    ] = False


class Approved(Asked, frozen=True, kw_only=True):
    """``instead`` is what came of the edited text."""

    instead: Deed | None = None


async def run(world: ActingWorld, wanted: Approve) -> Approved:
    if wanted.edit:
        if wanted.session:
            raise BadRequest("--session allows what is asked, --edit does not", hint="Say one of them.")
        closed, deed = await done_instead(world, wanted.id, wanted.text)
        return _approved(world, closed, deed)
    if wanted.text:
        raise BadRequest(f"unexpected word {wanted.text!r}", hint="Another text to type stands behind --edit.")
    approval = await world.door.inbox.answer(wanted.id, "allow", lasting=wanted.session)
    return _approved(world, approval)


def _approved(world: ActingWorld, approval: Approval, instead: Deed | None = None) -> Approved:
    asked = told(approval, world.clock.now())
    return Approved(**{name: getattr(asked, name) for name in asked.__struct_fields__}, instead=instead)


def plain(asked: Approved, look: Look) -> str:
    if asked.instead is not None:
        return clean(f"question {asked.id} is edited; your text: {asked.instead.status} {asked.instead.text}".rstrip())
    if asked.state == "open":
        return f"question {asked.id}: {asked.answers} of {asked.needs} people said yes; it needs another person"
    return f"question {asked.id} is {asked.state}: {asked.what}"


OP = Op(
    name="approve",
    robot="approve",
    summary="Say yes to a question in the inbox.",
    doc="""Good for doing that very action once, in time; who asked does it now, or when they call again. `--session`
spares further questions of the same caller about the same kind of action in the same pane; `permits` lists such
allowances, and they never lift a deny, nor the ask of a rule that wants two people. Who asked, and is no person, cannot
answer from the same pane or process.

`--edit` types another text instead. It is your own action, judged from the start; what was asked is not done. The
question is closed as `edited`; who waits for it gets `policy_denied` with `details.why` `edited` and the correlation id
under which the audit tells what was done instead. Without a text your editor opens: VISUAL, EDITOR, or one line.""",
    Input=Approve,
    Output=Approved,
    run=run,
    plain=plain,
    effect="change",
    takes_text=True,
    exits=((75, "The question is no longer open."), (77, "It was asked from this very pane, or you are no person.")),
    examples=(
        Example("approve 3", "once"),
        Example("approve 3 --session", "and spare me the next ones"),
        Example("approve 3 --edit make test", "type this instead"),
    ),
)
