"""The operation `next`: show the agent that needs a person most; `--go` attaches to it through the gate."""

from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import AgentNotFound
from termvisor.ops.agents import _agent_row, _pane_agents
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.input._action_operation import ActionArgs, ActionRequest
from termvisor.ops.panes import attach
from termvisor.ops.render.results import copy_fields
from termvisor.ops.render.text import RenderOptions, format_age, sanitize


class NextArgs(ActionArgs, frozen=True, kw_only=True):
    """Choose among the waiting agents, and whether to attach."""

    session: Annotated[str | None, Meta(description="Only in this session.")] = None
    agent: Annotated[str | None, Meta(description="Only this agent, for example claude_code.")] = None
    skip: Annotated[int, Meta(description="Skip this many of the most urgent ones.", ge=0)] = 0
    go: Annotated[bool, Meta(description="Attach to its pane in this terminal, like `attach`.")] = False


class NextResult(Struct, frozen=True, kw_only=True):
    """``found`` is null if no agent needs a person; ``waiting`` counts all that do. ``attached`` is set by `--go`.
    ``requests`` are the numbers of its open requests in the inbox.
    """

    found: _agent_row.AgentRow | None
    waiting: int
    attached: attach.AttachResult | None = None
    requests: tuple[int, ...] = ()


async def run(services: Services, args: NextArgs) -> NextResult:
    waiting = await _list_waiting(services, args)
    if len(waiting) <= args.skip:
        return NextResult(found=None, waiting=len(waiting))
    member = waiting[args.skip]
    row = _agent_row.build_agent_row(member.pane, member.view, services.clock.now())
    attached = await _attach(services, _build_attach_args(args, member)) if args.go else None
    requests = (await _pane_agents.list_open_requests(services)).get(member.pane.id, ())
    return NextResult(found=row, waiting=len(waiting), attached=attached, requests=requests)


async def _attach(services: Services, args: attach.AttachArgs) -> attach.AttachResult:
    return await attach.execute(services, args, await attach.build_request(services, args))


async def build_request(services: Services, args: NextArgs) -> ActionRequest:
    """Build the action of `--go`."""
    waiting = await _list_waiting(services, args)
    if len(waiting) <= args.skip:
        raise AgentNotFound("no agent needs you", hint="`visor status` shows all agents.")
    return await attach.build_request(services, _build_attach_args(args, waiting[args.skip]))


async def _list_waiting(services: Services, args: NextArgs) -> list[_pane_agents.PaneWithAgent]:
    filter_args = _pane_agents.AgentFilterArgs(session=args.session, agent=args.agent, needs_action=True)
    return _pane_agents.list_agents_needing_action(
        await _pane_agents.select_panes_with_agents(services, _pane_agents.collect_agent_filters(filter_args))
    )


def _build_attach_args(args: NextArgs, member: _pane_agents.PaneWithAgent) -> attach.AttachArgs:
    # Approval, owner and dry run apply to attaching as well.
    return copy_fields(attach.AttachArgs, args, pane=str(member.pane.id))


def render_text(result: NextResult, options: RenderOptions) -> str:
    agent_row = result.found
    if agent_row is None:
        return "" if options.is_quiet else "No agent needs you." if not result.waiting else "No other agent needs you."
    if options.is_quiet:
        return str(agent_row.identity.id)
    if result.attached is not None:
        return attach.render_text(result.attached, options)
    return "\n".join(_format_lines(agent_row, result, options))


def _format_lines(agent_row: _agent_row.AgentRow, result: NextResult, options: RenderOptions) -> list[str]:
    state = options.paint(
        _agent_row.get_state_style(agent_row), _agent_row.format_state(agent_row.state, agent_row.reason)
    )
    needs = _agent_row.NEED_DESCRIPTIONS[agent_row.needs] if agent_row.needs is not None else ""
    lines = [f"{sanitize(_agent_row.describe_agent(agent_row))}: {state}"]
    lines.append(sanitize(f"It {needs}, for {format_age(agent_row.state_age)}: {agent_row.agent_title}"))
    if result.requests:
        number = result.requests[0]
        lines.append(f"`visor approve {number}` or `visor deny {number}` answers it, `visor inbox {number}` shows it.")
    more = f" {result.waiting - 1} more after it." if result.waiting > 1 else ""
    return [*lines, f"`visor next --go` attaches to it, `visor explain {agent_row.identity.id}` shows why.{more}"]


OP = Operation(
    name="next",
    robot_name="next",
    summary="Show the agent that needs you most, or attach to it.",
    doc="""The most urgent agent: a permission request before a question, a login, an error; among equals the one that
has waited longest. `--go` attaches like `visor attach`: checked by the policy and logged, and a terminal that already
shows the same tmux server switches to the pane. `-q` prints only the pane's number, and nothing if no agent waits.""",
    run=run,
    shows_pane_text=True,
    render_text=render_text,
    build_request=build_request,
    effect="change",
    examples=(
        OperationExample("next", "the agent and what it needs"),
        OperationExample("next --go", "attach to it; C-b d detaches"),
        OperationExample("robot next --skip 1", "the second most urgent, as JSON"),
    ),
)
