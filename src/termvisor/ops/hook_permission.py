"""The op `hook_permission`: an agent asks whether it may use a tool, and a person may answer from anywhere."""

import asyncio
from typing import Annotated, Literal

from msgspec import Meta, Struct

from termvisor.errors import Broken, Conflict, VisorError
from termvisor.model.action import AnswerAgent
from termvisor.model.ids import PaneId
from termvisor.model.outcome import Outcome
from termvisor.model.terms import Terms
from termvisor.ops.base import Example, Op
from termvisor.ops.door import ActingWorld
from termvisor.ops.look import Look
from termvisor.ops.plea import Asker, Plea, action, understood

LONGEST = 590.0
"""Seconds; agents end their hooks after 600."""
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
    outcome = await _unless_answered_elsewhere(world, wish, Terms(wait_for_answer=wanted.wait_secs))
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


async def _unless_answered_elsewhere(world: ActingWorld, wish: AnswerAgent, terms: Terms) -> Outcome:
    """The agent's own dialog is open meanwhile: once somebody answered there, the question is withdrawn."""
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(_asked(world, wish, terms))
        elsewhere = group.create_task(_answered_in_dialog(world, wish.pane))
        await asyncio.wait((asking, elsewhere), return_when=asyncio.FIRST_COMPLETED)
        asking.cancel()
        elsewhere.cancel()
    if asking.cancelled():
        raise Conflict("the agent got its answer elsewhere", hint="Nothing is left to answer.")
    came = asking.result()
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
        view = None if pane is None else (await world.agents.views()).get(pane)
        was_asking = view is not None and view.state.value == "waiting_approval"
        while True:
            state = (change := await news.get()).after.value
            if change.after.pane != pane:
                continue
            if state in _OVER or (was_asking and state not in _STILL_ASKING):
                return
            was_asking = was_asking or state == "waiting_approval"


def plain(answer: PermissionAnswer, look: Look) -> str:
    return answer.text


OP = Op(
    name="hook_permission",
    summary="Carry an agent's permission request to the inbox, and the answer back.",
    doc="""Agents call it; `visor setup agents` puts it into their settings. The request is judged by the policy like
any action: a rule may allow or deny it at once, else it waits in the inbox for `visor approve` or `visor deny`. The
agent's own dialog is open meanwhile; an answer there withdraws the question. Without a clear answer in time, without a
daemon, or with one that does not answer within two seconds, it prints nothing and ends with status 0: the dialog
stands, and nothing is allowed or refused behind anybody's back.""",
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
