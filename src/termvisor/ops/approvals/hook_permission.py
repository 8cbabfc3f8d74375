"""The op `hook_permission`: an agent asks whether it may use a tool, and a person may answer from anywhere."""

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
"""Seconds; agents end their hooks after 600."""
_HOOK_CLOCK_RESOLUTION_NS = 1_000_000
"""Nanoseconds; hooks tell the time in milliseconds."""
SimpleCoroutine = Coroutine[Any, Any, T]
_ASKING_STATES = ("waiting_approval", "unknown")
_FINISHED_STATES = ("completed", "idle", "error")
"""Who is so now has no question open, also where the waiting itself was too short to be seen."""


class HookPermissionArgs(Struct, frozen=True, kw_only=True):
    """What the agent's hook was given, and from where it calls."""

    agent: Annotated[PermissionHookAgent, Meta(description="Whose hook this is.")]
    text: Annotated[str, Meta(description="The request, as JSON; the command line takes it from stdin.")] = ""
    tmux: Annotated[str, Meta(description="The agent's TMUX variable.")] = ""
    tmux_pane: Annotated[str, Meta(description="The agent's TMUX_PANE variable.")] = ""
    wait_secs: Annotated[float, Meta(description="Seconds to wait for a person.", ge=0, le=MAX_WAIT_S)] = MAX_WAIT_S


class PermissionAnswer(Struct, frozen=True, kw_only=True):
    """``text`` is what the hook prints, in the agent's own form. ``correlation`` finds the story in the audit."""

    decision: Literal["allow", "deny"]
    text: str
    correlation: str


async def run(services: ActingServices, args: HookPermissionArgs) -> PermissionAnswer:
    plea = parse_permission_payload(args.text)
    wish = build_answer_action(args.agent, plea, await _find_pane(services, args, plea))
    if (
        args.agent in POLICY_ONLY_AGENTS
        and (await services.gate.preview(wish, Preconditions())).verdict.answer == "ask"
    ):
        raise Unsupported("a person is asked by the agent's dialog", hint="`visor inbox` shows it once it is open.")
    asking = _request_permission(services, wish, Preconditions(wait_for_answer=args.wait_secs))
    outcome = await _wait_for_first_answer(
        asking, _wait_for_dialog_answer(services, wish.pane), _wait_for_tool_end(services, plea)
    )
    if outcome.why not in ("allow", "deny"):
        raise InternalError("the door gave no decision")
    decision: Literal["allow", "deny"] = "allow" if outcome.why == "allow" else "deny"
    return PermissionAnswer(decision=decision, text=outcome.text, correlation=outcome.correlation)


async def _find_pane(services: ActingServices, args: HookPermissionArgs, payload: PermissionPayload) -> PaneId | None:
    """By the agent's own session. Codex' hooks run in a process of another pane, so there nothing else counts."""
    views = await services.agents.list_views()
    for pane, view in views.items():
        if payload.session_id and view.session is not None and view.session.external_id == payload.session_id:
            return pane
    if args.agent == "codex" or not args.tmux_pane:
        return None
    here = (args.tmux.partition(",")[0], args.tmux_pane)
    panes = await services.panes.list_panes()
    return next((one.id for one in panes if (one.instance.server.socket, one.instance.mux_id) == here), None)


async def _wait_for_first_answer(
    asking: SimpleCoroutine[Outcome | VisorError], *elsewhere: SimpleCoroutine[None]
) -> Outcome:
    """The agent's own dialog is open meanwhile: once somebody answered there, the question is withdrawn."""
    async with asyncio.TaskGroup() as group:
        ours = group.create_task(asking)
        tasks = [ours, *(group.create_task(one) for one in elsewhere)]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
    if ours.cancelled():
        raise Conflict("the agent got its answer elsewhere", hint="Nothing is left to answer.")
    came = ours.result()
    if isinstance(came, VisorError):
        raise came
    return came


async def _request_permission(
    services: ActingServices, agent_action: AnswerAgent, preconditions: Preconditions
) -> Outcome | VisorError:
    try:
        return await services.gate.run(agent_action, preconditions)
    except VisorError as error:
        return error


async def _wait_for_dialog_answer(services: ActingServices, pane: PaneId | None) -> None:
    """Returns when news of the agent say that it no longer waits for a permission."""
    with services.agents.subscribe_state_changes() as news:
        view = None if pane is None else (await services.agents.list_views(pane)).get(pane)
        was_asking = view is not None and view.state.value == "waiting_approval"
        while True:
            state = (change := await news.get()).after.value
            if change.after.pane != pane:
                continue
            if state in _FINISHED_STATES or (was_asking and state not in _ASKING_STATES):
                return
            was_asking = was_asking or state == "waiting_approval"


async def _wait_for_tool_end(services: ActingServices, payload: PermissionPayload) -> None:
    """Returns when the very tool that is asked for came to its end: of several that wait, the agent tells only that.

    Of two that are alike in all, the end of one ends both questions; the dialog of the other stands.
    """
    began, given = services.clock.now(), redact(encode_tool_input(payload.tool_input))
    with services.agents.subscribe_tool_ends() as ends:
        while True:
            end = await ends.get()
            is_same = (end.session, end.tool, end.given) == (payload.session_id, payload.tool_name, given)
            if is_same and end.at >= began - _HOOK_CLOCK_RESOLUTION_NS:
                return


def render_text(result: PermissionAnswer, options: RenderOptions) -> str:
    return result.text


OP = Operation(
    name="hook_permission",
    summary="Carry an agent's permission request to the inbox, and the answer back.",
    doc="""Agents call it; `visor setup agents` puts it into their settings. The request is judged by the policy like
any action: a rule may allow or deny it at once, else it waits in the inbox for `visor approve` or `visor deny`. The
agent's own dialog is open meanwhile; an answer there withdraws the question, and of several that wait at once, its own.
Without a clear answer in time, without a daemon, or with one that does not answer within two seconds, it prints nothing
and ends with status 0: the dialog stands, and nothing is allowed or refused behind anybody's back. Copilot's hook is
not kept waiting: a rule answers it, or its dialog opens, which comes to the inbox by itself.""",
    args_type=HookPermissionArgs,
    result_type=PermissionAnswer,
    run=run,
    render_text=render_text,
    effect="change",
    accepts_text_input=True,
    exit_statuses=((0, "As a hook always; whether there is an answer is in what it prints."),),
    examples=(
        OperationExample(
            "hook permission --agent claude_code", "as Claude Code's hook calls it, with the request on stdin"
        ),
    ),
)
