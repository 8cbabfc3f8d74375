"""The op `resume_session`: take up an agent's conversation again, in a new window."""

from typing import Annotated

from msgspec import Meta

from termvisor.errors import Conflict, NotFound, Unsupported
from termvisor.model.action.action import Spawn as Action
from termvisor.model.agent.session import AgentSession
from termvisor.model.settings.agents import resume_command
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.input._act import Wish
from termvisor.ops.input._preconditions import Acting, terms_of
from termvisor.ops.panes.spawn import Spawned, account_of, plain, started

_AMONG = 10_000


class ResumeSession(Acting, frozen=True, kw_only=True):
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


async def wish(world: ActingWorld, wanted: ResumeSession) -> Wish:
    session = await _session(world, wanted.session)
    await _check_ended(world, session)
    _, settings = world.configuration
    command = resume_command(settings, session.agent, session.external_id) or session.resume
    if not command:
        raise Unsupported(f"{session.agent} cannot take up session {session.id} again")
    beside = await _beside(world, session)
    action = Action(
        where="window",
        beside=None if beside is None else beside.id,
        command=command,
        cwd=session.cwd,
        name=wanted.name,
        account=await account_of(world, wanted.account, command),
    )
    return Wish(action=action, terms=terms_of(wanted), pane=beside)


async def _session(world: ActingWorld, named: str) -> AgentSession:
    known = await world.agents.sessions(limit=_AMONG)
    found = [one for one in known if named in (str(one.id), one.external_id)]
    if not found:
        raise NotFound(f"there is no session {named!r}", hint="`visor agents sessions` lists them.")
    return found[-1]


async def _check_ended(world: ActingWorld, session: AgentSession) -> None:
    views = await world.agents.views()
    for pane, view in views.items():
        if view.session is not None and view.session.external_id == session.external_id != "":
            raise Conflict(f"this session goes on in pane {pane}", hint="`visor quit` ends it there first.")


async def _beside(world: ActingWorld, session: AgentSession) -> PaneView | None:
    """The pane that it was in, or one of the same tmux session: the new window opens there."""
    panes = await world.fleet.panes(gone=True)
    was = next((one for one in panes if one.id == session.pane), None)
    if was is None or was.gone_at is None:
        return was
    place = (was.instance.server.socket, was.facts.session_id)
    near = (one for one in panes if (one.instance.server.socket, one.facts.session_id) == place and one.gone_at is None)
    return next(near, None)


async def run(world: ActingWorld, wanted: ResumeSession) -> Spawned:
    return await started(world, wanted, await wish(world, wanted))


OP = Op(
    name="resume_session",
    aliases=("resume",),
    robot="resume",
    summary="Take up an agent's session again, in a new window.",
    doc="""The agent's own command for that starts in the folder in which the session began, in a new window of the tmux
session where it was. The setting `agent_resume` names another command. A session that goes on in some pane is not
started a second time.""",
    Input=ResumeSession,
    Output=Spawned,
    run=run,
    plain=plain,
    wish=wish,
    effect="change",
    exits=(
        (4, "There is no such session."),
        (75, "The session goes on in a pane."),
        (77, "Nothing was done: denied, or a person must allow it first."),
    ),
    examples=(
        Example("resume 12", "the session of this number in `visor agents sessions`"),
        Example("robot resume 5e55 --dry-run", "what would be started, as JSON"),
    ),
)
