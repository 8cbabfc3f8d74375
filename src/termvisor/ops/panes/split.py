"""Operation `split`: split a pane and start a program in the new one."""

from typing import Annotated

from msgspec import Meta

from termvisor.ops.api.operation import OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.input._action_operation import ActionRequest
from termvisor.ops.panes import spawn
from termvisor.ops.panes._pane_reference import PaneReference
from termvisor.ops.panes.spawn import (
    CommandWords,
    ProgramStartArgs,
    SpawnArgs,
    declare_program_start,
)
from termvisor.ops.render.results import copy_fields


class SplitArgs(ProgramStartArgs, frozen=True, kw_only=True):
    """The pane to split, and the program to start."""

    pane: PaneReference
    command: CommandWords = ()
    horizontal: Annotated[bool, Meta(description="Place the panes side by side instead of one above the other.")] = (
        False
    )


async def build_request(services: Services, args: SplitArgs) -> ActionRequest:
    return await spawn.build_request(services, copy_fields(SpawnArgs, args, where="pane", beside=args.pane))


OP = declare_program_start(
    name="split",
    robot_name="split",
    summary="Split a pane and start a program in the new one.",
    doc="Same as `spawn --where pane --beside <pane>`. Without a command the user's shell is started.",
    args_type=SplitArgs,
    build_request=build_request,
    exit_statuses=(
        (75, "Not executed: the pane is reserved, or a precondition failed."),
        (77, "Not executed: denied by the policy, or requires approval."),
    ),
    examples=(
        OperationExample("split 7", "start a shell below pane 7"),
        OperationExample("split 7 --horizontal -- htop", "start a program beside it"),
    ),
)
