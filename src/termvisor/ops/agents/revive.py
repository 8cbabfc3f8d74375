"""The op `revive`: bring a conversation of an agent back in its own folder, or all that broke off."""

import shlex
from typing import Annotated, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from termvisor.errors import BadRequest, ConfirmationRequired, Conflict, NotFound, VisorError
from termvisor.model.action.action import SendText
from termvisor.model.action.outcome import Outcome
from termvisor.model.agent.session import AgentSession
from termvisor.model.ids import PaneId
from termvisor.ops.agents._resume_plan import (
    MAX_SESSIONS_SEARCHED,
    ResumePlace,
    ResumePlan,
    find_interrupted_sessions,
    find_unresumable_sessions,
    plan_resume,
)
from termvisor.ops.api.gate_service import ActingServices
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.input._action_args import ActionArgs, build_preconditions, get_approval_mode
from termvisor.ops.input._execute_action import ActionRequest, dry_run_action, execute_with_approval
from termvisor.ops.panes._listing import parse_time_filter
from termvisor.ops.panes._wait_update import wait_for_update
from termvisor.ops.render.text import RenderOptions, pluralize, sanitize
from termvisor.redaction import redact

_POLL_INTERVAL_S = 1.0
ReviveStatus = Literal["revived", "started", "planned", "skipped", "failed"]


class ReviveArgs(ActionArgs, frozen=True, kw_only=True):
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


class RevivedSessionItem(Struct, frozen=True, kw_only=True):
    """One session. ``status``: `revived` (the agent came up with this very session), `started` (that was not proven in
    time), `planned`, `skipped` or `failed`; ``why`` says more. ``where`` is `pane` (the shell that it left), `window`
    or `session`; ``pane`` is where it lives now. ``verdict`` is what the policy would say, of a plan.
    """

    session: int
    agent: str
    external_id: str
    cwd: str
    command: str
    status: ReviveStatus
    where: ResumePlace = ""
    pane: int | None = None
    why: str = ""
    verdict: str = ""
    correlation: str = ""


class ReviveResult(Struct, frozen=True, kw_only=True):
    """What became of each session, oldest first; then those that broke off and cannot be taken up, as `skipped`."""

    items: tuple[RevivedSessionItem, ...]


async def run(services: ActingServices, args: ReviveArgs) -> ReviveResult:
    if args.all == bool(args.session):
        raise BadRequest("name one session, or say --all", hint="`visor agents sessions` lists them.")
    if not args.all:
        return ReviveResult(items=(await _revive_session(services, args, await _find_session(services, args.session)),))
    known = await services.agents.list_sessions(
        since=parse_time_filter(args.since, services.clock.now()), limit=MAX_SESSIONS_SEARCHED
    )
    panes = await services.panes.list_panes(include_gone=True)
    found = find_interrupted_sessions(known, panes)
    left = tuple(_build_item(one, "skipped", why=one.skip_reason) for one in find_unresumable_sessions(known, panes))
    if args.dry_run or (found and not args.yes):
        plans = (*[await _preview_plan(services, args, await plan_resume(services, one)) for one in found], *left)
        if not args.dry_run and any(one.status == "planned" for one in plans):
            raise ConfirmationRequired(_format_question(plans), shown="\n".join(map(_format_item, plans)))
        return ReviveResult(items=plans)
    return ReviveResult(items=(*[await _try_revive_session(services, args, one) for one in found], *left))


async def build_request(services: ActingServices, args: ReviveArgs) -> ActionRequest:
    """Of one session; what --all stands for is told by its plan."""
    plan = await plan_resume(services, await _find_session(services, args.session))
    return _build_plan_request(args, plan)


def _build_plan_request(args: ReviveArgs, plan: ResumePlan) -> ActionRequest:
    if plan.action is None:
        hint = "`visor agents sessions` shows how each of them ended and what takes it up again."
        raise Conflict(f"session {plan.session.id} is not started: {plan.skip_reason}", hint=hint)
    return ActionRequest(action=plan.action, preconditions=build_preconditions(args), pane=plan.nearby_pane)


async def _find_session(services: ActingServices, name: str) -> AgentSession:
    known = await services.agents.list_sessions(limit=MAX_SESSIONS_SEARCHED)
    found = [one for one in known if name in (str(one.id), one.external_id)]
    if not found:
        raise NotFound(f"there is no session {name!r}", hint="`visor agents sessions` lists them.")
    return found[-1]


async def _revive_session(services: ActingServices, args: ReviveArgs, session: AgentSession) -> RevivedSessionItem:
    plan = await plan_resume(services, session)
    if args.dry_run:
        return await _preview_plan(services, args, plan)
    outcome = await execute_with_approval(services, _build_plan_request(args, plan), get_approval_mode(args))
    if outcome.status not in ("done", "delivered"):
        return _build_item(
            plan, "failed", why=outcome.text or outcome.why or outcome.status, correlation=outcome.correlation
        )
    pane = await _wait_for_session(services, plan, outcome, args.verify_secs)
    if pane is not None:
        return _build_item(plan, "revived", pane=pane, correlation=outcome.correlation)
    if (ended := await _find_failed_pane(services, outcome)) is not None:
        return _build_item(plan, "failed", pane=ended, why=f"it ended at once; pane {ended} stays and shows why")
    why = f"it was not seen to come up with this session within {args.verify_secs:g} s"
    return _build_item(plan, "started", why=why, correlation=outcome.correlation)


async def _try_revive_session(services: ActingServices, args: ReviveArgs, session: AgentSession) -> RevivedSessionItem:
    """One of many: what goes wrong with it is told, and the others have their turn."""
    plan = await plan_resume(services, session)
    if plan.action is None:
        return _build_item(plan, "skipped", why=plan.skip_reason)
    try:
        return await _revive_session(services, args, session)
    except VisorError as error:
        return _build_item(plan, "failed", why=error.message)


async def _preview_plan(services: ActingServices, args: ReviveArgs, plan: ResumePlan) -> RevivedSessionItem:
    if plan.action is None:
        return _build_item(plan, "skipped", why=plan.skip_reason)
    told = await dry_run_action(services, _build_plan_request(args, plan))
    return replace(_build_item(plan, "planned", why=told.refused_why), verdict=told.answer)


async def _wait_for_session(
    services: ActingServices, plan: ResumePlan, outcome: Outcome, seconds: float
) -> PaneId | None:
    """The pane in which the agent has this session; None where it was not seen in time."""
    until = services.clock.monotonic() + seconds
    with services.agents.subscribe_state_changes() as news:
        while True:
            for pane, view in (await services.agents.list_views()).items():
                known = view.session
                is_it = known is not None and known.external_id == plan.session.external_id != ""
                if is_it and await _is_expected_pane(services, pane, plan, outcome):
                    return pane
            if (left := until - services.clock.monotonic()) <= 0 or await _find_failed_pane(
                services, outcome
            ) is not None:
                return None
            await wait_for_update(services.clock, min(left, _POLL_INTERVAL_S), news)


async def _find_failed_pane(services: ActingServices, outcome: Outcome) -> PaneId | None:
    """The new pane, where its program has failed by now."""
    new = (outcome.mux_pane, outcome.pid)
    panes = await services.panes.list_panes() if outcome.mux_pane else []
    return next((one.id for one in panes if one.facts.dead and (one.facts.mux_id, one.facts.pid) == new), None)


async def _is_expected_pane(services: ActingServices, pane: PaneId, plan: ResumePlan, outcome: Outcome) -> bool:
    if isinstance(plan.action, SendText):
        return pane == plan.action.pane
    view = await services.panes.find_pane(pane)
    return view is not None and view.facts.mux_id == outcome.mux_pane


def _build_item(
    plan: ResumePlan, status: ReviveStatus, *, pane: PaneId | None = None, why: str = "", correlation: str = ""
) -> RevivedSessionItem:
    session = plan.session
    there = plan.nearby_pane.id if plan.where == "pane" and plan.nearby_pane else None
    return RevivedSessionItem(
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


def _format_question(plans: tuple[RevivedSessionItem, ...]) -> str:
    count = sum(one.status == "planned" for one in plans)
    return f"bring {pluralize(count, 'session')} back?"


def _format_item(item: RevivedSessionItem) -> str:
    places = {"pane": f"in pane {item.pane}", "window": "in a new window", "session": "in a new tmux session"}
    where = f" {places[item.where]}" if item.where else ""
    at = f" (pane {item.pane})" if item.pane is not None and item.where != "pane" else ""
    why = f": {item.why}" if item.why else f": {item.command}" if item.status == "planned" else ""
    policy = f" [policy: {item.verdict}]" if item.verdict else ""
    return sanitize(f"{item.status} session {item.session} of {item.agent}{where}{at} in {item.cwd}{why}{policy}")


def render_text(result: ReviveResult, options: RenderOptions) -> str:
    styles = {"revived": "green", "started": "yellow", "failed": "red", "skipped": "dim", "planned": ""}
    lines = [options.paint(styles[one.status], _format_item(one)) for one in result.items]
    return "\n".join(lines) if lines else "No session broke off."


def get_exit_status(result: ReviveResult) -> int:
    found = {one.status for one in result.items}
    return 75 if "failed" in found else 6 if "started" in found else 0


OP = Operation(
    name="revive",
    robot_name="revive",
    summary="Bring an agent's conversation back, or all that broke off.",
    doc="""The agent's own resume command (or that of the setting `agent_resume`) starts in the session's folder: at the
prompt of the shell that the agent left, if that is free; else in a new window of the tmux session in which it was;
else, as after a reboot, in a new tmux session of that name. Then it is looked whether the agent came up with that very
session. One that goes on somewhere is never started a second time.

`--all` takes every conversation whose pane went away or whose agent crashed, not those that were ended on purpose. It
shows its plan first and needs `--yes`; each start passes the policy by itself. A tmux server must run.""",
    args_type=ReviveArgs,
    result_type=ReviveResult,
    run=run,
    render_text=render_text,
    build_request=build_request,
    effect="change",
    get_exit_status=get_exit_status,
    exit_statuses=(
        (2, "Not confirmed: nothing was done."),
        (4, "There is no such session."),
        (6, "It was started, and not seen to come up with its session."),
        (75, "The session goes on in a pane, or a start failed."),
        (77, "Nothing was done: denied, or a person must allow it first."),
    ),
    examples=(
        OperationExample("revive 12", "the session of this number in `visor agents sessions`"),
        OperationExample(
            "revive --all --since 2h", "a plan for all that broke off in the last two hours, and a question"
        ),
        OperationExample("robot revive --all --dry-run", "the plan, as JSON"),
    ),
)
