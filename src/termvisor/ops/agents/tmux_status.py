"""The op `tmux_status`: the agents in a few characters, for a status line that asks again and again.

Only numbers of ours stand in it: tmux would obey what a title or a question may hold. Who asks wants no error and no
daemon, so without one it says nothing.
"""

import re
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import BadRequest, Unavailable
from termvisor.model.agent.rollup import rollup
from termvisor.model.agent.state import PRECEDENCE, AgentState
from termvisor.model.did_you_mean import nearest
from termvisor.ops.agents import _pane_agents as crew
from termvisor.ops.api.operation import Example, Op
from termvisor.ops.api.services import World
from termvisor.ops.panes._listing import SessionFilter
from termvisor.ops.render.text import Look

_FIELD = re.compile(r"\{([A-Za-z_]*)\}")
FIELDS = ("agents", "waiting", "needs_action", "limited", *PRECEDENCE)
_SHORT = (("needs_action", "!"), ("running", "▶"), ("completed", "✓"), ("idle", "·"), ("unknown", "?"))


class TmuxStatus(Struct, frozen=True, kw_only=True):
    """What to say of which agents."""

    template: Annotated[
        str | None,
        Meta(
            description=f"The line, with fields in braces: {' '.join(FIELDS)}. Without it, what is not 0 in short.",
            extra={"positional": "rest"},
        ),
    ] = None
    session: SessionFilter = None


class StatusLine(Struct, frozen=True, kw_only=True):
    """``text`` is empty where there is no agent, and no daemon."""

    text: str
    numbers: dict[str, int]


async def run(world: World, wanted: TmuxStatus) -> StatusLine:
    check(wanted.template)
    try:
        members = await crew.crew(world, crew.given(crew.Chosen(session=wanted.session)))
    except Unavailable:
        return StatusLine(text="", numbers={})
    numbers = counted(crew.agents_of(members))
    return StatusLine(text=written(wanted.template, numbers) if numbers["agents"] else "", numbers=numbers)


def check(template: str | None) -> None:
    unknown = [name for name in _FIELD.findall(template or "") if name not in FIELDS]
    if unknown:
        near = nearest(unknown[0], FIELDS)
        hint = f"Did you mean {{{near[0]}}}?" if near else f"The fields are {', '.join(FIELDS)}."
        raise BadRequest(f"there is no field {{{unknown[0]}}}", hint=hint, details={"fields": list(FIELDS)})


def counted(states: list[AgentState]) -> dict[str, int]:
    """The number behind each field."""
    found = rollup(states)
    limited = sum(state.flags.usage_limited for state in states)
    first = {"agents": found.total, "waiting": found.waiting, "needs_action": found.needs_action, "limited": limited}
    return first | {name: found.by_state.get(name, 0) for name in PRECEDENCE}


def written(template: str | None, numbers: dict[str, int]) -> str:
    """`!2 ▶3`, or the template with its fields filled in."""
    if template is None:
        return " ".join(f"{sign}{numbers[name]}" for name, sign in _SHORT if numbers[name])
    return _FIELD.sub(lambda found: str(numbers[found[1]]), template)


def plain(line: StatusLine, look: Look) -> str:
    return line.text


OP = Op(
    name="tmux_status",
    summary="One short line on the agents, for tmux's status line.",
    doc="""Put it into `~/.tmux.conf`: `set -g status-right '#(visor tmux-status)'`. Without a template it says
`!2 ▶3`: two need a person, three run; `✓` is done, `·` idle, `?` unknown, and what is 0 is left out. A template may
hold tmux's own styles: `'#[fg=red]{error} #[fg=yellow]{waiting}#[default] {running}'`. It starts no daemon: without
one, and without agents, it prints nothing and ends with 0.""",
    Input=TmuxStatus,
    Output=StatusLine,
    run=run,
    plain=plain,
    works_alone=True,
    examples=(
        Example("tmux-status", "in short"),
        Example("tmux-status '{waiting} wait, {running} run, {error} failed'", "in your own words"),
        Example("tmux-status --session work", "only one session"),
    ),
)
