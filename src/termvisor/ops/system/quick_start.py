"""Operation `quick_start`: print the most important commands. Kept short, because agents pay for every token."""

from typing import ClassVar

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

    detail_fields: ClassVar[tuple[str, ...]] = ("people",)

    what: str
    robots: tuple[QuickStartStep, ...]
    people: tuple[QuickStartStep, ...]
    notes: tuple[str, ...]


def _build_steps(*pairs: tuple[str, str]) -> tuple[QuickStartStep, ...]:
    return tuple(QuickStartStep(run=run, does=does) for run, does in pairs)


QUICK_START = QuickStartResult(
    what="Termvisor records, searches and controls your terminal panes and the agents in them.",
    robots=_build_steps(
        ("visor robot status", "agents by state; those that need a person"),
        ("visor robot state", "all panes; --agent codex, --pane 7, --fields identity.id,state"),
        ("visor robot get-text 7 --tail 50", "last lines and a cursor; --since <cursor> reads on"),
        ("visor robot get-screen 7", "what pane 7 shows now, also of full-screen agents"),
        ("visor robot send 7 'make test'", "run a command at a shell; --program 'fix it' prompts an agent"),
        (
            "visor robot wait-for 7 passed --since <cursor>",
            "wait for text; for an agent: --state completed,idle,waiting",
        ),
        ("visor robot search 'error since:1h' --limit 5 --snippets", "search all that panes printed"),
        ("visor robot events --unhandled --wait 30", "what needs handling; then `events ack <cursor>`"),
        ("visor robot reserve 7 --owner me", "keep others out: send --owner me, then `release <id>`"),
        ("visor robot workflow run <name> 7 --wait 60", "run a workflow; `workflow list` names them"),
        ("visor robot help send", "options of a command; `help` lists all"),
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
        "Loop: send (keep its cursor), wait-for --since <cursor>, get-screen. Exit 124: timeout, 77: needs approval.",
        "One JSON line: ok, data or error{code,message}, hint. A missing field has its default; --full shows all.",
        "Do not resend on exit 5 or 6: check the pane first. After approval repeat the call; --key makes repeats safe.",
        "States: error, waiting_approval, waiting_input, running, completed, idle, unknown. `explain 7` shows why.",
        "Output that was not captured is a gap with its cause. Secrets are redacted.",
    ),
)


async def run(_services: Services, _args: QuickStartArgs) -> QuickStartResult:
    return QUICK_START


def render_text(result: QuickStartResult, options: RenderOptions) -> str:
    parts = [result.what]
    sections = [("For users", result.people), ("For programs and agents", result.robots)]
    # The commands for agents would push a person's own off the screen.
    for title, steps in sections[:1] if options.is_terminal else sections:
        widest = max(len(step.run) for step in steps)
        rows = [f"  {options.paint('bold', step.run)}{' ' * (widest - len(step.run))}  {step.does}" for step in steps]
        parts.append("\n".join([f"{title}:", *rows]))
    parts.append("Agents start with: visor robot quick-start" if options.is_terminal else "\n".join(result.notes))
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
