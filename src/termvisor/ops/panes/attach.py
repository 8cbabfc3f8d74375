"""The op `attach`: allow and record that somebody looks at a pane in their own terminal, and say how they get there.

The caller's own terminal does it: `visor attach` on a terminal runs what this op answers.
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
from termvisor.ops.panes._listing import resolve_pane
from termvisor.ops.render.text import RenderOptions, sanitize


class AttachArgs(PreconditionArgs, frozen=True, kw_only=True):
    """Which pane, and what must hold."""

    pane: PaneReference


class AttachResult(ActionResult, frozen=True, kw_only=True):
    """``outside`` is the program to run in a terminal of its own, ``inside`` in one that shows the same tmux server."""

    socket: str = ""
    outside: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()


async def build_request(services: ActingServices, args: AttachArgs) -> ActionRequest:
    pane = await resolve_pane(services, args.pane)
    return ActionRequest(action=Action(pane=pane.id), preconditions=build_preconditions(args), pane=pane)


async def run(services: ActingServices, args: AttachArgs) -> AttachResult:
    pane = await resolve_pane(services, args.pane)
    deed, outcome = await execute_action(services, args, await build_request(services, args))
    if outcome is None:
        return extend_result(deed, AttachResult)
    socket, tmux = pane.instance.server.socket, ("tmux", "-S", pane.instance.server.socket)
    target = f"{pane.facts.session_id}:{pane.facts.window_id}.{pane.facts.mux_id}"
    return extend_result(
        deed,
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
    summary="Look at a pane in this terminal, with tmux itself.",
    doc="""On a terminal it attaches to the pane's session, or switches to it when the terminal shows the same tmux
server already. Elsewhere, and with `--json`, it only says which program to run. It is judged and recorded like every
other action.""",
    args_type=AttachArgs,
    result_type=AttachResult,
    run=run,
    render_text=render_text,
    build_request=build_request,
    effect="change",
    examples=(
        OperationExample("attach 7", "go there; C-b d comes back"),
        OperationExample("attach 7 --json", "how to get there"),
    ),
)
