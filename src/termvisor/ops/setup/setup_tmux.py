"""The operation `setup_tmux`: recommend lines for tmux.conf. It changes nothing."""

from collections.abc import Sequence

from msgspec import Struct

from termvisor.diagnostics.checks.tmux import MIN_HISTORY_LINES
from termvisor.errors import Unavailable
from termvisor.model.terminal.pane import PaneView
from termvisor.ops.api.operation import Operation, OperationExample
from termvisor.ops.api.services import Services
from termvisor.ops.render.text import RenderOptions, pluralize, sanitize


class SetupTmuxArgs(Struct, frozen=True, kw_only=True):
    """Takes no arguments."""


class TmuxAdviceItem(Struct, frozen=True, kw_only=True):
    """One line for tmux.conf. ``now`` is the current state; ``is_followed`` is null if that is unknown."""

    line: str
    why: str
    now: str = ""
    is_followed: bool | None = None


class SetupTmuxResult(Struct, frozen=True, kw_only=True):
    """``is_seen`` is false without a daemon that knows the servers' options."""

    is_seen: bool
    items: tuple[TmuxAdviceItem, ...]


async def run(services: Services, _args: SetupTmuxArgs) -> SetupTmuxResult:
    try:
        panes = await services.panes.list_panes()
    # The advice is useful even before the first start.
    except Unavailable:
        return SetupTmuxResult(is_seen=False, items=(_advise_history_limit(()),))
    items = [_advise_history_limit(panes), _advise_unattached_sessions(panes)]
    return SetupTmuxResult(is_seen=True, items=tuple(item for item in items if item is not None))


def _advise_history_limit(panes: Sequence[PaneView]) -> TmuxAdviceItem:
    limits = [pane.facts.history_limit for pane in panes if pane.facts.history_limit]
    short = [limit for limit in limits if limit < MIN_HISTORY_LINES]
    fewer = f"{len(short)} of {pluralize(len(limits), 'pane')} keep fewer, the shortest {min(short):,}" if short else ""
    return TmuxAdviceItem(
        line=f"set -g history-limit {MIN_HISTORY_LINES}",
        why="Output that was not captured is recovered from the pane's scrollback, as far back as that goes. Applies to"
        " new panes.",
        now=fewer or (f"all {pluralize(len(limits), 'pane')} keep as many" if limits else ""),
        is_followed=not short if limits else None,
    )


def _advise_unattached_sessions(panes: Sequence[PaneView]) -> TmuxAdviceItem | None:
    names = sorted({pane.facts.session_name for pane in panes if pane.facts.session_ends_unattached})
    if not names:
        return None
    return TmuxAdviceItem(
        line="set -g destroy-unattached off",
        why="tmux 3.3a to 3.7c may crash when a client detaches from such a session while any tmux command ends. And if"
        " another program pipes a pane's output, Termvisor captures it by attaching to the session, but not to one that"
        " ends with its last client.",
        now=f"on in {', '.join(names)}",
        is_followed=False,
    )


def render_text(result: SetupTmuxResult, options: RenderOptions) -> str:
    lines = [] if options.is_quiet else ["# For ~/.tmux.conf. Nothing was changed."]
    if not result.is_seen and not options.is_quiet:
        lines.append("# No daemon is running: this is general advice; `visor up` starts one that checks your servers.")
    for item in result.items:
        lines += ["", *_format_advice(item), item.line] if not options.is_quiet else [item.line]
    if not options.is_quiet:
        lines += ["", "# No other options are needed: output is captured before tmux interprets it, so"]
        lines += ["# allow-passthrough, focus-events and the like make no difference to Termvisor."]
    return "\n".join(lines)


def _format_advice(item: TmuxAdviceItem) -> list[str]:
    verdict = {True: "Now ok: ", False: "Now: ", None: ""}[item.is_followed]
    return [f"# {item.why}", *([f"# {verdict}{sanitize(item.now)}."] if item.now else [])]


OP = Operation(
    name="setup_tmux",
    summary="Recommend lines for tmux.conf.",
    doc="""Only prints; nothing is changed. With a daemon it checks the options of the running servers and names the
panes and sessions concerned. Without one it prints general advice.""",
    run=run,
    render_text=render_text,
    is_verbatim=True,
    works_without_daemon=True,
    examples=(
        OperationExample("setup tmux", "recommendations with reasons"),
        OperationExample("setup tmux -q", "only the lines for tmux.conf"),
    ),
)
