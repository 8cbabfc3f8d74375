"""The operation `hook_permission`: turn an agent's permission request into an approval request and return the answer.

The agent's own dialog stays open meanwhile; whichever is answered first wins, and the other is withdrawn.
"""

import asyncio
from collections.abc import Coroutine
from typing import Annotated, Any, Literal, TypeVar

from msgspec import Meta, Struct

from termvisor.errors import Conflict, InternalError, Unsupported, VisorError
from termvisor.model.action.action import AnswerAgent
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.agent.tool_finished import encode_tool_input
from termvisor.model.ids import PaneId
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.approvals._permission_request import (
    POLICY_ONLY_AGENTS,
    PermissionHookAgent,
    PermissionPayload,
    build_answer_action,
    parse_permission_payload,
)
from termvisor.ops.render.text import RenderOptions
from termvisor.redaction import redact

T = TypeVar("T")
MAX_WAIT_S = 590.0
"""Agents kill their hooks after 600 s."""
_HOOK_CLOCK_RESOLUTION_NS = 1_000_000
"""Hooks report times in milliseconds."""
SimpleCoroutine = Coroutine[Any, Any, T]
_ASKING_STATES = ("waiting_approval", "unknown")
_FINISHED_STATES = ("completed", "idle", "error")
"""An agent in one of these has no dialog open, even if its `waiting_approval` was too short to be observed."""


class HookPermissionArgs(Struct, frozen=True, kw_only=True):
    """The input of the agent's hook, and where it runs."""

    agent: Annotated[PermissionHookAgent, Meta(description="The agent that runs the hook.")]
    text: Annotated[str, Meta(description="The request as JSON; the command line reads it from stdin.")] = ""
    tmux: Annotated[str, Meta(description="The agent's TMUX variable.")] = ""
    tmux_pane: Annotated[str, Meta(description="The agent's TMUX_PANE variable.")] = ""
    wait_secs: Annotated[float, Meta(description="Seconds to wait for a person.", ge=0, le=MAX_WAIT_S)] = MAX_WAIT_S


class PermissionAnswer(Struct, frozen=True, kw_only=True):
    """``text`` is the output of the hook in the agent's format. ``correlation`` finds the request in the audit log."""

    decision: Literal["allow", "deny"]
    text: str
    correlation: str


async def run(services: ActingServices, args: HookPermissionArgs) -> PermissionAnswer:
    payload = parse_permission_payload(args.text)
    action = build_answer_action(args.agent, payload, await _find_pane(services, args, payload))
    if args.agent in POLICY_ONLY_AGENTS:
        preview = await services.gate.preview(action, Preconditions())
        if preview.verdict.answer == "ask":
            raise Unsupported(
                "the agent's own dialog asks for permission", hint="`visor inbox` shows the request once it is open."
            )
    outcome = await _wait_for_first_answer(
        _request_permission(services, action, Preconditions(wait_for_answer=args.wait_secs)),
        _wait_for_dialog_answer(services, action.pane),
        _wait_for_tool_end(services, payload),
    )
    if outcome.why not in ("allow", "deny"):
        raise InternalError(f"the gate returned neither allow nor deny but {outcome.why!r}")
    decision: Literal["allow", "deny"] = "allow" if outcome.why == "allow" else "deny"
    return PermissionAnswer(decision=decision, text=outcome.text, correlation=outcome.correlation)


async def _find_pane(services: ActingServices, args: HookPermissionArgs, payload: PermissionPayload) -> PaneId | None:
    """Find the agent's pane by its session id, else by its tmux environment.

    Codex runs hooks in a process of another pane, so its environment is not used.
    """
    views = await services.agents.list_views()
    for pane, view in views.items():
        if payload.session_id and view.session is not None and view.session.external_id == payload.session_id:
            return pane
    if args.agent == "codex" or not args.tmux_pane:
        return None
    place = (args.tmux.partition(",")[0], args.tmux_pane)
    panes = await services.panes.list_panes()
    return next((pane.id for pane in panes if (pane.instance.server.socket, pane.instance.mux_id) == place), None)


async def _wait_for_first_answer(
    approval: SimpleCoroutine[Outcome | VisorError], *elsewhere: SimpleCoroutine[None]
) -> Outcome:
    """Return the answer to the approval request.

    Withdraws the request and raises Conflict if one of ``elsewhere`` completes first: the dialog was answered.
    """
    async with asyncio.TaskGroup() as group:
        approval_task = group.create_task(approval)
        tasks = [approval_task, *(group.create_task(watcher) for watcher in elsewhere)]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
    if approval_task.cancelled():
        raise Conflict("the request was answered in the agent's own dialog", hint="Nothing is left to answer.")
    answer = approval_task.result()
    if isinstance(answer, VisorError):
        raise answer
    return answer


async def _request_permission(
    services: ActingServices, agent_action: AnswerAgent, preconditions: Preconditions
) -> Outcome | VisorError:
    """Run the action; return errors as values, since the task group would wrap them in an ExceptionGroup."""
    try:
        return await services.gate.run(agent_action, preconditions)
    except VisorError as error:
        return error


async def _wait_for_dialog_answer(services: ActingServices, pane: PaneId | None) -> None:
    """Return once the agent's state shows that it no longer waits for permission."""
    with services.agents.subscribe_state_changes() as changes:
        view = None if pane is None else (await services.agents.list_views(pane)).get(pane)
        was_asking = view is not None and view.state.value == "waiting_approval"
        while True:
            state = (change := await changes.get()).after.value
            if change.after.pane != pane:
                continue
            if state in _FINISHED_STATES or (was_asking and state not in _ASKING_STATES):
                return
            was_asking = was_asking or state == "waiting_approval"


async def _wait_for_tool_end(services: ActingServices, payload: PermissionPayload) -> None:
    """Return once the agent reports the end of this tool call: with several dialogs waiting, its state tells nothing.

    The end of one of two identical calls withdraws both requests; the agent's dialog for the other stays open.
    """
    began, tool_input = services.clock.now(), redact(encode_tool_input(payload.tool_input))
    with services.agents.subscribe_tool_ends() as ends:
        while True:
            end = await ends.get()
            is_same = (end.session, end.tool, end.given) == (payload.session_id, payload.tool_name, tool_input)
            if is_same and end.at >= began - _HOOK_CLOCK_RESOLUTION_NS:
                return


def render_text(result: PermissionAnswer, options: RenderOptions) -> str:
    return result.text


OP = Operation(
    name="hook_permission",
    summary="Put an agent's permission request into the inbox and return the answer.",
    doc="""Called by agents; `visor setup agents` adds it to their settings. The policy checks the request like any
action: a rule may allow or deny it at once, else it waits in the inbox for `visor approve` or `visor deny`. The agent's
own dialog stays open meanwhile; an answer there withdraws the approval request, with several waiting only its own.
Without an answer in time, without a daemon, or with one that does not respond within two seconds, it prints nothing and
exits with status 0: the dialog stays, and nothing is allowed or denied. Copilot's hook never waits: a rule answers it,
or its dialog opens and appears in the inbox.""",
    args_type=HookPermissionArgs,
    result_type=PermissionAnswer,
    run=run,
    render_text=render_text,
    effect="change",
    accepts_text_input=True,
    exit_statuses=((0, "Always, as a hook; the answer is in the output."),),
    examples=(
        OperationExample("hook permission --agent claude_code", "as the Claude Code hook, with the request on stdin"),
    ),
)
