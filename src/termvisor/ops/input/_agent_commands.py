"""What the ops have in common that say something to an agent."""

from collections.abc import Callable

from msgspec import Struct

from termvisor.errors import NotFound
from termvisor.model.action.action import Action
from termvisor.model.action.outcome import AgentChannel, Outcome
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.input._action_args import ActionArgs, PreconditionArgs, build_preconditions
from termvisor.ops.input._execute_action import (
    ActionRequest,
    ActionResult,
    execute_action,
    extend_result,
    render_action_result,
)
from termvisor.ops.panes._listing import resolve_pane
from termvisor.ops.render.text import RenderOptions


class AgentCommandResult(ActionResult, frozen=True, kw_only=True):
    """``agent`` is who was spoken to; ``channel`` is `native` where its own server was, `keys` where keys were pressed
    in its terminal, and null where nothing was done.
    """

    agent: str = ""
    channel: AgentChannel | None = None


class AgentInPane(Struct, frozen=True):
    """An agent, and the pane that it lives in."""

    pane: PaneView
    agent: str


async def resolve_agent(services: ActingServices, reference: str) -> AgentInPane:
    pane = await resolve_pane(services, reference)
    view = (await services.agents.list_views(pane.id)).get(pane.id)
    if view is None:
        raise NotFound(f"no agent is known to be in pane {pane.id}", hint="`visor panes` shows where agents are.")
    return AgentInPane(pane, view.state.agent)


async def build_agent_request(
    services: ActingServices, args: PreconditionArgs, reference: str, build_action: Callable[[AgentInPane], Action]
) -> ActionRequest:
    """What is wanted of the agent in that pane."""
    found = await resolve_agent(services, reference)
    return ActionRequest(action=build_action(found), preconditions=build_preconditions(args), pane=found.pane)


async def execute_agent_command(
    services: ActingServices, args: ActionArgs, request: ActionRequest
) -> AgentCommandResult:
    agent = str(getattr(request.action, "agent", ""))
    deed, outcome = await execute_action(services, args, request)
    return extend_result(deed, AgentCommandResult, agent=agent, channel=_get_channel(outcome))


def _get_channel(outcome: Outcome | None) -> AgentChannel | None:
    return None if outcome is None else outcome.channel


def get_exit_status(result: ActionResult) -> int:
    return 6 if result.status == "unknown" else 0


def render_text(result: AgentCommandResult, options: RenderOptions) -> str:
    return render_action_result(result, options, "done" if result.status == "done" else result.status)


EXIT_STATUSES = (
    (4, "There is no such pane, or no agent in it."),
    (6, "It cannot be proven that it had its effect."),
    (75, "Nothing was done: reserved, or the pane or its screen is not as expected."),
    (77, "Nothing was done: denied, or a person must allow it first."),
)
