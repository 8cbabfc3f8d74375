"""Declare operations that command the agent in a pane: interrupt, quit, answer a dialog."""

from collections.abc import Callable
from typing import Any

from termvisor.errors import NotFound
from termvisor.model.action.action import Action
from termvisor.model.action.outcome import AgentChannel
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.operation import Operation
from termvisor.ops.api.services import Services
from termvisor.ops.input._action_operation import (
    ActionArgs,
    ActionRequest,
    ActionResult,
    build_preconditions,
    declare_action,
    execute_action,
    extend_result,
    get_exit_status,
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


def declare_agent_command(*, build_action: Callable[[PaneView, str, Any], Action], **declaration: Any) -> Operation:
    """Declare an operation whose action is built from the pane, the name of the agent in it, and the arguments."""

    async def build_request(services: Services, args: Any) -> ActionRequest:
        pane, agent = await resolve_agent(services, args.pane)
        return ActionRequest(action=build_action(pane, agent, args), preconditions=build_preconditions(args), pane=pane)

    return declare_action(
        build_request=build_request,
        execute=_execute_agent_command,
        result_type=AgentCommandResult,
        render_text=_render_text,
        get_exit_status=get_exit_status,
        exit_statuses=(
            (4, "Pane not found, or no agent in it."),
            (6, "Executed, but the effect could not be verified."),
            (75, "Not executed: the pane is reserved, or a precondition failed."),
            (77, "Not executed: denied by the policy, or requires approval."),
        ),
        **declaration,
    )


async def resolve_agent(services: Services, reference: str) -> tuple[PaneView, str]:
    """Return the pane and the name of the agent in it. Raises NotFound."""
    pane = await resolve_pane(services, reference)
    view = (await services.agents.list_views(pane.id)).get(pane.id)
    if view is None:
        raise NotFound(f"no agent found in pane {pane.id}", hint="`visor panes` shows which panes run an agent.")
    return pane, view.state.agent


async def _execute_agent_command(services: Services, args: ActionArgs, request: ActionRequest) -> AgentCommandResult:
    # From the action, not from the pane: another agent may have started there meanwhile.
    agent = str(getattr(request.action, "agent", ""))
    result, outcome = await execute_action(services, args, request)
    return extend_result(result, AgentCommandResult, agent=agent, channel=None if outcome is None else outcome.channel)


def _render_text(result: AgentCommandResult, options: RenderOptions) -> str:
    return render_action_result(result, options, result.status)
