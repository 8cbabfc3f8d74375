"""The op `quick_start`: what somebody, or some agent, reads first. Short on purpose: agents pay for every word."""

from msgspec import Struct

from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.text import RenderOptions


class QuickStartArgs(Struct, frozen=True, kw_only=True):
    """Nothing to choose."""


class QuickStartStep(Struct, frozen=True, kw_only=True):
    run: str
    does: str


class QuickStartResult(Struct, frozen=True, kw_only=True):
    """``robots`` are the commands for programs and agents, ``people`` those for people."""

    what: str
    robots: tuple[QuickStartStep, ...]
    people: tuple[QuickStartStep, ...]
    notes: tuple[str, ...]


def _build_steps(*pairs: tuple[str, str]) -> tuple[QuickStartStep, ...]:
    return tuple(QuickStartStep(run=run, does=does) for run, does in pairs)


QUICK_START = QuickStartResult(
    what="Termvisor hears every terminal pane, keeps what it prints, and finds it again.",
    robots=_build_steps(
        ("visor robot state", "all panes with id, command, activity, and their agents' states"),
        ("visor robot status", "who needs a person, and how many do what"),
        ("visor robot get-text 7 --tail 50", "last lines of pane 7, and a cursor"),
        ("visor robot get-text 7 --since 7:1042", "only what is new since that cursor"),
        (
            "visor robot wait-for 7 'tests passed' --timeout-secs 60",
            "wait for text; exit 124 on timeout, 4 if it ended",
        ),
        ("visor robot wait-for 7 --state waiting,completed,idle", "wait for the agent in pane 7"),
        ("visor robot search 'error since:1h' --limit 5 --snippets", "find text in all panes"),
        ("visor robot events", "what happened: panes, gaps, restarts"),
        (
            "visor robot send 7 'make test' --wait-for passed",
            "type, press Enter, wait; exit 77: a person must allow it",
        ),
        ("visor robot send 7 --program 'fix it'", "text for the program there, not for a shell"),
    ),
    people=_build_steps(
        ("visor up", "start, and see all panes live"),
        ("visor panes", "all panes once"),
        ("visor status", "what the agents do; `visor next --go` goes to the one that needs you"),
        ("visor search error since:1h", "find text"),
        ("visor get-text 7", "read a pane"),
        ("visor send 7 make test", "type into it"),
        ("visor inbox", "what programs ask you; answer with approve or deny"),
        ("visor doctor", "what is wrong, and how to mend it"),
        ("visor help", "every command"),
    ),
    notes=(
        "A pane is named by its id (7), tmux id (%5) or place (work:1.0); an ambiguous name does nothing.",
        "Robot answers are one JSON line: ok, data or error{code,message}, hint. Exit status 0 means ok.",
        "Never send again on exit 5 or 6: look first. After a yes, call again; --key makes repeats harmless.",
        "States: error, waiting_approval, waiting_input, running, completed, idle, unknown. `explain 7` says why.",
        "Missing output is a gap with its cause, never silence. Secrets are taken out.",
    ),
)


async def run(_services: Services, _args: QuickStartArgs) -> QuickStartResult:
    return QUICK_START


def render_text(result: QuickStartResult, options: RenderOptions) -> str:
    parts = [result.what]
    for title, steps in (("For people", result.people), ("For programs and agents", result.robots)):
        widest = max(len(step.run) for step in steps)
        rows = [f"  {options.paint('bold', step.run)}{' ' * (widest - len(step.run))}  {step.does}" for step in steps]
        parts.append("\n".join([f"{title}:", *rows]))
    parts.append("\n".join(result.notes))
    return "\n\n".join(parts)


OP = Operation(
    name="quick_start",
    robot_name="quick-start",
    summary="What to read first: the few commands that matter.",
    doc="`visor` and `visor robot` without a command print it.",
    args_type=QuickStartArgs,
    result_type=QuickStartResult,
    run=run,
    render_text=render_text,
    effect="local",
    examples=(OperationExample("robot quick-start", "for agents"), OperationExample("", "for people")),
)
