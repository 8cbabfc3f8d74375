"""The op `kill`: a signal to what runs in the foreground of a pane, or the end of the whole pane."""

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
from termvisor.ops.panes._listing import resolve_pane
from termvisor.ops.render.text import RenderOptions, sanitize


class KillArgs(PreconditionArgs, frozen=True, kw_only=True):
    """What to end, and how."""

    pane: PaneReference
    signal: Annotated[
        Literal["INT", "TERM", "KILL", "HUP", "QUIT"], Meta(description="The signal for the foreground program.")
    ] = "INT"
    close: Annotated[
        bool, Meta(description="Close the pane itself, with all that runs in it.", extra={"also": ("--pane",)})
    ] = False


async def build_request(services: ActingServices, args: KillArgs) -> ActionRequest:
    pane = await resolve_pane(services, args.pane)
    return ActionRequest(
        action=Action(pane=pane.id, signal=args.signal, closes_pane=args.close),
        preconditions=build_preconditions(args),
        pane=pane,
    )


async def run(services: ActingServices, args: KillArgs) -> ActionResult:
    wished = await build_request(services, args)
    if not (args.yes or args.dry_run):
        raise await _build_confirmation(services, args, wished)
    deed, _ = await execute_action(services, args, wished)
    return deed


async def _build_confirmation(services: ActingServices, args: KillArgs, request: ActionRequest) -> ConfirmationRequired:
    pane = await resolve_pane(services, args.pane)
    facts = pane.facts
    place = f"{facts.session_name}:{facts.window_index}.{facts.pane_index} {facts.title}".rstrip()
    shown = render_dry_run_lines(await dry_run_action(services, request), RenderOptions(), is_brief=True)
    what = "close pane" if args.close else f"send SIG{args.signal} to pane"
    return ConfirmationRequired(sanitize(f"{what} {pane.id} ({place})?"), shown="\n".join(shown))


def render_text(result: ActionResult, options: RenderOptions) -> str:
    return render_action_result(result, options, "done")


OP = Operation(
    name="kill",
    robot_name="kill",
    summary="Interrupt or end what runs in a pane, or close the pane.",
    doc="""The signal goes to the process group in the foreground of the pane's terminal, never to the shell itself;
`--close` (or `--pane`) ends the pane with everything in it. On a terminal it shows what would happen and asks;
elsewhere it needs `--yes`. Policy is asked in any case.""",
    args_type=KillArgs,
    result_type=ActionResult,
    run=run,
    render_text=render_text,
    build_request=build_request,
    effect="change",
    exit_statuses=(
        (2, "Not confirmed: nothing was done."),
        (75, "Nothing was done: nothing runs in the foreground, or the pane is not as expected."),
        (77, "Nothing was done: denied, or a person must allow it first."),
    ),
    examples=(
        OperationExample("kill 7", "interrupt the program in pane 7"),
        OperationExample("kill 7 --signal TERM --yes", "end it without a question"),
        OperationExample("robot kill 7 --pane --yes", "close the pane"),
    ),
)
