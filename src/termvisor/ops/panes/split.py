"""Operation `split`: split a pane and start a program in the new one."""

from typing import Annotated

from msgspec import Meta

from termvisor.model.action.action import Spawn as Action
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.input._action_args import PaneReference, build_preconditions
from termvisor.ops.input._execute_action import ActionRequest
from termvisor.ops.panes._pane_reference import resolve_pane
from termvisor.ops.panes.spawn import (
    CommandWords,
    ProgramStartArgs,
    SpawnResult,
    parse_environment,
    render_text,
    resolve_account_ref,
    start_program,
)


class SplitArgs(ProgramStartArgs, frozen=True, kw_only=True):
    """The pane to split, and the program to start."""

    pane: PaneReference
    command: CommandWords = ()
    horizontal: Annotated[bool, Meta(description="Place the panes side by side instead of one above the other.")] = (
        False
    )


async def build_request(services: ActingServices, args: SplitArgs) -> ActionRequest:
    pane = await resolve_pane(services, args.pane)
    action = Action(
        where="pane",
        beside=pane.id,
        is_horizontal=args.horizontal,
        command=args.command,
        cwd=args.cwd,
        env=parse_environment(args.env),
        name=args.name,
        account=await resolve_account_ref(services, args.account, args.command),
    )
    return ActionRequest(action=action, preconditions=build_preconditions(args), pane=pane)


async def run(services: ActingServices, args: SplitArgs) -> SpawnResult:
    return await start_program(services, args, await build_request(services, args))


OP = Operation(
    name="split",
    robot_name="split",
    summary="Split a pane and start a program in the new one.",
    doc="Same as `spawn --where pane --beside <pane>`. Without a command the user's shell is started.",
    args_type=SplitArgs,
    result_type=SpawnResult,
    run=run,
    render_text=render_text,
    build_request=build_request,
    effect="change",
    exit_statuses=(
        (75, "Not executed: the pane is reserved, or a precondition failed."),
        (77, "Not executed: denied by the policy, or requires approval."),
    ),
    examples=(
        OperationExample("split 7", "start a shell below pane 7"),
        OperationExample("split 7 --horizontal -- htop", "start a program beside it"),
    ),
)
