"""Operation `kill`: send a signal to the foreground program of a pane, or close the pane."""

from typing import Annotated, Literal

from msgspec import Meta

from termvisor.errors import ConfirmationRequired
from termvisor.model.action.action import Kill as Action
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.input._action_args import PaneReference, PreconditionArgs, build_preconditions
from termvisor.ops.input._execute_action import (
    ActionRequest,
    ActionResult,
    dry_run_action,
    execute_action,
    render_action_result,
    render_dry_run_lines,
)
from termvisor.ops.panes._pane_reference import resolve_pane
from termvisor.ops.render.text import RenderOptions, sanitize


class KillArgs(PreconditionArgs, frozen=True, kw_only=True):
    """The pane, and the signal or --close."""

    pane: PaneReference
    signal: Annotated[
        Literal["INT", "TERM", "KILL", "HUP", "QUIT"], Meta(description="Signal for the foreground program.")
    ] = "INT"
    close: Annotated[bool, Meta(description="Close the pane and everything in it.", extra={"also": ("--pane",)})] = (
        False
    )


async def build_request(services: ActingServices, args: KillArgs) -> ActionRequest:
    pane = await resolve_pane(services, args.pane)
    return ActionRequest(
        action=Action(pane=pane.id, signal=args.signal, closes_pane=args.close),
        preconditions=build_preconditions(args),
        pane=pane,
    )


async def run(services: ActingServices, args: KillArgs) -> ActionResult:
    request = await build_request(services, args)
    if not (args.yes or args.dry_run):
        raise await _build_confirmation(services, args, request)
    result, _ = await execute_action(services, args, request)
    return result


async def _build_confirmation(services: ActingServices, args: KillArgs, request: ActionRequest) -> ConfirmationRequired:
    pane = await resolve_pane(services, args.pane)
    facts = pane.facts
    location = f"{facts.session_name}:{facts.window_index}.{facts.pane_index} {facts.title}".rstrip()
    preview = render_dry_run_lines(await dry_run_action(services, request), RenderOptions(), is_brief=True)
    action = "close pane" if args.close else f"send SIG{args.signal} to pane"
    return ConfirmationRequired(sanitize(f"{action} {pane.id} ({location})?"), shown="\n".join(preview))


def render_text(result: ActionResult, options: RenderOptions) -> str:
    return render_action_result(result, options, "done")


OP = Operation(
    name="kill",
    robot_name="kill",
    summary="Send a signal to the foreground program of a pane, or close the pane.",
    doc="""The signal goes to the foreground process group of the pane's terminal, never to the shell itself; `--close`
(or `--pane`) closes the pane with everything in it. In a terminal the command shows a preview and asks for
confirmation; elsewhere it requires `--yes`. The policy applies in any case.""",
    args_type=KillArgs,
    result_type=ActionResult,
    run=run,
    render_text=render_text,
    build_request=build_request,
    effect="change",
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
