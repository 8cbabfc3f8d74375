"""The op `tmux_status`: the agents in a few characters, for a status line that asks again and again.

Only numbers of ours stand in it: tmux would obey what a title or a question may hold. Who asks wants no error and no
daemon, so without one it says nothing.
"""

import re
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import BadRequest, Unavailable
from termvisor.model.agent.rollup import summarize_states
from termvisor.model.agent.state import PRECEDENCE, AgentState
from termvisor.model.did_you_mean import find_close_matches
from termvisor.ops.agents import _pane_agents
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes._listing import SessionFilter
from termvisor.ops.render.text import RenderOptions

_FIELD_PATTERN = re.compile(r"\{([A-Za-z_]*)\}")
TEMPLATE_FIELDS = ("agents", "waiting", "needs_action", "limited", *PRECEDENCE)
_DEFAULT_SYMBOLS = (("needs_action", "!"), ("running", "▶"), ("completed", "✓"), ("idle", "·"), ("unknown", "?"))


class TmuxStatusArgs(Struct, frozen=True, kw_only=True):
    """What to say of which agents."""

    template: Annotated[
        str | None,
        Meta(
            description=f"The line, with fields in braces: {' '.join(TEMPLATE_FIELDS)}. Without it, what is not 0 in short.",
            extra={"positional": "rest"},
        ),
    ] = None
    session: SessionFilter = None


class TmuxStatusLine(Struct, frozen=True, kw_only=True):
    """``text`` is empty where there is no agent, and no daemon."""

    text: str
    numbers: dict[str, int]


async def run(services: Services, args: TmuxStatusArgs) -> TmuxStatusLine:
    check_template(args.template)
    try:
        members = await _pane_agents.select_panes_with_agents(
            services, _pane_agents.collect_agent_filters(_pane_agents.AgentFilterArgs(session=args.session))
        )
    except Unavailable:
        return TmuxStatusLine(text="", numbers={})
    numbers = count_by_field(_pane_agents.list_agent_states(members))
    return TmuxStatusLine(text=fill_template(args.template, numbers) if numbers["agents"] else "", numbers=numbers)


def check_template(template: str | None) -> None:
    unknown = [name for name in _FIELD_PATTERN.findall(template or "") if name not in TEMPLATE_FIELDS]
    if unknown:
        near = find_close_matches(unknown[0], TEMPLATE_FIELDS)
        hint = f"Did you mean {{{near[0]}}}?" if near else f"The fields are {', '.join(TEMPLATE_FIELDS)}."
        raise BadRequest(f"there is no field {{{unknown[0]}}}", hint=hint, details={"fields": list(TEMPLATE_FIELDS)})


def count_by_field(states: list[AgentState]) -> dict[str, int]:
    """The number behind each field."""
    found = summarize_states(states)
    limited = sum(state.flags.usage_limited for state in states)
    first = {"agents": found.total, "waiting": found.waiting, "needs_action": found.needs_action, "limited": limited}
    return first | {name: found.by_state.get(name, 0) for name in PRECEDENCE}


def fill_template(template: str | None, numbers: dict[str, int]) -> str:
    """`!2 ▶3`, or the template with its fields filled in."""
    if template is None:
        return " ".join(f"{sign}{numbers[name]}" for name, sign in _DEFAULT_SYMBOLS if numbers[name])
    return _FIELD_PATTERN.sub(lambda found: str(numbers[found[1]]), template)


def render_text(result: TmuxStatusLine, options: RenderOptions) -> str:
    return result.text


OP = Operation(
    name="tmux_status",
    summary="One short line on the agents, for tmux's status line.",
    doc="""Put it into `~/.tmux.conf`: `set -g status-right '#(visor tmux-status)'`. Without a template it says
`!2 ▶3`: two need a person, three run; `✓` is done, `·` idle, `?` unknown, and what is 0 is left out. A template may
hold tmux's own styles: `'#[fg=red]{error} #[fg=yellow]{waiting}#[default] {running}'`. It starts no daemon: without
one, and without agents, it prints nothing and ends with 0.""",
    args_type=TmuxStatusArgs,
    result_type=TmuxStatusLine,
    run=run,
    render_text=render_text,
    works_without_daemon=True,
    examples=(
        OperationExample("tmux-status", "in short"),
        OperationExample("tmux-status '{waiting} wait, {running} run, {error} failed'", "in your own words"),
        OperationExample("tmux-status --session work", "only one session"),
    ),
)
