"""Store a session's token usage and resume id when it ends. Nothing is done in the pane."""

from collections.abc import Mapping

from termvisor.workflows.context import Context, StepBack
from termvisor.workflows.results import SessionRecord
from termvisor.workflows.workflow import Trigger, Workflow

TOKEN_KINDS = ("total", "input", "cached", "output", "reasoning")
_SUMMARY_DELAYS_S = (3.0, 5.0, 10.0)
"""Seconds to wait for the text that an agent prints on exit; repeated if it exits slowly."""
_LOOKBACK_S = 120.0


async def run(context: Context) -> str:
    session_id = str(context.facts.get("session_id") or "")
    for delay in _SUMMARY_DELAYS_S:
        await context.sleep(delay)
        session = await _find_session(context, session_id)
        if session.is_over:
            break
    else:
        return f"session {session.id} is still open"
    summary = await context.recall("session.summary", _LOOKBACK_S)
    hint = await context.recall("session.resume_hint", _LOOKBACK_S)
    captures = {**summary.found[-1].captures} if summary.found else {}
    # An id reported by the agent itself is trusted more than one read from its output.
    external_id = session.session or captures.get("session_id", "") or hint.find_capture("session_id")
    updated = await context.update_session(session.id, external_id, parse_token_counts(captures))
    text = render_ending(updated)
    await context.note(text)
    return text


async def _find_session(context: Context, session_id: str) -> SessionRecord:
    session = await context.last_session(context.run.runtime, session_id)
    if not session.id:
        session = await context.last_session(context.run.runtime)
    if not session.id:
        raise StepBack("no session of this pane found")
    return session


def parse_token_counts(captures: Mapping[str, str]) -> dict[str, int]:
    """Return the token counts in the captures. A count may be written as `90,506`."""
    plain = {name: captures.get(name, "").replace(",", "").replace("_", "") for name in TOKEN_KINDS}
    return {name: int(text) for name, text in plain.items() if text.isascii() and text.isdigit() and len(text) < 16}


def render_ending(session: SessionRecord) -> str:
    """Describe the ended session for people, leaving out unknown values."""
    total = session.tokens.get("total")
    used = "tokens unknown" if total is None else f"{total:,} tokens"
    cost = "" if session.cost is None else f", ${session.cost:.2f}"
    reason = f" ({session.end_reason})" if session.end_reason else ""
    again = f"`visor revive {session.id}` takes it up again" if session.resume else "nothing takes it up again"
    return f"session {session.id} of {session.agent} is over{reason}: {used}{cost}; {again}"


WORKFLOW = Workflow(
    name="handle_session_end",
    summary="Store the token usage of an ended session and how it can be resumed.",
    trigger=Trigger(events=("session.summary",)),
    takes_pane=False,
    outlives_agent=True,
    outlives_pane=True,
    run=run,
    steps=(
        "wait for the summary that the agent prints when it exits",
        "add its tokens and its resume hint to the session",
        "note how it can be resumed; nothing is done in the pane",
    ),
)
