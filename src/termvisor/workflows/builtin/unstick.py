"""An agent works and gets nowhere: a person sees where it stands, and it is nudged once they agree.

The nudge names places in the code for the names that the agent's last screen is full of, where a program that knows the
structure of code is installed. A run nudges once; an agent that goes on by itself is left alone.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from termvisor.errors import NotDone, TimedOut
from termvisor.model.agent.state import StateName
from termvisor.workflows.builtin import safe_actions as caution
from termvisor.workflows.calls import CodeFound, Observation, SendTo
from termvisor.workflows.context import Context, StepBack
from termvisor.workflows.workflow import Trigger, Workflow

NUDGE = (
    "You have shown no progress for {minutes} minutes. Stop and say in two sentences what you are trying and what"
    " blocks you, then take the smallest next step, or ask me."
)
_ROWS = 12
_WIDEST = 120
_EXPIRES = 1800.0
_HEARD_WITHIN = 60.0
_MOVED: tuple[StateName, ...] = ("running", "waiting_approval", "waiting_input", "completed", "idle")
_CALLED = re.compile(r"\b([A-Za-z_][A-Za-z0-9_]{2,60})\(")
_NAMED = re.compile(r"['\"`]([A-Za-z_][A-Za-z0-9_]{2,60})['\"`]")
_SHAPED = re.compile(r"\b([a-z0-9]+(?:_[a-z0-9]+)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+)\b")
_WEIGHTS = ((_NAMED, 3), (_CALLED, 2), (_SHAPED, 1))
_SYMBOLS = 3


async def run(context: Context) -> str:
    seen = await _fit(context)
    names = symbols((*seen.lines, *seen.screen))
    code = await context.search_code(*names) if names else CodeFound(trouble="the screen shows no names of code")
    minutes = str(context.facts.get("minutes") or "some")
    await context.note(summary(seen, code))
    words = nudge(minutes, code.places)
    if context.run.mode == "on":
        await _agreed(context, seen, minutes, summary(seen, code))
    else:
        await _tell(context, f"{seen.agent} in pane {seen.pane} seems stuck for {minutes} minutes", summary(seen, code))
    deed = await caution.act(context, SendTo(text=words), _fit)
    if deed.status in ("unknown", "typed_not_submitted"):  # an agent at work may show nothing of what it queues
        return f"the nudge was sent, and nothing proves that it was taken ({deed.why}); look at the pane"
    return await _heard(context)


async def _fit(context: Context) -> Observation:
    """It is the agent that was stuck, and it still is at work."""
    seen = await context.observe(30)
    if not seen.agent or (context.run.runtime is not None and seen.runtime != context.run.runtime):
        raise StepBack("its agent has left the pane")
    if seen.state != "running":
        raise StepBack(f"the agent is {seen.state} by now")
    return seen


async def _agreed(context: Context, seen: Observation, minutes: str, shown: str) -> None:
    """Also where its actions are not asked about, a nudge is: it comes in between somebody's work."""
    question = f"{seen.agent} in pane {seen.pane} seems stuck for {minutes} minutes. Nudge it?\n{shown}"
    said = await context.ask_person(question, ("nudge", "leave"), _EXPIRES)
    if said.choice != "nudge":
        raise StepBack("a person leaves it alone" if said.choice else "nobody answered in time")


async def _heard(context: Context) -> str:
    try:
        met = await context.wait_state(*_MOVED, timeout=_HEARD_WITHIN, is_new=True)
    except TimedOut:
        return "the nudge was sent; the agent takes it when it can"
    return f"the nudge was sent, and the agent is {met.text}"


async def _tell(context: Context, title: str, text: str) -> None:
    try:
        await context.notify(title, text)
    except NotDone as error:
        await context.note(f"nobody was told: {error.message}")


def symbols(rows: Iterable[str]) -> tuple[str, ...]:
    """The names of code that the last rows are full of: in quotes, called, or shaped like one. The last rows count."""
    found: Counter[str] = Counter()
    for row in list(rows)[-60:]:
        for pattern, weight in _WEIGHTS:
            found.update(dict.fromkeys(pattern.findall(row), weight))
    ranked = sorted(found.items(), key=lambda one: (-one[1], one[0]))
    return tuple(name for name, weight in ranked if weight > 1)[:_SYMBOLS]


def summary(seen: Observation, code: CodeFound) -> str:
    """The last screen, and where the names in it stand."""
    rows = [row.strip()[:_WIDEST] for row in (seen.screen or seen.lines) if row.strip()][-_ROWS:]
    places = [f"code: {place}" for place in code.places] or [f"code: {code.trouble or 'nothing was found'}"]
    return "\n".join([*rows, *places])


def nudge(minutes: str, places: Sequence[str]) -> str:
    """One line: an agent's composer takes several only where it understands pasted text."""
    words = NUDGE.format(minutes=minutes)
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
