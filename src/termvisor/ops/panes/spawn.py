"""Operation `spawn`: start a program in a new session, window or pane."""

from typing import Annotated, Any, Literal

from msgspec import Meta

from termvisor.bus import wait_for_update
from termvisor.errors import BadRequest
from termvisor.model.action.action import Spawn
from termvisor.model.action.outcome import Outcome
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.accounts._account_item import find_account_status
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.input import _action_operation
from termvisor.ops.panes._pane_reference import PaneIdentity, identify_pane, resolve_pane
from termvisor.ops.render.text import RenderOptions

# Seconds to wait until the new pane is discovered and has an id.
_NEW_PANE_TIMEOUT_S = 5.0

CommandWords = Annotated[
    tuple[str, ...],
    Meta(description="Program and arguments, after --. Default: your shell.", extra={"positional": "rest"}),
]


class ProgramStartArgs(_action_operation.ActionArgs, frozen=True, kw_only=True):
    """Environment of a new program."""

    cwd: Annotated[str, Meta(description="Working directory.", extra={"is_path": True})] = ""
    env: Annotated[tuple[str, ...], Meta(description="Environment variable NAME=value; may be repeated.")] = ()
    name: Annotated[str, Meta(description="Name of the new window.", max_length=200)] = ""
    account: Annotated[str, Meta(description="Account to start it with: name or `service/name`.", max_length=200)] = ""


class SpawnArgs(ProgramStartArgs, frozen=True, kw_only=True):
    """The program, and where to start it."""

    command: CommandWords = ()
    cwd: Annotated[str, Meta(description="Working directory; default: yours.", extra={"is_path": True})] = "."
    where: Annotated[
        Literal["session", "window", "pane"] | None,
        Meta(description="What to create for it; default: a window of --session or of your session, else a session."),
    ] = None
    session: Annotated[
        str, Meta(description="The session for the new window; a new one if there is none.", max_length=200)
    ] = ""
    beside: Annotated[
        str | None, Meta(description="The pane to split, or whose session is used.", extra={"names": "pane"})
    ] = None
    horizontal: Annotated[bool, Meta(description="Place the panes side by side.")] = False
    pty: Annotated[bool, Meta(description="Start it in a terminal of its own, without tmux.")] = False
    server: Annotated[str, Meta(description="Name or path of the tmux server's socket, if there are several.")] = ""


class SpawnResult(_action_operation.ActionResult, frozen=True, kw_only=True):
    """``pane`` is the pane given by --beside; ``new`` is the new pane, null if it was not discovered in time."""

    new: PaneIdentity | None = None
    mux_pane: str = ""
    pid: int = 0


async def build_request(services: Services, args: SpawnArgs) -> _action_operation.ActionRequest:
    beside = None if args.beside is None else await resolve_pane(services, args.beside)
    if args.pty and (beside is not None or args.server or args.session or args.where):
        raise BadRequest("--pty starts a terminal of its own: it takes no server, session, place or pane")
    if args.where == "pane" and beside is None:
        raise BadRequest("--where pane requires --beside", hint="`visor split <pane>` does the same.")
    where = args.where or ("session" if args.pty else await _choose_place(services, args))
    if where == "window" and beside is None and not args.session:
        beside = await _find_callers_pane(services)
    action = Spawn(
        where=where,
        place="pty" if args.pty else "",
        server=args.server,
        session=args.session,
        beside=None if beside is None else beside.id,
        is_horizontal=args.horizontal,
        command=args.command,
        # A caller without a folder, such as a client library, leaves the choice to tmux.
        cwd="" if args.cwd == "." else args.cwd,
        env=parse_environment(args.env),
        name=args.name,
        account=await resolve_account_ref(services, args.account, args.command),
    )
    return _action_operation.ActionRequest(
        action=action, preconditions=_action_operation.build_preconditions(args), pane=beside
    )


async def _choose_place(services: Services, args: SpawnArgs) -> Literal["session", "window"]:
    """Return `window` if the named, the given or the caller's own session exists, else `session`."""
    if args.beside is not None:
        return "window"
    if args.session:
        return "window" if await _has_session(services, args.session) else "session"
    # On another server than the caller's, there is no session of its own.
    return "window" if not args.server and await _find_callers_pane(services) else "session"


async def _has_session(services: Services, name: str) -> bool:
    for is_fresh in (False, True):
        # A session that was made a moment ago is known only after another listing.
        if is_fresh:
            await services.panes.refresh()
        facts = [view.facts for view in await services.panes.list_panes()]
        if any(name in (one.session_name, one.session_id) for one in facts):
            return True
    return False


async def _find_callers_pane(services: Services) -> PaneView | None:
    """Return the pane that the caller runs in; None outside of the watched servers."""
    pane = services.gate.actor.pane
    return next((view for view in await services.panes.list_panes() if view.id == pane), None)


async def resolve_account_ref(services: Services, account: str, command: tuple[str, ...]) -> str:
    """Return the full name of an account, "" if none is given. Raises NotFound, BadRequest."""
    if account and not command:
        raise BadRequest("--account requires a command to start")
    return (await find_account_status(services, account)).account.ref if account else ""


def parse_environment(pairs: tuple[str, ...]) -> dict[str, str]:
    variables = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not (name and sign):
            raise BadRequest(f"--env: {name!r} is not NAME=value")
        variables[name] = value
    return variables


async def start_program(
    services: Services, args: _action_operation.ActionArgs, request: _action_operation.ActionRequest
) -> SpawnResult:
    """Execute the spawn and wait until the new pane is discovered."""
    # Subscribe before the program starts, because the pane may be discovered before the gate returns.
    with services.updates.subscribe_events() as events:
        result, outcome = await _action_operation.execute_action(services, args, request)
        if outcome is None:
            return _action_operation.extend_result(result, SpawnResult)
        # Without a pane id from tmux there is nothing to wait for.
        deadline = services.clock.monotonic() + (_NEW_PANE_TIMEOUT_S if outcome.mux_pane else 0.0)
        while (new := await _find_new_pane(services, outcome)) is None and (
            left := deadline - services.clock.monotonic()
        ) > 0:
            await wait_for_update(services.clock, left, events)
    return _action_operation.extend_result(
        result, SpawnResult, new=None if new is None else identify_pane(new), mux_pane=outcome.mux_pane, pid=outcome.pid
    )


async def _find_new_pane(services: Services, outcome: Outcome) -> PaneView | None:
    views = await services.panes.list_panes(include_gone=True)
    # A pane id is unique only within one tmux server; together with the pid it is the new pane.
    known = (outcome.mux_pane, outcome.pid)
    return next((view for view in reversed(views) if (view.facts.mux_id, view.facts.pid) == known), None)


def render_text(result: SpawnResult, options: RenderOptions) -> str:
    new = f"pane {result.new.id}" if result.new else result.mux_pane
    return _action_operation.render_action_result(result, options, f"started in {new} (pid {result.pid})")


def declare_program_start(*, build_request: _action_operation.RequestBuilder, **declaration: Any) -> Operation:
    """Declare an operation that starts a program; its request holds a `Spawn`."""
    return _action_operation.declare_action(
        build_request=build_request,
        execute=start_program,
        result_type=SpawnResult,
        render_text=render_text,
        **declaration,
    )


OP = declare_program_start(
    name="spawn",
    robot_name="spawn",
    summary="Start a program in a new session, window or pane.",
    doc="""The new pane is created without switching the window of any client. `new.id` is its id, for `send`,
`get-text` and other commands. The arguments are passed unchanged; no shell parses them. Without a command the user's
shell is started. The program waits until its pane is captured (at most two seconds), so that its first byte is captured
too. It starts in your working directory. Without `--where`, it gets a window of the session that `--session` or
`--beside` names, or of the session that you are in; if there is no such session, a new one. If the tmux
server is not running, it is started, with your tmux settings: the default one, the first of `tmux_sockets`, or the one
that `--server` names; without `--server`, the demo's is used only if it is the only one.""",
    args_type=SpawnArgs,
    build_request=build_request,
    exit_statuses=((77, "Not executed: denied by the policy, or requires approval."),),
    examples=(
        OperationExample("spawn -- claude", "start an agent in a new window of your session"),
        OperationExample("spawn --session work -- claude", "in the session `work`, which is made if there is none"),
        OperationExample(
            "spawn --where session --session ci --cwd . -- make watch", "start it in a new session in this folder"
        ),
        OperationExample("spawn --pty -- claude", "start an agent in a terminal of its own, without tmux"),
        OperationExample("spawn --account work -- codex", "start an agent with another account"),
        OperationExample("robot spawn --beside 7 --env PORT=8080 -- ./serve", "use the session of pane 7, as JSON"),
    ),
)
