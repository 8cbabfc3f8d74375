"""The op `approve`: a person says yes to a question."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.ops.asked import Asked, told
from termvisor.ops.base import Example, Op
from termvisor.ops.door import ActingWorld
from termvisor.ops.look import Look

Number = Annotated[int, Meta(description="The question's number in `visor inbox`.", extra={"positional": "one"}, ge=1)]


class Approve(Struct, frozen=True, kw_only=True):
    """Which question."""

    id: Number
    session: Annotated[
        bool, Meta(description="And the same caller may do this kind of thing in this pane for eight hours.")
    ] = False


async def run(world: ActingWorld, wanted: Approve) -> Asked:
    approval = await world.door.inbox.answer(wanted.id, "allow", lasting=wanted.session)
    return told(approval, world.clock.now())


def plain(asked: Asked, look: Look) -> str:
    if asked.state == "open":
        return f"question {asked.id}: {asked.answers} of {asked.needs} people said yes; it needs one more"
    return f"question {asked.id} is {asked.state}: {asked.what}"


OP = Op(
    name="approve",
    robot="approve",
    summary="Say yes to a question in the inbox.",
    doc="""Good for doing that very action once, in time; who asked does it now, or when they call again. `--session`
spares further questions of the same caller about the same kind of action in the same pane; `permits` lists such
allowances, and they never lift a deny. Who asked, and is no person, cannot answer from the same pane or process.""",
    Input=Approve,
    Output=Asked,
    run=run,
    plain=plain,
    effect="change",
    exits=((75, "The question is no longer open."), (77, "It was asked from this very pane.")),
    examples=(Example("approve 3", "once"), Example("approve 3 --session", "and spare me the next ones")),
)
