"""The operation `policy_explain`: show the policy's verdict on a command without executing it.

Nothing is executed, logged, asked or counted against rate limits.
"""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import BadRequest
from termvisor.ops.api import catalog
from termvisor.ops.api.arguments import parse_arguments
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.input._action_operation import DryRunResult, dry_run_action, render_dry_run_lines


class PolicyExplainArgs(Struct, frozen=True, kw_only=True):
    """The command line of an operation that executes an action."""

    command: Annotated[
        str, Meta(description="A command that acts: send, send-keys, kill, spawn, …", extra={"positional": "one"})
    ]
    words: Annotated[
        tuple[str, ...], Meta(description="Its arguments; put options after --.", extra={"positional": "rest"})
    ] = ()


async def run(services: Services, args: PolicyExplainArgs) -> DryRunResult:
    op = catalog.load_by_any_name(args.command)
    # Only operations that act pass the gate.
    if op.build_request is None:
        raise BadRequest(f"`{op.command}` executes no action, so the policy does not apply")
    return await dry_run_action(services, await op.build_request(services, parse_arguments(op.args_type, args.words)))


OP = Operation(
    name="policy_explain",
    summary="Explain whether the policy allows an action, and by which rule.",
    doc="""Pass the command as you would run it. All checks are shown, also those that do not apply; the strictest one
decides. The verdict is for the caller: from a script you see what a script may do. User hooks are not run and nothing
counts against rate limits.""",
    run=run,
    render_text=lambda result, options: "\n".join(render_dry_run_lines(result, options)),
    examples=(
        OperationExample("policy explain send 7 'rm -rf build'", "the verdict on sending this text"),
        OperationExample("robot policy explain kill 7", "as JSON"),
        OperationExample("policy explain spawn -- --session ci -- make watch", "a command with options"),
    ),
)
