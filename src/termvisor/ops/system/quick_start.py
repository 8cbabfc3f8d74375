"""Operation `quick_start`: print the most important commands. Kept short, because agents pay for every token."""

from msgspec import Struct

from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.text import RenderOptions


class QuickStartArgs(Struct, frozen=True, kw_only=True):
    """Takes no arguments."""


class QuickStartStep(Struct, frozen=True, kw_only=True):
    run: str
    does: str


class QuickStartResult(Struct, frozen=True, kw_only=True):
    """``robots`` has the commands for programs and agents, ``people`` those for users."""

    what: str
    robots: tuple[QuickStartStep, ...]
    people: tuple[QuickStartStep, ...]
    notes: tuple[str, ...]


def _build_steps(*pairs: tuple[str, str]) -> tuple[QuickStartStep, ...]:
    return tuple(QuickStartStep(run=run, does=does) for run, does in pairs)


QUICK_START = QuickStartResult(
    what="Termvisor records, searches and controls your terminal panes and the agents in them.",
    robots=_build_steps(
        ("visor robot state", "list panes with id, command, activity and agent state"),
        ("visor robot status", "count agents by state; which need a person"),
        ("visor robot get-text 7 --tail 50", "read the last lines of pane 7, and a cursor"),
        ("visor robot get-text 7 --since 7:1042", "read only lines after that cursor"),
        (
            "visor robot wait-for 7 'tests passed' --timeout-secs 60",
            "wait for text; exit 124 on timeout, 4 if the pane closed",
        ),
        ("visor robot wait-for 7 --state waiting,completed,idle", "wait for the agent in pane 7"),
        ("visor robot search 'error since:1h' --limit 5 --snippets", "search all panes"),
        ("visor robot events", "list events: panes, gaps, restarts"),
        ("visor robot send 7 'make test' --wait-for passed", "type, press Enter, wait; exit 77: requires approval"),
        ("visor robot send 7 --program 'fix it'", "send text to the program, not to a shell"),
    ),
    people=_build_steps(
        ("visor up", "start the daemon and show all panes live"),
        ("visor panes", "list all panes"),
        ("visor status", "summarize the agents; `visor next --go` switches to one that needs you"),
        ("visor search error since:1h", "search all panes"),
        ("visor get-text 7", "show the output of a pane"),
        ("visor send 7 make test", "run a command in a pane"),
        ("visor inbox", "list approval requests; answer with approve or deny"),
        ("visor doctor", "check for problems and how to fix them"),
        ("visor help", "list all commands"),
    ),
    notes=(
        "Name a pane by id (7), tmux id (%5) or position (work:1.0); an ambiguous name is an error.",
        "Robot output is one JSON line: ok, data or error{code,message}, hint. Exit status 0 means ok.",
        "Do not resend on exit 5 or 6: check the pane first. After approval repeat the call; --key makes repeats safe.",
        "States: error, waiting_approval, waiting_input, running, completed, idle, unknown. `explain 7` shows why.",
        "Output that was not captured is reported as a gap with its cause. Secrets are redacted.",
    ),
)


async def run(_services: Services, _args: QuickStartArgs) -> QuickStartResult:
    return QUICK_START


def render_text(result: QuickStartResult, options: RenderOptions) -> str:
    parts = [result.what]
    for title, steps in (("For users", result.people), ("For programs and agents", result.robots)):
        widest = max(len(step.run) for step in steps)
        rows = [f"  {options.paint('bold', step.run)}{' ' * (widest - len(step.run))}  {step.does}" for step in steps]
        parts.append("\n".join([f"{title}:", *rows]))
    parts.append("\n".join(result.notes))
    return "\n\n".join(parts)


OP = Operation(
    name="quick_start",
    robot_name="quick-start",
    summary="Show the most important commands.",
    doc="`visor` and `visor robot` without a command print the same.",
    run=run,
    render_text=render_text,
    effect="local",
    examples=(OperationExample("robot quick-start", "for programs and agents"), OperationExample("", "for users")),
)
