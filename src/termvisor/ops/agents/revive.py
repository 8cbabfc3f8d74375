"""The op `revive`: bring a conversation of an agent back in its own folder, or all that broke off."""

import shlex
from typing import Annotated, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from termvisor.errors import BadRequest, Conflict, NotFound, Unconfirmed, VisorError
from termvisor.model.action.action import SendText
from termvisor.model.action.outcome import Outcome
from termvisor.model.agent.session import AgentSession
from termvisor.model.ids import PaneId
from termvisor.ops.agents._resume_plan import AMONG, Return, Where, broken_off, nameless, planned
from termvisor.ops.api.gate_service import ActingWorld
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.input._act import Wish, done, foretold
from termvisor.ops.input._preconditions import Acting, consent_of, terms_of
from termvisor.ops.panes._listing import moment
from termvisor.ops.panes._wait_first import first
from termvisor.ops.render.text import Look, clean, counted
from termvisor.redaction import redact

_LOOKS_EVERY = 1.0
Status = Literal["revived", "started", "planned", "skipped", "failed"]


class Revive(Acting, frozen=True, kw_only=True):
    """Which conversations."""

    session: Annotated[
        str,
        Meta(
            description="Its number in `visor agents sessions`, or the agent's own name of it.",
            extra={"positional": "one"},
        ),
    ] = ""
    all: Annotated[bool, Meta(description="All that broke off: their panes went away, or they crashed.")] = False
    since: Annotated[
        str, Meta(description="With --all: those that ended after this: ISO 8601, today, or an age such as 2h.")
    ] = "1d"
    verify_secs: Annotated[
        float, Meta(description="Wait so many seconds for the agent to come up with its session.", ge=0, le=600)
    ] = 30.0


class Revived(Struct, frozen=True, kw_only=True):
    """One session. ``status``: `revived` (the agent came up with this very session), `started` (that was not proven in
    time), `planned`, `skipped` or `failed`; ``why`` says more. ``where`` is `pane` (the shell that it left), `window`
    or `session`; ``pane`` is where it lives now. ``verdict`` is what the policy would say, of a plan.
    """

    session: int
    agent: str
    external_id: str
    cwd: str
    command: str
    status: Status
    where: Where = ""
    pane: int | None = None
    why: str = ""
    verdict: str = ""
    correlation: str = ""


class Revivals(Struct, frozen=True, kw_only=True):
    """What became of each session, oldest first; then those that broke off and cannot be taken up, as `skipped`."""

    items: tuple[Revived, ...]


async def run(world: ActingWorld, wanted: Revive) -> Revivals:
    if wanted.all == bool(wanted.session):
        raise BadRequest("name one session, or say --all", hint="`visor agents sessions` lists them.")
    if not wanted.all:
        return Revivals(items=(await _one(world, wanted, await _named(world, wanted.session)),))
    known = await world.agents.sessions(since=moment(wanted.since, world.clock.now()), limit=AMONG)
    panes = await world.fleet.panes(gone=True)
    found = broken_off(known, panes)
    left = tuple(_told(one, "skipped", why=one.skipped) for one in nameless(known, panes))
    if wanted.dry_run or (found and not wanted.yes):
        plans = (*[await _foreseen(world, wanted, await planned(world, one)) for one in found], *left)
        if not wanted.dry_run and any(one.status == "planned" for one in plans):
            raise Unconfirmed(_question(plans), shown="\n".join(map(_line, plans)))
        return Revivals(items=plans)
    return Revivals(items=(*[await _tried(world, wanted, one) for one in found], *left))


async def wish(world: ActingWorld, wanted: Revive) -> Wish:
    """Of one session; what --all stands for is told by its plan."""
    plan = await planned(world, await _named(world, wanted.session))
    return _wish(wanted, plan)


def _wish(wanted: Revive, plan: Return) -> Wish:
    if plan.action is None:
        hint = "`visor agents sessions` shows how each of them ended and what takes it up again."
        raise Conflict(f"session {plan.session.id} is not started: {plan.skipped}", hint=hint)
    return Wish(action=plan.action, terms=terms_of(wanted), pane=plan.beside)


async def _named(world: ActingWorld, name: str) -> AgentSession:
    known = await world.agents.sessions(limit=AMONG)
    found = [one for one in known if name in (str(one.id), one.external_id)]
    if not found:
        raise NotFound(f"there is no session {name!r}", hint="`visor agents sessions` lists them.")
    return found[-1]


async def _one(world: ActingWorld, wanted: Revive, session: AgentSession) -> Revived:
    plan = await planned(world, session)
    if wanted.dry_run:
        return await _foreseen(world, wanted, plan)
    outcome = await done(world, _wish(wanted, plan), consent_of(wanted))
    if outcome.status not in ("done", "delivered"):
        return _told(plan, "failed", why=outcome.text or outcome.why or outcome.status, correlation=outcome.correlation)
    pane = await _lives(world, plan, outcome, wanted.verify_secs)
    if pane is not None:
        return _told(plan, "revived", pane=pane, correlation=outcome.correlation)
    if (ended := await _ended(world, outcome)) is not None:
        return _told(plan, "failed", pane=ended, why=f"it ended at once; pane {ended} stays and shows why")
    why = f"it was not seen to come up with this session within {wanted.verify_secs:g} s"
    return _told(plan, "started", why=why, correlation=outcome.correlation)


async def _tried(world: ActingWorld, wanted: Revive, session: AgentSession) -> Revived:
    """One of many: what goes wrong with it is told, and the others have their turn."""
    plan = await planned(world, session)
    if plan.action is None:
        return _told(plan, "skipped", why=plan.skipped)
    try:
        return await _one(world, wanted, session)
    except VisorError as error:
        return _told(plan, "failed", why=error.message)


async def _foreseen(world: ActingWorld, wanted: Revive, plan: Return) -> Revived:
    if plan.action is None:
        return _told(plan, "skipped", why=plan.skipped)
    told = await foretold(world, _wish(wanted, plan))
    return replace(_told(plan, "planned", why=told.refused_why), verdict=told.answer)


async def _lives(world: ActingWorld, plan: Return, outcome: Outcome, seconds: float) -> PaneId | None:
    """The pane in which the agent has this session; None where it was not seen in time."""
    until = world.clock.monotonic() + seconds
    with world.agents.news() as news:
        while True:
            for pane, view in (await world.agents.views()).items():
                known = view.session
                is_it = known is not None and known.external_id == plan.session.external_id != ""
                if is_it and await _is_there(world, pane, plan, outcome):
                    return pane
            if (left := until - world.clock.monotonic()) <= 0 or await _ended(world, outcome) is not None:
                return None
            await first(world.clock, min(left, _LOOKS_EVERY), news)


async def _ended(world: ActingWorld, outcome: Outcome) -> PaneId | None:
    """The new pane, where its program has failed by now."""
    new = (outcome.mux_pane, outcome.pid)
    panes = await world.fleet.panes() if outcome.mux_pane else []
    return next((one.id for one in panes if one.facts.dead and (one.facts.mux_id, one.facts.pid) == new), None)


async def _is_there(world: ActingWorld, pane: PaneId, plan: Return, outcome: Outcome) -> bool:
    if isinstance(plan.action, SendText):
        return pane == plan.action.pane
    view = await world.fleet.pane(pane)
    return view is not None and view.facts.mux_id == outcome.mux_pane


def _told(plan: Return, status: Status, *, pane: PaneId | None = None, why: str = "", correlation: str = "") -> Revived:
    session = plan.session
    there = plan.beside.id if plan.where == "pane" and plan.beside else None
    return Revived(
        session=session.id,
        agent=session.agent,
        external_id=redact(session.external_id),
        cwd=redact(session.cwd),
        command=redact(shlex.join(plan.command)),
        status=status,
        where=plan.where,
        pane=pane or there,
        why=redact(why),
        correlation=correlation,
    )


def _question(plans: tuple[Revived, ...]) -> str:
    count = sum(one.status == "planned" for one in plans)
    return f"bring {counted(count, 'session')} back?"


def _line(one: Revived) -> str:
    places = {"pane": f"in pane {one.pane}", "window": "in a new window", "session": "in a new tmux session"}
    where = f" {places[one.where]}" if one.where else ""
    at = f" (pane {one.pane})" if one.pane is not None and one.where != "pane" else ""
    why = f": {one.why}" if one.why else f": {one.command}" if one.status == "planned" else ""
    policy = f" [policy: {one.verdict}]" if one.verdict else ""
    return clean(f"{one.status} session {one.session} of {one.agent}{where}{at} in {one.cwd}{why}{policy}")


def plain(told: Revivals, look: Look) -> str:
    styles = {"revived": "green", "started": "yellow", "failed": "red", "skipped": "dim", "planned": ""}
    lines = [look.paint(styles[one.status], _line(one)) for one in told.items]
    return "\n".join(lines) if lines else "No session broke off."


def exit_status(told: Revivals) -> int:
    found = {one.status for one in told.items}
    return 75 if "failed" in found else 6 if "started" in found else 0


OP = Op(
    name="revive",
    robot="revive",
    summary="Bring an agent's conversation back, or all that broke off.",
    doc="""The agent's own resume command (or that of the setting `agent_resume`) starts in the session's folder: at the
prompt of the shell that the agent left, if that is free; else in a new window of the tmux session in which it was;
else, as after a reboot, in a new tmux session of that name. Then it is looked whether the agent came up with that very
session. One that goes on somewhere is never started a second time.

`--all` takes every conversation whose pane went away or whose agent crashed, not those that were ended on purpose. It
shows its plan first and needs `--yes`; each start passes the policy by itself. A tmux server must run.""",
    Input=Revive,
    Output=Revivals,
    run=run,
    plain=plain,
    wish=wish,
    effect="change",
    exit_status=exit_status,
    exits=(
        (2, "Not confirmed: nothing was done."),
        (4, "There is no such session."),
        (6, "It was started, and not seen to come up with its session."),
        (75, "The session goes on in a pane, or a start failed."),
        (77, "Nothing was done: denied, or a person must allow it first."),
    ),
    examples=(
        Example("revive 12", "the session of this number in `visor agents sessions`"),
        Example("revive --all --since 2h", "a plan for all that broke off in the last two hours, and a question"),
        Example("robot revive --all --dry-run", "the plan, as JSON"),
    ),
)
