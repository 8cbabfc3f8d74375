"""Declare operations that command the agent in a pane: interrupt, quit, answer a dialog."""

from collections.abc import Callable
from typing import Any

from termvisor.errors import AgentNotFound
from termvisor.model.action.action import Action
from termvisor.model.action.outcome import AgentChannel
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.operation import Operation
from termvisor.ops.api.services import Services
from termvisor.ops.input import _action_operation
from termvisor.ops.panes._pane_reference import resolve_pane


class AgentCommandResult(_action_operation.ActionResult, frozen=True, kw_only=True):
    """``channel`` is `native` if the agent's own server was used, `keys` if keys were pressed in its terminal, null if
    nothing was executed.
    """

    agent: str = ""
    channel: AgentChannel | None = None


def declare_agent_command(*, build_action: Callable[[PaneView, str, Any], Action], **declaration: Any) -> Operation:
    """Declare an operation whose action is built from the pane, the name of the agent in it, and the arguments."""

    async def build_request(services: Services, args: Any) -> _action_operation.ActionRequest:
        pane, agent = await resolve_agent(services, args.pane)
        return _action_operation.ActionRequest(
            action=build_action(pane, agent, args), preconditions=_action_operation.build_preconditions(args), pane=pane
        )

    return _action_operation.declare_action(
        build_request=build_request,
        execute=_execute_agent_command,
        result_type=AgentCommandResult,
        render_text=lambda result, options: _action_operation.render_action_result(result, options, result.status),
        get_exit_status=_action_operation.get_exit_status,
        exit_statuses=(
            (4, "Pane not found, or no agent in it."),
            (6, "Executed, but the effect could not be verified."),
            (75, "Not executed: the pane is reserved, or a precondition failed."),
            (77, "Not executed: denied by the policy, or requires approval."),
        ),
        **declaration,
    )


async def resolve_agent(services: Services, reference: str) -> tuple[PaneView, str]:
    """Return the pane and the name of the agent in it. Raises AgentNotFound."""
    pane = await resolve_pane(services, reference)
    view = (await services.agents.list_views(pane.id)).get(pane.id)
    if view is None:
        raise AgentNotFound(f"no agent found in pane {pane.id}", hint="`visor panes` shows which panes run an agent.")
    return pane, view.state.agent


async def _execute_agent_command(
    services: Services, args: _action_operation.ActionArgs, request: _action_operation.ActionRequest
) -> AgentCommandResult:
    # Taken from the action, because another agent may have started in the pane in the meantime.
    agent = str(getattr(request.action, "agent", ""))
    result, outcome = await _action_operation.execute_action(services, args, request)
    return _action_operation.extend_result(
        result, AgentCommandResult, agent=agent, channel=None if outcome is None else outcome.channel
    )
