"""The op `spawn`: start a program in a new session, window or pane."""

from typing import Annotated, Literal

from msgspec import Meta

from termvisor.errors import BadRequest
from termvisor.model.action.action import Spawn as Action
from termvisor.model.action.outcome import Outcome
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.accounts._account_item import find_account_status
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.input._action_args import ActionArgs, build_preconditions
from termvisor.ops.input._execute_action import (
    ActionRequest,
    ActionResult,
    execute_action,
    extend_result,
    render_action_result,
)
from termvisor.ops.panes._listing import PaneIdentity, identify_pane, resolve_pane
from termvisor.ops.panes._wait_update import wait_for_update
from termvisor.ops.render.text import RenderOptions

_NEW_PANE_TIMEOUT_S = 5.0
"""Seconds that a new pane has to get its number."""


CommandWords = Annotated[
    tuple[str, ...],
    Meta(description="The program and its arguments, after --; none: your shell.", extra={"positional": "rest"}),
]


class ProgramStartArgs(ActionArgs, frozen=True, kw_only=True):
    """In which surroundings a program starts."""

    cwd: Annotated[str, Meta(description="The folder it starts in.", extra={"is_path": True})] = ""
    env: Annotated[tuple[str, ...], Meta(description="NAME=value for its environment; may be repeated.")] = ()
    name: Annotated[str, Meta(description="The new window's name.", max_length=200)] = ""
    account: Annotated[
        str, Meta(description="The account under which it starts, by name or `service/name`.", max_length=200)
    ] = ""


class SpawnArgs(ProgramStartArgs, frozen=True, kw_only=True):
    """What to start, and where."""

    command: CommandWords = ()
    where: Annotated[Literal["session", "window", "pane"], Meta(description="What is made for it.")] = "window"
    session: Annotated[
        str, Meta(description="A new session's name; or the session in which the window opens.", max_length=200)
    ] = ""
    beside: Annotated[
        str | None, Meta(description="The pane that is split, or by whose session.", extra={"names": "pane"})
    ] = None
    horizontal: Annotated[bool, Meta(description="Split side by side.")] = False
    server: Annotated[str, Meta(description="The socket of the tmux server, where there are several.")] = ""


class SpawnResult(ActionResult, frozen=True, kw_only=True):
    """``pane`` is the pane beside which it was made; ``new`` is the new one once it was seen."""

    new: PaneIdentity | None = None
    mux_pane: str = ""
    pid: int = 0


async def build_request(services: ActingServices, args: SpawnArgs) -> ActionRequest:
    beside = None if args.beside is None else await resolve_pane(services, args.beside)
    if args.where == "pane" and beside is None:
        raise BadRequest("a new pane needs --beside", hint="`visor split <pane>` is shorter.")
    action = Action(
        where=args.where,
        server=args.server,
        session=args.session,
        beside=None if beside is None else beside.id,
        is_horizontal=args.horizontal,
        command=args.command,
        cwd=args.cwd,
        env=parse_environment(args.env),
        name=args.name,
        account=await resolve_account_ref(services, args.account, args.command),
    )
    return ActionRequest(action=action, preconditions=build_preconditions(args), pane=beside)


async def resolve_account_ref(services: ActingServices, account: str, command: tuple[str, ...]) -> str:
    """Its whole name. Raises ``NotFound``."""
    if account and not command:
        raise BadRequest("--account needs a command that starts under it")
    return (await find_account_status(services, account)).account.ref if account else ""


def parse_environment(pairs: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not (name and sign):
            raise BadRequest(f"--env: {name!r} is not NAME=value")
        found[name] = value
    return found


async def run(services: ActingServices, args: SpawnArgs) -> SpawnResult:
    return await start_program(services, args, await build_request(services, args))


async def start_program(services: ActingServices, args: ActionArgs, request: ActionRequest) -> SpawnResult:
    with services.updates.subscribe_events() as events:
        deed, outcome = await execute_action(services, args, request)
        if outcome is None:
            return extend_result(deed, SpawnResult)
        until = services.clock.monotonic() + (_NEW_PANE_TIMEOUT_S if outcome.mux_pane else 0.0)
        while (new := await _find_new_pane(services, outcome)) is None and (
            left := until - services.clock.monotonic()
        ) > 0:
            await wait_for_update(services.clock, left, events)
    return extend_result(
        deed, SpawnResult, new=None if new is None else identify_pane(new), mux_pane=outcome.mux_pane, pid=outcome.pid
    )


async def _find_new_pane(services: ActingServices, outcome: Outcome) -> PaneView | None:
    views = await services.panes.list_panes(include_gone=True)
    known = (outcome.mux_pane, outcome.pid)
    return next((view for view in reversed(views) if (view.facts.mux_id, view.facts.pid) == known), None)


def render_text(result: SpawnResult, options: RenderOptions) -> str:
    new = f"pane {result.new.id}" if result.new else result.mux_pane
    return render_action_result(result, options, f"started in {new} (pid {result.pid})")


OP = Operation(
    name="spawn",
    robot_name="spawn",
    summary="Start a program in a new session, window or pane.",
    doc="""The new place is made without switching anybody's window. `new.id` is the number by which `send`, `get-text`
and all others know it. The arguments are passed as they stand; no shell reads them. Without a command the user's shell
starts. `spawn` needs a tmux server that runs.""",
    args_type=SpawnArgs,
    result_type=SpawnResult,
    run=run,
    render_text=render_text,
    build_request=build_request,
    effect="change",
    exit_statuses=((77, "Nothing was done: denied, or a person must allow it first."),),
    examples=(
        OperationExample("spawn --session work -- claude", "an agent in a new window of the session `work`"),
        OperationExample("spawn --where session --session ci --cwd . -- make watch", "a new session in this folder"),
        OperationExample("spawn --account work -- codex", "an agent that works under another account"),
        OperationExample(
            "robot spawn --beside 7 --env PORT=8080 -- ./serve", "in a new window of pane 7's session, as JSON"
        ),
    ),
)
