"""Show a stuck agent to a person, and send the agent a prompt (a nudge) once the person agrees.

If ast-grep is installed, the nudge lists where the symbols most frequent on the agent's last screen occur in the code.
A run nudges only once. An agent that makes progress by itself is left alone.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from termvisor.errors import TimedOut
from termvisor.model.agent.state import StateName
from termvisor.workflows.builtin import safe_actions
from termvisor.workflows.calls import SendTextRequest
from termvisor.workflows.context import Context, StepBack
from termvisor.workflows.results import UNCERTAIN_STATUSES, CodeSearchResult, Observation
from termvisor.workflows.workflow import Trigger, Workflow

NUDGE_TEMPLATE = (
    "You have shown no progress for {minutes} minutes. Stop and say in two sentences what you are trying and what"
    " blocks you, then take the smallest next step, or ask me."
)
_SUMMARY_ROWS = 12
_MAX_ROW_CHARS = 120
_QUESTION_TIMEOUT_S = 1800.0
_REACTION_TIMEOUT_S = 60.0
_REACTION_STATES: tuple[StateName, ...] = ("running", "waiting_approval", "waiting_input", "completed", "idle")
_CALLED_NAME = re.compile(r"\b([A-Za-z_][A-Za-z0-9_]{2,60})\(")
_QUOTED_NAME = re.compile(r"['\"`]([A-Za-z_][A-Za-z0-9_]{2,60})['\"`]")
_CODE_LIKE_NAME = re.compile(
    r"\b([a-z0-9]+(?:_[a-z0-9]+)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+)\b"
)
_NAME_PATTERN_WEIGHTS = ((_QUOTED_NAME, 3), (_CALLED_NAME, 2), (_CODE_LIKE_NAME, 1))
_MAX_SYMBOLS = 3


async def run(context: Context) -> str:
    seen = await _check_stuck_agent(context)
    names = extract_symbols((*seen.lines, *seen.screen))
    code = await context.search_code(*names) if names else CodeSearchResult(trouble="the screen shows no names of code")
    minutes = str(context.facts.get("minutes") or "some")
    await context.note(render_summary(seen, code))
    nudge = render_nudge(minutes, code.places)
    # In the mode `ask` the gate itself requests approval for the nudge, so do not ask twice.
    if context.run.mode == "on":
        await _ask_to_nudge(context, seen, minutes, render_summary(seen, code))
    else:
        await safe_actions.notify_person(
            context, f"{seen.agent} in pane {seen.pane} seems stuck for {minutes} minutes", render_summary(seen, code)
        )
    result = await safe_actions.act_safely(context, SendTextRequest(text=nudge), _check_stuck_agent)
    if result.status in UNCERTAIN_STATUSES:  # a working agent may not show a queued prompt
        return f"the nudge was sent, but it is not known whether it arrived ({result.why}); check the pane"
    return await _wait_for_reaction(context)


async def _check_stuck_agent(context: Context) -> Observation:
    """Return the pane if the stuck agent is still there and working. Raises ``StepBack`` otherwise."""
    seen = await context.observe(30)
    if not seen.agent or (context.run.runtime is not None and seen.runtime != context.run.runtime):
        raise StepBack("its agent has exited")
    if seen.state != "running":
        raise StepBack(f"the agent is {seen.state} now")
    return seen


async def _ask_to_nudge(context: Context, seen: Observation, minutes: str, shown: str) -> None:
    """Ask a person before nudging, even in the mode `on`, because a nudge interrupts the agent's work."""
    question = f"{seen.agent} in pane {seen.pane} seems stuck for {minutes} minutes. Nudge it?\n{shown}"
    answer = await context.ask_person(question, ("nudge", "leave"), _QUESTION_TIMEOUT_S)
    if answer.choice != "nudge":
        raise StepBack("a person declined the nudge" if answer.choice else "no answer in time")


async def _wait_for_reaction(context: Context) -> str:
    try:
        state = await context.wait_state(*_REACTION_STATES, timeout=_REACTION_TIMEOUT_S, is_new=True)
    except TimedOut:
        return "the nudge was sent; the agent has queued it"
    return f"the nudge was sent, and the agent is {state.text}"


def extract_symbols(rows: Iterable[str]) -> tuple[str, ...]:
    """Return the most frequent symbols in the last rows: names that are quoted, called or look like symbols."""
    weights: Counter[str] = Counter()
    for row in list(rows)[-60:]:
        for pattern, weight in _NAME_PATTERN_WEIGHTS:
            weights.update(dict.fromkeys(pattern.findall(row), weight))
    ranked = sorted(weights.items(), key=lambda item: (-item[1], item[0]))
    # A name that occurs only once and merely looks like a symbol is too weak a hint.
    return tuple(name for name, weight in ranked if weight > 1)[:_MAX_SYMBOLS]


def render_summary(observation: Observation, code: CodeSearchResult) -> str:
    """Return the last rows of the screen and the code locations of its symbols."""
    rows = [row.strip()[:_MAX_ROW_CHARS] for row in (observation.screen or observation.lines) if row.strip()]
    places = [f"code: {place}" for place in code.places] or [f"code: {code.trouble or 'nothing was found'}"]
    return "\n".join([*rows[-_SUMMARY_ROWS:], *places])


def render_nudge(minutes: str, places: Sequence[str]) -> str:
    """Return the nudge as one line, because a composer accepts several lines only if it supports pasting."""
    nudge = NUDGE_TEMPLATE.format(minutes=minutes)
    locations = "; ".join(place.partition(": ")[0] for place in places)
    return f"{nudge} These places may help: {locations}." if locations else nudge


WORKFLOW = Workflow(
    name="unstick",
    summary="Show a person an agent that is stuck, and nudge it once they agree.",
    trigger=Trigger(events=("agent.stuck",), fresh_for=1800.0),
    run=run,
    steps=(
        "check that the agent still works without progress",
        "summarize its last screen, and find its symbols in the code (with ast-grep, if installed)",
        "notify a person, and ask before anything is typed",
        "send the nudge once, and wait for a reaction",
    ),
)
