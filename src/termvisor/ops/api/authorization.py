"""Pass changes that an operation makes by itself through the gate: settings, files, mutes, deleted data, exports."""

from msgspec import Struct

from termvisor.model.action.preconditions import Preconditions
from termvisor.ops.api.operation import Operation
from termvisor.ops.api.services import Services
from termvisor.ops.input._action_operation import ActionRequest, execute_with_approval


async def authorize_changes(op: Operation, services: Services, args: Struct) -> None:
    """Record the changes of a call in the audit log, if the gate allows them.

    A person who runs the command has decided already; a program gets NeedsApproval or Refused, and nothing is changed.
    """
    for action in op.list_changes(services, args) if op.list_changes is not None else ():
        request = ActionRequest(action=action, preconditions=Preconditions())
        await execute_with_approval(services, request, "once")
