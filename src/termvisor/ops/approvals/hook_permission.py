"""The op `hook_permission`: an agent asks whether it may use a tool, and a person may answer from anywhere."""

import asyncio
from collections.abc import Coroutine
from typing import Annotated, Any, Literal, TypeVar

from msgspec import Meta, Struct

from termvisor.errors import Broken, Conflict, Unsupported, VisorError
from termvisor.model.action.action import AnswerAgent
from termvisor.model.action.outcome import Outcome
from termvisor.model.action.preconditions import Terms
from termvisor.model.agent.tool_finished import spelled
from termvisor.model.ids import PaneId
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.approvals._permission_request import NOT_KEPT_WAITING, Asker, Plea, action, understood
from termvisor.ops.render.text import Look
from termvisor.redaction import redact

T = TypeVar("T")
LONGEST = 590.0
"""Seconds; agents end their hooks after 600."""
_ROUNDED = 1_000_000
"""Nanoseconds; hooks tell the time in milliseconds."""
Plain = Coroutine[Any, Any, T]
_STILL_ASKING = ("waiting_approval", "unknown")
_OVER = ("completed", "idle", "error")
"""Who is so now has no question open, also where the waiting itself was too short to be seen."""


class HookPermission(Struct, frozen=True, kw_only=True):
    """What the agent's hook was given, and from where it calls."""

    agent: Annotated[Asker, Meta(description="Whose hook this is.")]
    text: Annotated[str, Meta(description="The request, as JSON; the command line takes it from stdin.")] = ""
    tmux: Annotated[str, Meta(description="The agent's TMUX variable.")] = ""
    tmux_pane: Annotated[str, Meta(description="The agent's TMUX_PANE variable.")] = ""
    wait_secs: Annotated[float, Meta(description="Seconds to wait for a person.", ge=0, le=LONGEST)] = LONGEST


class PermissionAnswer(Struct, frozen=True, kw_only=True):
    """``text`` is what the hook prints, in the agent's own form. ``correlation`` finds the story in the audit."""

    decision: Literal["allow", "deny"]
    text: str
    correlation: str


async def run(world: ActingWorld, wanted: HookPermission) -> PermissionAnswer:
    plea = understood(wanted.text)
    wish = action(wanted.agent, plea, await _pane(world, wanted, plea))
    if wanted.agent in NOT_KEPT_WAITING and (await world.door.foresee(wish, Terms())).verdict.answer == "ask":
        raise Unsupported("a person is asked by the agent's dialog", hint="`visor inbox` shows it once it is open.")
    asking = _asked(world, wish, Terms(wait_for_answer=wanted.wait_secs))
    outcome = await _first(asking, _answered_in_dialog(world, wish.pane), _tool_ended(world, plea))
    if outcome.why not in ("allow", "deny"):
        raise Broken("the door gave no decision")
    decision: Literal["allow", "deny"] = "allow" if outcome.why == "allow" else "deny"
    return PermissionAnswer(decision=decision, text=outcome.text, correlation=outcome.correlation)


async def _pane(world: ActingWorld, wanted: HookPermission, plea: Plea) -> PaneId | None:
    """By the agent's own session. Codex' hooks run in a process of another pane, so there nothing else counts."""
    views = await world.agents.views()
    for pane, view in views.items():
        if plea.session_id and view.session is not None and view.session.external_id == plea.session_id:
            return pane
    if wanted.agent == "codex" or not wanted.tmux_pane:
        return None
    here = (wanted.tmux.partition(",")[0], wanted.tmux_pane)
    panes = await world.fleet.panes()
    return next((one.id for one in panes if (one.instance.server.socket, one.instance.mux_id) == here), None)


async def _first(asking: Plain[Outcome | VisorError], *elsewhere: Plain[None]) -> Outcome:
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


async def _asked(world: ActingWorld, wish: AnswerAgent, terms: Terms) -> Outcome | VisorError:
    try:
        return await world.door.do(wish, terms)
    except VisorError as error:
        return error


async def _answered_in_dialog(world: ActingWorld, pane: PaneId | None) -> None:
    """Returns when news of the agent say that it no longer waits for a permission."""
    with world.agents.news() as news:
        view = None if pane is None else (await world.agents.views(pane)).get(pane)
        was_asking = view is not None and view.state.value == "waiting_approval"
        while True:
            state = (change := await news.get()).after.value
            if change.after.pane != pane:
                continue
            if state in _OVER or (was_asking and state not in _STILL_ASKING):
                return
            was_asking = was_asking or state == "waiting_approval"


async def _tool_ended(world: ActingWorld, plea: Plea) -> None:
    """Returns when the very tool that is asked for came to its end: of several that wait, the agent tells only that.

    Of two that are alike in all, the end of one ends both questions; the dialog of the other stands.
    """
    began, given = world.clock.now(), redact(spelled(plea.tool_input))
    with world.agents.tool_ends() as ends:
        while True:
            end = await ends.get()
            is_same = (end.session, end.tool, end.given) == (plea.session_id, plea.tool_name, given)
            if is_same and end.at >= began - _ROUNDED:
                return


def plain(answer: PermissionAnswer, look: Look) -> str:
    return answer.text


OP = Op(
    name="hook_permission",
    summary="Carry an agent's permission request to the inbox, and the answer back.",
    doc="""Agents call it; `visor setup agents` puts it into their settings. The request is judged by the policy like
any action: a rule may allow or deny it at once, else it waits in the inbox for `visor approve` or `visor deny`. The
agent's own dialog is open meanwhile; an answer there withdraws the question, and of several that wait at once, its own.
Without a clear answer in time, without a daemon, or with one that does not answer within two seconds, it prints nothing
and ends with status 0: the dialog stands, and nothing is allowed or refused behind anybody's back. Copilot's hook is
not kept waiting: a rule answers it, or its dialog opens, which comes to the inbox by itself.""",
    Input=HookPermission,
    Output=PermissionAnswer,
    run=run,
    plain=plain,
    effect="change",
    takes_text=True,
    exits=((0, "As a hook always; whether there is an answer is in what it prints."),),
    examples=(
        Example("hook permission --agent claude_code", "as Claude Code's hook calls it, with the request on stdin"),
    ),
)
