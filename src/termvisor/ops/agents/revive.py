"""The operation `revive`: resume an interrupted agent session, or all of them, and verify that the agent came up."""

import shlex
from typing import Annotated, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from termvisor.bus import wait_for_update
from termvisor.errors import BadRequest, ConfirmationRequired, StateConflict, VisorError
from termvisor.model.action.action import SendText
from termvisor.model.action.outcome import Outcome
from termvisor.model.agent.session import AgentSession
from termvisor.model.ids import PaneId
from termvisor.ops.agents._resume_plan import (
    MAX_SESSIONS_SEARCHED,
    ResumePlace,
    ResumePlan,
    find_interrupted_sessions,
    find_session,
    find_unresumable_sessions,
    plan_resume,
)
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.input._action_operation import (
    ActionArgs,
    ActionRequest,
    build_preconditions,
    dry_run_action,
    execute_with_approval,
    get_approval_mode,
)
from termvisor.ops.render.results import parse_time_filter
from termvisor.ops.render.text import RenderOptions, pluralize, sanitize
from termvisor.redaction import redact

# A program that fails immediately causes no agent state change, so waiting for state changes is not enough.
_POLL_INTERVAL_S = 1.0
ReviveStatus = Literal["revived", "started", "planned", "skipped", "failed"]


class ReviveArgs(ActionArgs, frozen=True, kw_only=True):
    """Choose the sessions to revive."""

    session: Annotated[
        str,
        Meta(
            description="The session: its ID in `visor agents sessions`, or the agent's own session id.",
            extra={"positional": "one"},
        ),
    ] = ""
    all: Annotated[bool, Meta(description="All interrupted sessions: the pane went away, or the agent crashed.")] = (
        False
    )
    since: Annotated[
        str, Meta(description="With --all: only sessions that ended after this: ISO 8601, today, or an age such as 2h.")
    ] = "1d"
    verify_secs: Annotated[
        float, Meta(description="Seconds to wait for the agent to come up with its session.", ge=0, le=600)
    ] = 30.0


class RevivedSessionItem(Struct, frozen=True, kw_only=True):
    """One session. ``status``: `revived` (the agent came up with this session), `started` (not verified in time),
    `planned`, `skipped` or `failed`; ``why`` gives the reason. ``where`` is `pane` (the shell that the agent left),
    `window` or `session`; ``pane`` is the pane it runs in now. ``verdict`` is the policy's verdict on a planned one.
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
    """Sessions, oldest first; then the interrupted ones that cannot be resumed, as `skipped`."""

    items: tuple[RevivedSessionItem, ...]


async def run(services: Services, args: ReviveArgs) -> ReviveResult:
    if args.all == bool(args.session):
        raise BadRequest("name one session or pass --all", hint="`visor agents sessions` lists them.")
    if not args.all:
        return ReviveResult(items=(await _revive_session(services, args, await find_session(services, args.session)),))
    sessions = await services.agents.list_sessions(
        since=parse_time_filter(args.since, services.clock.now()), limit=MAX_SESSIONS_SEARCHED
    )
    panes = await services.panes.list_panes(include_gone=True)
    interrupted = find_interrupted_sessions(sessions, panes)
    unresumable = [_build_item(plan, "skipped") for plan in find_unresumable_sessions(sessions, panes)]
    # Without an interrupted session there is nothing to confirm.
    if not args.dry_run and (args.yes or not interrupted):
        revived = [await _try_revive_session(services, args, session) for session in interrupted]
        return ReviveResult(items=(*revived, *unresumable))
    planned = [await _preview_plan(services, args, await plan_resume(services, session)) for session in interrupted]
    items = (*planned, *unresumable)
    count = sum(item.status == "planned" for item in items)
    if count and not args.dry_run:
        raise ConfirmationRequired(f"resume {pluralize(count, 'session')}?", shown="\n".join(map(_format_item, items)))
    return ReviveResult(items=items)


async def build_request(services: Services, args: ReviveArgs) -> ActionRequest:
    """Build the action for one session. `--all` has no single action; its plan lists all of them."""
    return _build_plan_request(args, await plan_resume(services, await find_session(services, args.session)))


def _build_plan_request(args: ReviveArgs, plan: ResumePlan) -> ActionRequest:
    if plan.action is None:
        hint = "`visor agents sessions` shows how each session ended and the command that resumes it."
        raise StateConflict(f"session {plan.session.id} was not resumed: {plan.skip_reason}", hint=hint)
    return ActionRequest(action=plan.action, preconditions=build_preconditions(args), pane=plan.nearby_pane)


async def _revive_session(services: Services, args: ReviveArgs, session: AgentSession) -> RevivedSessionItem:
    plan = await plan_resume(services, session)
    if args.dry_run:
        return await _preview_plan(services, args, plan)
    # This uses the new plan, because the pane may have changed since the user confirmed the first one.
    outcome = await execute_with_approval(services, _build_plan_request(args, plan), get_approval_mode(args))
    if outcome.status not in ("done", "delivered"):
        return _build_item(
            plan, "failed", why=outcome.text or outcome.why or outcome.status, correlation=outcome.correlation
        )
    pane = await _wait_for_session(services, plan, outcome, args.verify_secs)
    if pane is not None:
        return _build_item(plan, "revived", pane=pane, correlation=outcome.correlation)
    if (failed := await _find_failed_pane(services, outcome)) is not None:
        return _build_item(
            plan, "failed", pane=failed, why=f"the agent exited at once; see its output in pane {failed}"
        )
    why = f"the agent did not report this session within {args.verify_secs:g} s"
    return _build_item(plan, "started", why=why, correlation=outcome.correlation)


async def _try_revive_session(services: Services, args: ReviveArgs, session: AgentSession) -> RevivedSessionItem:
    """Revive one of several sessions; return a failure as an item, so that the others are still tried."""
    plan = await plan_resume(services, session)
    if plan.action is None:
        return _build_item(plan, "skipped")
    try:
        return await _revive_session(services, args, session)
    # Policy, preconditions and tmux can refuse one session; the others are independent of it.
    except VisorError as error:
        return _build_item(plan, "failed", why=error.message)


async def _preview_plan(services: Services, args: ReviveArgs, plan: ResumePlan) -> RevivedSessionItem:
    if plan.action is None:
        return _build_item(plan, "skipped")
    preview = await dry_run_action(services, _build_plan_request(args, plan))
    return replace(_build_item(plan, "planned", why=preview.refused_why), verdict=preview.answer)


async def _wait_for_session(services: Services, plan: ResumePlan, outcome: Outcome, seconds: float) -> PaneId | None:
    """Return the pane in which the agent reports this session; None on timeout or if the new pane failed."""
    deadline = services.clock.monotonic() + seconds
    # Subscribe before the first check, because a fast agent may report its session immediately.
    with services.agents.subscribe_state_changes() as changes:
        while True:
            for pane, view in (await services.agents.list_views()).items():
                current = view.session
                # An empty id would match every agent that has not reported its session yet.
                is_resumed = current is not None and current.external_id == plan.session.external_id != ""
                if is_resumed and await _is_expected_pane(services, pane, plan, outcome):
                    return pane
            remaining = deadline - services.clock.monotonic()
            if remaining <= 0 or await _find_failed_pane(services, outcome) is not None:
                return None
            await wait_for_update(services.clock, min(remaining, _POLL_INTERVAL_S), changes)


async def _find_failed_pane(services: Services, outcome: Outcome) -> PaneId | None:
    """Return the new pane if its program has exited with an error."""
    # A pane id is unique only within one tmux server: the pid proves that it is the new pane.
    new = (outcome.mux_pane, outcome.pid)
    panes = await services.panes.list_panes() if outcome.mux_pane else []
    return next((pane.id for pane in panes if pane.facts.dead and (pane.facts.mux_id, pane.facts.pid) == new), None)


async def _is_expected_pane(services: Services, pane: PaneId, plan: ResumePlan, outcome: Outcome) -> bool:
    if isinstance(plan.action, SendText):
        return pane == plan.action.pane
    view = await services.panes.find_pane(pane)
    return view is not None and view.facts.mux_id == outcome.mux_pane


def _build_item(
    plan: ResumePlan, status: ReviveStatus, *, pane: PaneId | None = None, why: str = "", correlation: str = ""
) -> RevivedSessionItem:
    session = plan.session
    shell_pane = plan.nearby_pane.id if plan.where == "pane" and plan.nearby_pane else None
    return RevivedSessionItem(
        session=session.id,
        agent=session.agent,
        external_id=redact(session.external_id),
        cwd=redact(session.cwd),
        command=redact(shlex.join(plan.command)),
        status=status,
        where=plan.where,
        pane=pane or shell_pane,
        why=redact(why or plan.skip_reason),
        correlation=correlation,
    )


def _format_item(item: RevivedSessionItem) -> str:
    places = {"pane": f"in pane {item.pane}", "window": "in a new window", "session": "in a new tmux session"}
    where = f" {places[item.where]}" if item.where else ""
    at = f" (pane {item.pane})" if item.pane is not None and item.where != "pane" else ""
    why = f": {item.why}" if item.why else f": {item.command}" if item.status == "planned" else ""
    policy = f" [policy: {item.verdict}]" if item.verdict else ""
    return sanitize(f"{item.status} session {item.session} of {item.agent}{where}{at} in {item.cwd}{why}{policy}")


def render_text(result: ReviveResult, options: RenderOptions) -> str:
    styles = {"revived": "green", "started": "yellow", "failed": "red", "skipped": "dim", "planned": ""}
    lines = [options.paint(styles[item.status], _format_item(item)) for item in result.items]
    return "\n".join(lines) if lines else "No interrupted sessions."


def get_exit_status(result: ReviveResult) -> int:
    statuses = {item.status for item in result.items}
    return 75 if "failed" in statuses else 6 if "started" in statuses else 0


OP = Operation(
    name="revive",
    robot_name="revive",
    summary="Resume an interrupted agent session, or all of them.",
    doc="""Runs the agent's own resume command (or that of the setting `agent_resume`) in the session's directory: at
the prompt of the shell that the agent left, if that is free; else in a new window of the tmux session in which it was;
else, as after a reboot, in a new tmux session of that name. Then waits until the agent reports that session. A session
that is already running is never started a second time.

`--all` takes every session whose pane went away or whose agent crashed, not those that were closed on purpose. It
shows its plan first and needs `--yes`; the policy checks each start on its own. A tmux server must be running.""",
    run=run,
    render_text=render_text,
    build_request=build_request,
    effect="change",
    get_exit_status=get_exit_status,
    exit_statuses=(
        (2, "Not confirmed: nothing was done."),
        (4, "Session not found."),
        (6, "Started, but the agent did not report the session in time."),
        (75, "The session is already running in a pane, or a start failed."),
        (77, "Nothing was done: denied, or it requires approval."),
    ),
    examples=(
        OperationExample("revive 12", "resume session 12 of `visor agents sessions`"),
        OperationExample(
            "revive --all --since 2h", "plan all sessions interrupted in the last two hours, then ask for confirmation"
        ),
        OperationExample("robot revive --all --dry-run", "show the plan, as JSON"),
    ),
)
