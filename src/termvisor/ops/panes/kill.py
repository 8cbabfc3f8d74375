"""Operation `kill`: send a signal to the foreground program of a pane, or close the pane."""

from typing import Annotated, Literal

from msgspec import Meta

from termvisor.errors import ConfirmationRequired
from termvisor.model.action.action import Kill
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.operation import OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.input import _action_operation
from termvisor.ops.panes._pane_reference import PaneReference
from termvisor.ops.render.text import sanitize


class KillArgs(_action_operation.PreconditionArgs, frozen=True, kw_only=True):
    """The pane, and the signal or --close."""

    pane: PaneReference
    signal: Annotated[
        Literal["INT", "TERM", "KILL", "HUP", "QUIT"], Meta(description="Signal for the foreground program.")
    ] = "INT"
    close: Annotated[bool, Meta(description="Close the pane and everything in it.", extra={"also": ("--pane",)})] = (
        False
    )


async def execute(
    services: Services, args: KillArgs, request: _action_operation.ActionRequest
) -> _action_operation.ActionResult:
    # A kill cannot be undone, so the user first sees the pane and the policy's verdict.
    if request.pane is not None and not (args.yes or args.dry_run):
        raise await _build_confirmation(services, args, request, request.pane)
    return await _action_operation.execute_and_report(services, args, request)


async def _build_confirmation(
    services: Services, args: KillArgs, request: _action_operation.ActionRequest, pane: PaneView
) -> ConfirmationRequired:
    facts = pane.facts
    location = f"{facts.session_name}:{facts.window_index}.{facts.pane_index} {facts.title}".rstrip()
    preview = await _action_operation.preview_for_confirmation(services, request)
    action = "close pane" if args.close else f"send SIG{args.signal} to pane"
    return ConfirmationRequired(sanitize(f"{action} {pane.id} ({location})?"), shown=preview)


OP = _action_operation.declare_action(
    name="kill",
    robot_name="kill",
    summary="Send a signal to the foreground program of a pane, or close the pane.",
    doc="""The signal goes to the foreground process group of the pane's terminal, never to the shell itself; `--close`
(or `--pane`) closes the pane with everything in it. In a terminal the command shows a preview and asks for
confirmation; elsewhere it requires `--yes`. The policy applies in any case.""",
    args_type=KillArgs,
    build_request=_action_operation.build_on_pane(
        lambda pane, args: Kill(pane=pane.id, signal=args.signal, closes_pane=args.close)
    ),
    execute=execute,
    exit_statuses=(
        (2, "Not confirmed; not executed."),
        (75, "Not executed: no foreground program, or a precondition failed."),
        (77, "Not executed: denied by the policy, or requires approval."),
    ),
    examples=(
        OperationExample("kill 7", "interrupt the program in pane 7"),
        OperationExample("kill 7 --signal TERM --yes", "terminate it without confirmation"),
        OperationExample("robot kill 7 --pane --yes", "close the pane"),
    ),
)
