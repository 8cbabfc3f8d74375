"""The op `next`: the agent that needs a person most; with `--go` the way to it, through the one door."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import AgentNotFound
from termvisor.ops.agents import _pane_agents
from termvisor.ops.agents._agent_row import (
    NEED_DESCRIPTIONS,
    AgentRow,
    build_agent_row,
    describe_agent,
    format_state,
    get_state_style,
)
from termvisor.ops.agents.status import list_agents_needing_action
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.input._action_args import ActionArgs
from termvisor.ops.input._execute_action import ActionRequest
from termvisor.ops.panes import attach
from termvisor.ops.render.text import RenderOptions, format_age, sanitize


class NextArgs(ActionArgs, frozen=True, kw_only=True):
    """Among which agents, and whether to go there."""

    session: Annotated[str | None, Meta(description="Only in this session.")] = None
    agent: Annotated[str | None, Meta(description="Only this agent, for example claude_code.")] = None
    skip: Annotated[int, Meta(description="Pass over so many that come first.", ge=0)] = 0
    go: Annotated[bool, Meta(description="Look at it in this terminal, as `attach` does.")] = False


class NextResult(Struct, frozen=True, kw_only=True):
    """``found`` is null when nobody needs a person; ``waiting`` counts all that do. ``attached`` is there with
    `--go`.
    """

    found: AgentRow | None
    waiting: int
    attached: attach.AttachResult | None = None


async def run(services: ActingServices, args: NextArgs) -> NextResult:
    waiting = await _list_waiting(services, args)
    if len(waiting) <= args.skip:
        return NextResult(found=None, waiting=len(waiting))
    one = waiting[args.skip]
    found = build_agent_row(one.pane, one.view, services.clock.now())
    attached = await attach.run(services, _build_attach_args(args, one)) if args.go else None
    return NextResult(found=found, waiting=len(waiting), attached=attached)


async def build_request(services: ActingServices, args: NextArgs) -> ActionRequest:
    """What `--go` would do."""
    waiting = await _list_waiting(services, args)
    if len(waiting) <= args.skip:
        raise AgentNotFound("no agent needs a person", hint="`visor status` shows what they do.")
    return await attach.build_request(services, _build_attach_args(args, waiting[args.skip]))


async def _list_waiting(services: ActingServices, args: NextArgs) -> list[_pane_agents.PaneWithAgent]:
    chosen = _pane_agents.AgentFilterArgs(session=args.session, agent=args.agent, needs_action=True)
    return list_agents_needing_action(
        await _pane_agents.select_panes_with_agents(services, _pane_agents.collect_agent_filters(chosen))
    )


def _build_attach_args(args: NextArgs, waiting_pane: _pane_agents.PaneWithAgent) -> attach.AttachArgs:
    terms = {name: getattr(args, name) for name in ActionArgs.__struct_fields__}
    return attach.AttachArgs(pane=str(waiting_pane.pane.id), **terms)


def render_text(result: NextResult, options: RenderOptions) -> str:
    found = result.found
    if found is None:
        return "" if options.is_quiet else "Nobody needs you." if not result.waiting else "Nobody else needs you."
    if options.is_quiet:
        return str(found.identity.id)
    if result.attached is not None:
        return attach.render_text(result.attached, options)
    return "\n".join(_format_lines(found, result.waiting, options))


def _format_lines(agent_row: AgentRow, waiting_count: int, options: RenderOptions) -> list[str]:
    state = options.paint(get_state_style(agent_row), format_state(agent_row.state, agent_row.reason))
    needs = NEED_DESCRIPTIONS[agent_row.needs] if agent_row.needs is not None else ""
    lines = [f"{sanitize(describe_agent(agent_row))}: {state}"]
    lines.append(sanitize(f"It {needs}, for {format_age(agent_row.state_age)}: {agent_row.agent_title}"))
    more = f" {waiting_count - 1} more after it." if waiting_count > 1 else ""
    return [*lines, f"`visor next --go` goes there, `visor explain {agent_row.identity.id}` says why.{more}"]


OP = Operation(
    name="next",
    robot_name="next",
    summary="The agent that needs you most, and the way to it.",
    doc="""The most urgent one: a permission before a question, a login, an error; of one kind the one that waits
longest. With `--go` it is attached to like `visor attach`: judged, recorded, and a terminal that shows the same tmux
server already switches to it. With `-q` it prints only the number of the pane, and nothing when nobody waits.""",
    args_type=NextArgs,
    result_type=NextResult,
    run=run,
    render_text=render_text,
    build_request=build_request,
    effect="change",
    examples=(
        OperationExample("next", "who it is, and what it needs"),
        OperationExample("next --go", "go there; C-b d comes back"),
        OperationExample("robot next --skip 1", "the one after it, as JSON"),
    ),
)
