"""Operation `attach`: authorize and log attaching to a pane, and return the tmux command for it.

The client runs that command: the daemon has no access to its terminal.
"""

from termvisor.model.action.action import Attach as Action
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.input._action_args import PaneReference, PreconditionArgs, build_preconditions
from termvisor.ops.input._execute_action import (
    ActionRequest,
    ActionResult,
    execute_action,
    extend_result,
    render_dry_run_lines,
)
from termvisor.ops.panes._pane_reference import resolve_pane
from termvisor.ops.render.text import RenderOptions, sanitize


class AttachArgs(PreconditionArgs, frozen=True, kw_only=True):
    """The pane to attach to, and preconditions."""

    pane: PaneReference


class AttachResult(ActionResult, frozen=True, kw_only=True):
    """``outside`` is the command for a plain terminal, ``inside`` for a terminal inside the same tmux server."""

    socket: str = ""
    outside: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()


async def build_request(services: ActingServices, args: AttachArgs) -> ActionRequest:
    pane = await resolve_pane(services, args.pane)
    return ActionRequest(action=Action(pane=pane.id), preconditions=build_preconditions(args), pane=pane)


async def run(services: ActingServices, args: AttachArgs) -> AttachResult:
    pane = await resolve_pane(services, args.pane)
    result, outcome = await execute_action(services, args, await build_request(services, args))
    if outcome is None:
        return extend_result(result, AttachResult)
    socket, tmux = pane.instance.server.socket, ("tmux", "-S", pane.instance.server.socket)
    target = f"{pane.facts.session_id}:{pane.facts.window_id}.{pane.facts.mux_id}"
    return extend_result(
        result,
        AttachResult,
        socket=socket,
        outside=(*tmux, "attach-session", "-t", target),
        inside=(*tmux, "switch-client", "-t", target),
    )


def render_text(result: AttachResult, options: RenderOptions) -> str:
    if result.foreseen is not None:
        return "\n".join(render_dry_run_lines(result.foreseen, options))
    return sanitize(" ".join(f"'{word}'" if "$" in word else word for word in result.outside))


OP = Operation(
    name="attach",
    summary="Attach this terminal to a pane, with tmux.",
    doc="""In a terminal it attaches to the pane's session, or switches the client if the terminal is already inside the
same tmux server. Elsewhere, and with `--json`, it prints the command to run. Like every action, it is subject to the
policy and written to the audit log.""",
    args_type=AttachArgs,
    result_type=AttachResult,
    run=run,
    render_text=render_text,
    build_request=build_request,
    effect="change",
    examples=(
        OperationExample("attach 7", "attach to pane 7; C-b d detaches"),
        OperationExample("attach 7 --json", "print the commands as JSON"),
    ),
)
