"""The operation `tmux_status`: print agent counts in a few characters, for the tmux status line.

Invariants: the line holds only counts and the user's template, because tmux would interpret formats in a title; it
starts no daemon, and without one it prints nothing instead of an error.
"""

import re
from typing import Annotated

from msgspec import Meta, Struct

from termvisor.errors import BadRequest, Unavailable
from termvisor.model.agent.state import PRECEDENCE, AgentState
from termvisor.model.did_you_mean import find_close_matches
from termvisor.ops.agents import _pane_agents
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.panes._pane_reference import SessionFilter
from termvisor.ops.panes._rollup import summarize_states

_FIELD_PATTERN = re.compile(r"\{([A-Za-z_]*)\}")
TEMPLATE_FIELDS = ("agents", "waiting", "needs_action", "limited", *PRECEDENCE)
_DEFAULT_SYMBOLS = (("needs_action", "!"), ("running", "▶"), ("completed", "✓"), ("idle", "·"), ("unknown", "?"))


class TmuxStatusArgs(Struct, frozen=True, kw_only=True):
    """Choose the template and the session."""

    template: Annotated[
        str | None,
        Meta(
            description=f"Template with fields in braces: {' '.join(TEMPLATE_FIELDS)}. Default: non-zero counts.",
            extra={"positional": "rest"},
        ),
    ] = None
    session: SessionFilter = None


class TmuxStatusLine(Struct, frozen=True, kw_only=True):
    """``text`` is empty without agents or without a daemon."""

    text: str
    numbers: dict[str, int]


async def run(services: Services, args: TmuxStatusArgs) -> TmuxStatusLine:
    # Checked even without a daemon, so that a misspelled field fails while the user edits tmux.conf.
    check_template(args.template)
    try:
        members = await _pane_agents.select_panes_with_agents(
            services, _pane_agents.collect_agent_filters(_pane_agents.AgentFilterArgs(session=args.session))
        )
    # tmux runs this periodically, so an error would be shown in the status line repeatedly.
    except Unavailable:
        return TmuxStatusLine(text="", numbers={})
    numbers = count_by_field(_pane_agents.list_agent_states(members))
    return TmuxStatusLine(text=fill_template(args.template, numbers) if numbers["agents"] else "", numbers=numbers)


def check_template(template: str | None) -> None:
    unknown = [name for name in _FIELD_PATTERN.findall(template or "") if name not in TEMPLATE_FIELDS]
    if unknown:
        near = find_close_matches(unknown[0], TEMPLATE_FIELDS)
        hint = f"Did you mean {{{near[0]}}}?" if near else f"Known fields: {', '.join(TEMPLATE_FIELDS)}."
        raise BadRequest(f"unknown field {{{unknown[0]}}}", hint=hint, details={"fields": list(TEMPLATE_FIELDS)})


def count_by_field(states: list[AgentState]) -> dict[str, int]:
    """Return the value of each template field."""
    rollup = summarize_states(states)
    limited = sum(state.flags.usage_limited for state in states)
    totals = {
        "agents": rollup.total,
        "waiting": rollup.waiting,
        "needs_action": rollup.needs_action,
        "limited": limited,
    }
    return totals | {name: rollup.by_state.get(name, 0) for name in PRECEDENCE}


def fill_template(template: str | None, numbers: dict[str, int]) -> str:
    """Fill in the fields of the template; without a template, return a text such as `!2 ▶3`."""
    if template is None:
        return " ".join(f"{symbol}{numbers[name]}" for name, symbol in _DEFAULT_SYMBOLS if numbers[name])
    return _FIELD_PATTERN.sub(lambda match: str(numbers[match[1]]), template)


OP = Operation(
    name="tmux_status",
    summary="Print agent counts in one short line, for tmux's status line.",
    doc="""Put it into `~/.tmux.conf`: `set -g status-right '#(visor tmux-status)'`. Without a template it prints
`!2 ▶3`: two need a person, three are running; `✓` is completed, `·` idle, `?` unknown; counts of 0 are omitted. A
template may hold tmux styles: `'#[fg=red]{error} #[fg=yellow]{waiting}#[default] {running}'`. It starts no daemon;
without one, or without agents, it prints nothing and exits with 0.""",
    run=run,
    render_text=lambda result, _options: result.text,
    works_without_daemon=True,
    examples=(
        OperationExample("tmux-status", "the short form"),
        OperationExample("tmux-status '{waiting} wait, {running} run, {error} failed'", "with a template"),
        OperationExample("tmux-status --session work", "only one session"),
    ),
)
