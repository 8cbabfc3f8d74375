"""A conversation is over: what it used and how it is taken up again are put on record. Nothing is done in the pane."""

from collections.abc import Mapping

from termvisor.workflows.calls import SessionRecord
from termvisor.workflows.context import Context, StepBack
from termvisor.workflows.workflow import Trigger, Workflow

TOKEN_KINDS = ("total", "input", "cached", "output", "reasoning")
_SUMMARY_DELAYS_S = (3.0, 5.0, 10.0)
"""Seconds in which what an agent prints at its end becomes text; then again, for one that takes its time to end."""
_LOOKBACK_S = 120.0


async def run(context: Context) -> str:
    named = str(context.facts.get("session_id") or "")
    for pause in _SUMMARY_DELAYS_S:
        await context.sleep(pause)
        session = await _find_session(context, named)
        if session.is_over:
            break
    else:
        return f"session {session.id} goes on"
    summary = await context.recall("session.summary", _LOOKBACK_S)
    hint = await context.recall("session.resume_hint", _LOOKBACK_S)
    told = {**summary.found[-1].captures} if summary.found else {}
    name = session.session or told.get("session_id", "") or hint.find_capture("session_id")
    kept = await context.update_session(session.id, name, parse_token_counts(told))
    text = render_ending(kept)
    await context.note(text)
    return text


async def _find_session(context: Context, session_id: str) -> SessionRecord:
    session = await context.last_session(context.run.runtime, session_id)
    if not session.id:
        session = await context.last_session(context.run.runtime)
    if not session.id:
        raise StepBack("no conversation is on record here")
    return session


def parse_token_counts(captures: Mapping[str, str]) -> dict[str, int]:
    """The numbers of tokens in what was printed: `90,506` is one."""
    plain = {name: captures.get(name, "").replace(",", "").replace("_", "") for name in TOKEN_KINDS}
    return {name: int(text) for name, text in plain.items() if text.isascii() and text.isdigit() and len(text) < 16}


def render_ending(session: SessionRecord) -> str:
    """For a person. What was not told is not made up."""
    total = session.tokens.get("total")
    used = "tokens unknown" if total is None else f"{total:,} tokens"
    cost = "" if session.cost is None else f", ${session.cost:.2f}"
    reason = f" ({session.end_reason})" if session.end_reason else ""
    again = f"`visor revive {session.id}` takes it up again" if session.resume else "nothing takes it up again"
    return f"session {session.id} of {session.agent} is over{reason}: {used}{cost}; {again}"


WORKFLOW = Workflow(
    name="handle_session_end",
    summary="Put on record what a session used and how it is taken up again, once it is over.",
    trigger=Trigger(events=("session.summary",)),
    takes_pane=False,
    outlives_agent=True,
    outlives_pane=True,
    run=run,
    steps=(
        "wait for the agent's last words",
        "add the tokens and the resume hint that it printed to its session",
        "say how it is taken up again; nothing is done in the pane",
    ),
)
