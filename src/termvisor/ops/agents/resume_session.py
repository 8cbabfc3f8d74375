"""The operation `resume_session`: resume an agent session in a new window."""

from typing import Annotated

from msgspec import Meta

from termvisor.errors import StateConflict, Unsupported
from termvisor.model.action.action import Spawn
from termvisor.model.agent.session import AgentSession
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.agents._resume_plan import find_pane_beside, find_running_pane, find_session, get_resume_command
from termvisor.ops.api.operation import OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.input._action_operation import ActionArgs, ActionRequest, build_preconditions
from termvisor.ops.panes.spawn import declare_program_start, resolve_account_ref


class ResumeSessionArgs(ActionArgs, frozen=True, kw_only=True):
    """Choose the session to resume."""

    session: Annotated[
        str,
        Meta(
            description="The session: its ID in `visor agents sessions`, or the agent's own session id.",
            extra={"positional": "one"},
            min_length=1,
        ),
    ]
    name: Annotated[str, Meta(description="Name of the new window.", max_length=200)] = ""
    account: Annotated[str, Meta(description="Run under this account: `name` or `service/name`.", max_length=200)] = ""


async def build_request(services: Services, args: ResumeSessionArgs) -> ActionRequest:
    session = await find_session(services, args.session)
    if running_in := find_running_pane(session, await services.agents.list_views()):
        raise StateConflict(
            f"session {session.id} is already running in pane {running_in}",
            hint=f"End it there first: `visor quit {running_in}`.",
        )
    command = get_resume_command(services, session)
    if not command:
        raise Unsupported(f"no command is known to resume session {session.id} of {session.agent}")
    beside = await _find_nearby_pane(services, session)
    action = Spawn(
        where="window",
        beside=None if beside is None else beside.id,
        command=command,
        cwd=session.cwd,
        name=args.name,
        account=await resolve_account_ref(services, args.account, command),
    )
    return ActionRequest(action=action, preconditions=build_preconditions(args), pane=beside)


async def _find_nearby_pane(services: Services, session: AgentSession) -> PaneView | None:
    """Return the session's pane or, if that is gone, a live pane of the same tmux session."""
    panes = await services.panes.list_panes(include_gone=True)
    former_pane = next((pane for pane in panes if pane.id == session.pane), None)
    if former_pane is None or former_pane.gone_at is None:
        return former_pane
    return find_pane_beside(former_pane, (pane for pane in panes if pane.gone_at is None))


OP = declare_program_start(
    name="resume_session",
    aliases=("resume",),
    robot_name="resume",
    summary="Resume an agent session in a new window.",
    doc="""Runs the agent's own resume command in the directory in which the session began, in a new window of the tmux
session where it was. The setting `agent_resume` overrides the command. A session that is already running is not started
a second time.""",
    args_type=ResumeSessionArgs,
    build_request=build_request,
    exit_statuses=(
        (4, "Session not found."),
        (75, "The session is already running in a pane."),
        (77, "Nothing was done: denied, or it requires approval."),
    ),
    examples=(
        OperationExample("resume 12", "resume session 12 of `visor agents sessions`"),
        OperationExample("robot resume 5e55 --dry-run", "show what would be started, as JSON"),
    ),
)
