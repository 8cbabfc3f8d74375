"""Shared code of operations that command an agent: interrupt, quit, answer a dialog."""

from collections.abc import Callable

from msgspec import Struct

from termvisor.errors import NotFound
from termvisor.model.action.action import Action
from termvisor.model.action.outcome import AgentChannel
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
from termvisor.ops.panes._pane_reference import resolve_pane
from termvisor.ops.render.text import RenderOptions


class AgentCommandResult(ActionResult, frozen=True, kw_only=True):
    """``channel`` is `native` if the agent's own server was used, `keys` if keys were pressed in its terminal, null if
    nothing was executed.
    """

    agent: str = ""
    channel: AgentChannel | None = None


class AgentInPane(Struct, frozen=True):
    """An agent and its pane."""

    pane: PaneView
    agent: str


async def resolve_agent(services: ActingServices, reference: str) -> AgentInPane:
    """Return the agent in a pane. Raises NotFound."""
    pane = await resolve_pane(services, reference)
    view = (await services.agents.list_views(pane.id)).get(pane.id)
    if view is None:
        raise NotFound(f"no agent found in pane {pane.id}", hint="`visor panes` shows which panes run an agent.")
    return AgentInPane(pane, view.state.agent)


async def build_agent_request(
    services: ActingServices, args: PreconditionArgs, reference: str, build_action: Callable[[AgentInPane], Action]
) -> ActionRequest:
    """Build the request of an action on the agent in a pane. Raises NotFound."""
    target = await resolve_agent(services, reference)
    return ActionRequest(action=build_action(target), preconditions=build_preconditions(args), pane=target.pane)


async def execute_agent_command(
    services: ActingServices, args: ActionArgs, request: ActionRequest
) -> AgentCommandResult:
    agent = str(getattr(request.action, "agent", ""))
    result, outcome = await execute_action(services, args, request)
    return extend_result(result, AgentCommandResult, agent=agent, channel=None if outcome is None else outcome.channel)


def get_exit_status(result: ActionResult) -> int:
    return 6 if result.status == "unknown" else 0


def render_text(result: AgentCommandResult, options: RenderOptions) -> str:
    return render_action_result(result, options, "done" if result.status == "done" else result.status)


EXIT_STATUSES = (
    (4, "Pane not found, or no agent in it."),
    (6, "Executed, but the effect could not be verified."),
    (75, "Not executed: the pane is reserved, or a precondition failed."),
    (77, "Not executed: denied by the policy, or requires approval."),
)
