"""The op `policy_explain`: what would be said of an action, and by which rule. Nothing is done, asked or counted."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import BadRequest
from termvisor.ops.api import catalog as catalogue
from termvisor.ops.api.arguments import parse
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.input._act import Foretold, foretold, foretold_lines
from termvisor.ops.render.text import Look


class PolicyExplain(Struct, frozen=True, kw_only=True):
    """A command line of an op that acts."""

    command: Annotated[
        str, Meta(description="A command that acts: send, send-keys, kill, spawn, …", extra={"positional": "one"})
    ]
    words: Annotated[
        tuple[str, ...],
        Meta(description="What would follow it; words that begin with - stand after --.", extra={"positional": "rest"}),
    ] = ()


async def run(world: ActingWorld, wanted: PolicyExplain) -> Foretold:
    op = catalogue.named(wanted.command)
    if op.wish is None:
        raise BadRequest(f"`{op.command}` does not act on anything, so no policy speaks of it")
    return await foretold(world, await op.wish(world, parse(op.Input, wanted.words)))


def plain(told: Foretold, look: Look) -> str:
    return "\n".join(foretold_lines(told, look))


OP = Op(
    name="policy_explain",
    summary="Which rule would allow, ask about or deny an action.",
    doc="""Give the command as you would run it. Every voice is shown, also those that have nothing to say; the
strictest decides. It is judged for the caller: from a script you see what a script may do. Hooks are not run and
nothing counts against the rates.""",
    Input=PolicyExplain,
    Output=Foretold,
    run=run,
    plain=plain,
    examples=(
        Example("policy explain send 7 'rm -rf build'", "what would be said of it"),
        Example("robot policy explain kill 7", "as JSON, for a program"),
        Example("policy explain spawn -- --session ci -- make watch", "with options of its own"),
    ),
)
