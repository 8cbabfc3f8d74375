"""An agent works and gets nowhere: a person sees where it stands, and it is nudged once they agree.

The nudge names places in the code for the names that the agent's last screen is full of, where a program that knows the
structure of code is installed. A run nudges once; an agent that goes on by itself is left alone.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from termvisor.errors import NotDone, TimedOut
from termvisor.model.agent.state import StateName
from termvisor.workflows.builtin import safe_actions
from termvisor.workflows.calls import CodeSearchResult, Observation, SendTextRequest
from termvisor.workflows.context import Context, StepBack
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
    words = render_nudge(minutes, code.places)
    if context.run.mode == "on":
        await _ask_to_nudge(context, seen, minutes, render_summary(seen, code))
    else:
        await _notify_person(
            context, f"{seen.agent} in pane {seen.pane} seems stuck for {minutes} minutes", render_summary(seen, code)
        )
    deed = await safe_actions.act_safely(context, SendTextRequest(text=words), _check_stuck_agent)
    if deed.status in ("unknown", "typed_not_submitted"):  # an agent at work may show nothing of what it queues
        return f"the nudge was sent, and nothing proves that it was taken ({deed.why}); look at the pane"
    return await _wait_for_reaction(context)


async def _check_stuck_agent(context: Context) -> Observation:
    """It is the agent that was stuck, and it still is at work."""
    seen = await context.observe(30)
    if not seen.agent or (context.run.runtime is not None and seen.runtime != context.run.runtime):
        raise StepBack("its agent has left the pane")
    if seen.state != "running":
        raise StepBack(f"the agent is {seen.state} by now")
    return seen


async def _ask_to_nudge(context: Context, seen: Observation, minutes: str, shown: str) -> None:
    """Also where its actions are not asked about, a nudge is: it comes in between somebody's work."""
    question = f"{seen.agent} in pane {seen.pane} seems stuck for {minutes} minutes. Nudge it?\n{shown}"
    said = await context.ask_person(question, ("nudge", "leave"), _QUESTION_TIMEOUT_S)
    if said.choice != "nudge":
        raise StepBack("a person leaves it alone" if said.choice else "nobody answered in time")


async def _wait_for_reaction(context: Context) -> str:
    try:
        met = await context.wait_state(*_REACTION_STATES, timeout=_REACTION_TIMEOUT_S, is_new=True)
    except TimedOut:
        return "the nudge was sent; the agent takes it when it can"
    return f"the nudge was sent, and the agent is {met.text}"


async def _notify_person(context: Context, title: str, text: str) -> None:
    try:
        await context.notify(title, text)
    except NotDone as error:
        await context.note(f"nobody was told: {error.message}")


def extract_symbols(rows: Iterable[str]) -> tuple[str, ...]:
    """The names of code that the last rows are full of: in quotes, called, or shaped like one. The last rows count."""
    found: Counter[str] = Counter()
    for row in list(rows)[-60:]:
        for pattern, weight in _NAME_PATTERN_WEIGHTS:
            found.update(dict.fromkeys(pattern.findall(row), weight))
    ranked = sorted(found.items(), key=lambda one: (-one[1], one[0]))
    return tuple(name for name, weight in ranked if weight > 1)[:_MAX_SYMBOLS]


def render_summary(observation: Observation, code: CodeSearchResult) -> str:
    """The last screen, and where the names in it stand."""
    rows = [row.strip()[:_MAX_ROW_CHARS] for row in (observation.screen or observation.lines) if row.strip()][
        -_SUMMARY_ROWS:
    ]
    places = [f"code: {place}" for place in code.places] or [f"code: {code.trouble or 'nothing was found'}"]
    return "\n".join([*rows, *places])


def render_nudge(minutes: str, places: Sequence[str]) -> str:
    """One line: an agent's composer takes several only where it understands pasted text."""
    words = NUDGE_TEMPLATE.format(minutes=minutes)
    where = "; ".join(place.partition(": ")[0] for place in places)
    return f"{words} These places may help: {where}." if where else words


WORKFLOW = Workflow(
    name="unstick",
    summary="Show a person where an agent is stuck, and nudge it once they agree.",
    trigger=Trigger(events=("agent.stuck",), fresh_for=1800.0),
    run=run,
    steps=(
        "look whether the agent still works and gets nowhere",
        "sum up its last screen, and find the names in it in the code (ast-grep, where it is installed)",
        "tell the person, and ask before anything is typed",
        "send the nudge once, and see what comes of it",
    ),
)
