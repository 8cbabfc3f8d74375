"""The op `resume_session`: take up an agent's conversation again, in a new window."""

from typing import Annotated

from msgspec import Meta

from termvisor.errors import Conflict, NotFound, Unsupported
from termvisor.model.action.action import Spawn as Action
from termvisor.model.agent.session import AgentSession
from termvisor.model.settings.agents import build_resume_command
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.input._action_args import ActionArgs, build_preconditions
from termvisor.ops.input._execute_action import ActionRequest
from termvisor.ops.panes.spawn import SpawnResult, render_text, resolve_account_ref, start_program

_MAX_SESSIONS_SEARCHED = 10_000


class ResumeSessionArgs(ActionArgs, frozen=True, kw_only=True):
    """Which conversation."""

    session: Annotated[
        str,
        Meta(
            description="Its number in `visor agents sessions`, or the agent's own name of it.",
            extra={"positional": "one"},
            min_length=1,
        ),
    ]
    name: Annotated[str, Meta(description="The new window's name.", max_length=200)] = ""
    account: Annotated[
        str, Meta(description="The account under which it goes on, by name or `service/name`.", max_length=200)
    ] = ""


async def build_request(services: ActingServices, args: ResumeSessionArgs) -> ActionRequest:
    session = await _find_session(services, args.session)
    await _check_ended(services, session)
    _, settings = services.configuration
    command = build_resume_command(settings, session.agent, session.external_id) or session.resume
    if not command:
        raise Unsupported(f"{session.agent} cannot take up session {session.id} again")
    beside = await _find_nearby_pane(services, session)
    action = Action(
        where="window",
        beside=None if beside is None else beside.id,
        command=command,
        cwd=session.cwd,
        name=args.name,
        account=await resolve_account_ref(services, args.account, command),
    )
    return ActionRequest(action=action, preconditions=build_preconditions(args), pane=beside)


async def _find_session(services: ActingServices, reference: str) -> AgentSession:
    known = await services.agents.list_sessions(limit=_MAX_SESSIONS_SEARCHED)
    found = [one for one in known if reference in (str(one.id), one.external_id)]
    if not found:
        raise NotFound(f"there is no session {reference!r}", hint="`visor agents sessions` lists them.")
    return found[-1]


async def _check_ended(services: ActingServices, session: AgentSession) -> None:
    views = await services.agents.list_views()
    for pane, view in views.items():
        if view.session is not None and view.session.external_id == session.external_id != "":
            raise Conflict(f"this session goes on in pane {pane}", hint="`visor quit` ends it there first.")


async def _find_nearby_pane(services: ActingServices, session: AgentSession) -> PaneView | None:
    """The pane that it was in, or one of the same tmux session: the new window opens there."""
    panes = await services.panes.list_panes(include_gone=True)
    was = next((one for one in panes if one.id == session.pane), None)
    if was is None or was.gone_at is None:
        return was
    place = (was.instance.server.socket, was.facts.session_id)
    near = (one for one in panes if (one.instance.server.socket, one.facts.session_id) == place and one.gone_at is None)
    return next(near, None)


async def run(services: ActingServices, args: ResumeSessionArgs) -> SpawnResult:
    return await start_program(services, args, await build_request(services, args))


OP = Operation(
    name="resume_session",
    aliases=("resume",),
    robot_name="resume",
    summary="Take up an agent's session again, in a new window.",
    doc="""The agent's own command for that starts in the folder in which the session began, in a new window of the tmux
session where it was. The setting `agent_resume` names another command. A session that goes on in some pane is not
started a second time.""",
    args_type=ResumeSessionArgs,
    result_type=SpawnResult,
    run=run,
    render_text=render_text,
    build_request=build_request,
    effect="change",
    exit_statuses=(
        (4, "There is no such session."),
        (75, "The session goes on in a pane."),
        (77, "Nothing was done: denied, or a person must allow it first."),
    ),
    examples=(
        OperationExample("resume 12", "the session of this number in `visor agents sessions`"),
        OperationExample("robot resume 5e55 --dry-run", "what would be started, as JSON"),
    ),
)
