"""Operation `attach`: authorize and log attaching to a pane, and return the command of its backend for it.

The client runs that command: the daemon has no access to its terminal.
"""

from termvisor.model.action.action import Attach
from termvisor.ops.api.operation import OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.input import _action_operation
from termvisor.ops.panes._pane_reference import PaneReference
from termvisor.ops.render.text import RenderOptions, sanitize


class AttachArgs(_action_operation.PreconditionArgs, frozen=True, kw_only=True):
    """The pane to attach to, and preconditions."""

    pane: PaneReference


class AttachResult(_action_operation.ActionResult, frozen=True, kw_only=True):
    """``outside`` is the command for a plain terminal, ``inside`` for a terminal inside the same server."""

    socket: str = ""
    outside: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()


build_request = _action_operation.build_on_pane(lambda pane, _args: Attach(pane=pane.id))


async def execute(services: Services, args: AttachArgs, request: _action_operation.ActionRequest) -> AttachResult:
    if request.pane is not None:
        services.panes.require_attachable(request.pane, services.gate.actor)
    result, outcome = await _action_operation.execute_action(services, args, request)
    if outcome is None or (pane := request.pane) is None:
        return _action_operation.extend_result(result, AttachResult)
    plan = services.panes.plan_attach(pane)
    return _action_operation.extend_result(
        result, AttachResult, socket=plan.address, outside=plan.outside, inside=plan.inside
    )


def render_text(result: AttachResult, options: RenderOptions) -> str:
    if result.foreseen is not None:
        return "\n".join(_action_operation.render_dry_run_lines(result.foreseen, options))
    # tmux session ids start with `$`, which a shell would expand.
    return sanitize(" ".join(f"'{word}'" if "$" in word else word for word in result.outside))


OP = _action_operation.declare_action(
    name="attach",
    summary="Attach this terminal to a pane, with tmux.",
    doc="""In a terminal it attaches to the pane's session, or switches the client if the terminal is already inside the
same tmux server. Elsewhere, and with `--json`, it prints the command to run. Like every action, it is subject to the
policy and written to the audit log. Only a person may attach to a pane without tmux: what is typed there passes no
gate.""",
    args_type=AttachArgs,
    build_request=build_request,
    execute=execute,
    result_type=AttachResult,
    render_text=render_text,
    examples=(
        OperationExample("attach 7", "attach to pane 7; C-b d detaches"),
        OperationExample("attach 7 --json", "print the commands as JSON"),
    ),
)
