"""The op `policy_explain`: what would be said of an action, and by which rule. Nothing is done, asked or counted."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import BadRequest
from termvisor.ops.api import catalog
from termvisor.ops.api.arguments import parse_arguments
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.input._execute_action import DryRunResult, dry_run_action, render_dry_run_lines
from termvisor.ops.render.text import RenderOptions


class PolicyExplainArgs(Struct, frozen=True, kw_only=True):
    """A command line of an op that acts."""

    command: Annotated[
        str, Meta(description="A command that acts: send, send-keys, kill, spawn, …", extra={"positional": "one"})
    ]
    words: Annotated[
        tuple[str, ...],
        Meta(description="What would follow it; words that begin with - stand after --.", extra={"positional": "rest"}),
    ] = ()


async def run(services: ActingServices, args: PolicyExplainArgs) -> DryRunResult:
    op = catalog.load_by_any_name(args.command)
    if op.build_request is None:
        raise BadRequest(f"`{op.command}` does not act on anything, so no policy speaks of it")
    return await dry_run_action(services, await op.build_request(services, parse_arguments(op.args_type, args.words)))


def render_text(result: DryRunResult, options: RenderOptions) -> str:
    return "\n".join(render_dry_run_lines(result, options))


OP = Operation(
    name="policy_explain",
    summary="Which rule would allow, ask about or deny an action.",
    doc="""Give the command as you would run it. Every voice is shown, also those that have nothing to say; the
strictest decides. It is judged for the caller: from a script you see what a script may do. Hooks are not run and
nothing counts against the rates.""",
    args_type=PolicyExplainArgs,
    result_type=DryRunResult,
    run=run,
    render_text=render_text,
    examples=(
        OperationExample("policy explain send 7 'rm -rf build'", "what would be said of it"),
        OperationExample("robot policy explain kill 7", "as JSON, for a program"),
        OperationExample("policy explain spawn -- --session ci -- make watch", "with options of its own"),
    ),
)
