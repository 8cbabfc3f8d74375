"""The operation `hook_permission`: turn an agent's permission request into an approval request and return the answer.

The agent's own dialog stays open in the meantime; whichever is answered first wins, and the other is withdrawn.
"""

import asyncio
import os
import shlex
from collections.abc import Coroutine
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

from termvisor.errors import BadRequest, InternalError, StateConflict, Unsupported, VisorError
from termvisor.model.action.action import AnswerAgent
from termvisor.model.action.approval import ANSWERED_ELSEWHERE
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Preconditions
from termvisor.model.agent.hooks import encode_tool_input
from termvisor.model.ids import PaneId
from termvisor.model.terminal.target import LOCAL, ServerKey
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.redaction import redact

T = TypeVar("T")
# Agents kill their hooks after 600 s.
MAX_WAIT_S = 590.0
# Hooks report times in milliseconds.
_HOOK_CLOCK_RESOLUTION_NS = 1_000_000
SimpleCoroutine = Coroutine[Any, Any, T]
_ASKING_STATES = ("waiting_approval", "unknown")
# An agent in one of these states has no dialog open, even if `waiting_approval` was too short to be observed.
_FINISHED_STATES = ("completed", "idle", "error")
# Agents whose hook can answer in place of their dialog.
PermissionHookAgent = Literal["claude_code", "codex", "copilot"]
# Agents whose hook also runs for tools that are allowed anyway, and delays the dialog while it runs. Only the policy
# answers such a hook; otherwise the dialog opens, is detected and appears in the inbox.
POLICY_ONLY_AGENTS = frozenset({"copilot"})
# Tools whose dialog has more answers than yes and no.
DIALOG_ONLY_TOOLS = frozenset({"AskUserQuestion", "ExitPlanMode"})
_SNAKE_CASE_NAMES = {"toolName": "tool_name", "toolInput": "tool_input", "sessionId": "session_id"}
# Argument names of the agents' tools that write files; the policy checks these paths.
_PATH_FIELDS = ("file_path", "notebook_path")
_WRITING_TOOLS = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit"})


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


class PermissionPayload(Struct, frozen=True, kw_only=True):
    """The payload of a `PermissionRequest` hook; none of it is verified."""

    tool_name: str
    tool_input: dict[str, Any] = {}
    session_id: str = ""
    cwd: str = ""


async def run(services: Services, args: HookPermissionArgs) -> PermissionAnswer:
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


async def _find_pane(services: Services, args: HookPermissionArgs, payload: PermissionPayload) -> PaneId | None:
    """Find the agent's pane by its session id, else by its tmux environment.

    Codex runs hooks in a process of another pane, so its environment is not used.
    """
    views = await services.agents.list_views()
    # The session id is exact; a hook may run in a tmux environment that is not the agent's.
    for pane, view in views.items():
        if payload.session_id and view.session is not None and view.session.external_id == payload.session_id:
            return pane
    # A wrong pane is worse than none, because the user would see the request next to another agent.
    if args.agent == "codex" or not args.tmux_pane:
        return None
    # The hook runs on this machine; another one may have a server at the same path.
    place = (ServerKey(LOCAL.name, args.tmux.partition(",")[0]), args.tmux_pane)
    panes = await services.panes.list_panes()
    return next((pane.id for pane in panes if (pane.instance.server.key, pane.instance.mux_id) == place), None)


async def _wait_for_first_answer(
    approval: SimpleCoroutine[Outcome | VisorError], *elsewhere: SimpleCoroutine[None]
) -> Outcome:
    """Return the answer to the approval request.

    Withdraws the request and raises StateConflict if one of ``elsewhere`` completes first: the dialog was answered.
    """
    async with asyncio.TaskGroup() as group:
        approval_task = group.create_task(approval)
        tasks = [approval_task, *(group.create_task(watcher) for watcher in elsewhere)]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        # Cancelling the call to the gate withdraws its approval request.
        for task in tasks:
            task.cancel(ANSWERED_ELSEWHERE)
    if approval_task.cancelled():
        raise StateConflict("the request was answered in the agent's own dialog", hint="Nothing is left to answer.")
    answer = approval_task.result()
    if isinstance(answer, VisorError):
        raise answer
    return answer


async def _request_permission(
    services: Services, agent_action: AnswerAgent, preconditions: Preconditions
) -> Outcome | VisorError:
    """Run the action; return errors as values, since the task group would wrap them in an ExceptionGroup."""
    try:
        return await services.gate.run(agent_action, preconditions)
    except VisorError as error:
        return error


async def _wait_for_dialog_answer(services: Services, pane: PaneId | None) -> None:
    """Return once the agent's state shows that it no longer waits for permission."""
    with services.agents.subscribe_state_changes() as changes:
        # Read after subscribing, so that a change in between is seen as an update.
        view = None if pane is None else (await services.agents.list_views(pane)).get(pane)
        was_asking = view is not None and view.state.value == "waiting_approval"
        while True:
            state = (change := await changes.get()).after.value
            if change.after.pane != pane:
                continue
            # A state that is unknown for a moment does not prove that the dialog was answered.
            if state in _FINISHED_STATES or (was_asking and state not in _ASKING_STATES):
                return
            was_asking = was_asking or state == "waiting_approval"


async def _wait_for_tool_end(services: Services, payload: PermissionPayload) -> None:
    """Return once the agent reports the end of this tool call; its state is ambiguous while several dialogs wait.

    The end of one of two identical calls withdraws both requests; the agent's dialog for the other stays open.
    """
    began, tool_input = services.clock.now(), redact(encode_tool_input(payload.tool_input))
    with services.agents.subscribe_tool_ends() as ends:
        while True:
            end = await ends.get()
            is_same = (end.session, end.tool, end.given) == (payload.session_id, payload.tool_name, tool_input)
            if is_same and end.at >= began - _HOOK_CLOCK_RESOLUTION_NS:
                return


def parse_permission_payload(text: str) -> PermissionPayload:
    """Parse the hook's JSON.

    Raises BadRequest if it is not a permission request, Unsupported if only the agent's dialog can answer it.
    """
    try:
        payload = msgspec.json.decode(_convert_field_names(text), type=PermissionPayload)
    # The text comes from an agent: lone surrogates and deeply nested JSON must not become an internal error.
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise BadRequest(
            f"not a permission request: {error}", hint="The agent's hook passes it as JSON on stdin."
        ) from error
    if payload.tool_name in DIALOG_ONLY_TOOLS:
        raise Unsupported(
            f"{payload.tool_name} has more answers than yes and no", hint="Answer it in the agent's dialog."
        )
    return payload


def _convert_field_names(text: str) -> bytes:
    """Convert Copilot's camel case field names to those of the other agents."""
    payload = msgspec.json.decode(text)
    if not isinstance(payload, dict):
        return text.encode("utf-8", "replace")
    return msgspec.json.encode({_SNAKE_CASE_NAMES.get(name, name): value for name, value in payload.items()})


def build_answer_action(agent: PermissionHookAgent, payload: PermissionPayload, pane: PaneId | None) -> AnswerAgent:
    rest = dict(payload.tool_input)
    command = rest.pop("command", "")
    paths = [rest.pop(name) for name in _PATH_FIELDS if name in rest] if payload.tool_name in _WRITING_TOOLS else []
    return AnswerAgent(
        agent=agent,
        tool=payload.tool_name,
        command=shlex.join(map(str, command)) if isinstance(command, list) else str(command),
        writes=tuple(map(str, paths)),
        given=msgspec.json.encode(rest).decode() if rest else "",
        cwd=payload.cwd,
        session=payload.session_id,
        pane=pane,
        # Makes the action unique: an approval must not answer a later request for the same tool.
        request=os.urandom(8).hex(),
    )


OP = Operation(
    name="hook_permission",
    summary="Put an agent's permission request into the inbox and return the answer.",
    doc="""Called by agents; `visor setup agents` adds it to their settings. The policy checks the request like any
action: a rule may allow or deny it at once, else it waits in the inbox for `visor approve` or `visor deny`. The agent's
own dialog stays open meanwhile; an answer there withdraws the approval request, with several waiting only its own.
Without an answer in time, without a daemon, or with one that does not respond within two seconds, it prints nothing and
exits with status 0: the dialog stays, and nothing is allowed or denied. Copilot's hook never waits: a rule answers it,
or its dialog opens and appears in the inbox.""",
    run=run,
    render_text=lambda result, _options: result.text,
    effect="change",
    accepts_text_input=True,
    exit_statuses=((0, "Always, as a hook; the answer is in the output."),),
    examples=(
        OperationExample("hook permission --agent claude_code", "as the Claude Code hook, with the request on stdin"),
    ),
)
