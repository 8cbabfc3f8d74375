"""The cockpit: all panes on one screen, those that need a person first, answered in place. Loaded only on a terminal.

Streams of the daemon feed it; nothing is polled. If the daemon ends, the last picture stays, with a banner, until it is
back.
"""

import os
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from msgspec import convert
from msgspec.structs import replace
from textual import events
from textual.app import App, SuspendNotSupported
from textual.worker import Worker, WorkerState

from termvisor.clock import Clock, SystemClock
from termvisor.errors import VisorError
from termvisor.frontends.tui.cockpit_layout import STYLE_SHEET, CockpitScreen
from termvisor.frontends.tui.daemon_calls import DaemonCalls, describe_error
from termvisor.frontends.tui.dialog_rows import build_dialog_rows
from termvisor.frontends.tui.fleet_rows import summarize_fleet
from termvisor.frontends.tui.fleet_state import FleetState
from termvisor.frontends.tui.key_commands import KeyCommands
from termvisor.frontends.tui.key_table import build_hints
from termvisor.frontends.tui.pane_actions import PaneActions
from termvisor.frontends.tui.prompts import ChoicePrompt, LinePrompt, Prompt
from termvisor.frontends.tui.secondary_views import LOADED_VIEWS, RELOAD_INTERVAL_S, SecondaryViews
from termvisor.frontends.tui.styled_text import HIGH_CONTRAST, STYLES, StyledPart, strip_controls
from termvisor.ops.approvals._approval_item import ApprovalItem, format_answer
from termvisor.ops.approvals.watch_inbox import InboxUpdate
from termvisor.ops.events._event_item import EventItem
from termvisor.ops.panes.watch_panes import PaneRowsUpdate
from termvisor.ops.panes.watch_screen import ScreenUpdate
from termvisor.ops.render.text import RenderOptions, format_bytes, wrap_lines
from termvisor.ops.system.health import HealthReport
from termvisor.settings import Paths
from termvisor.system.procfs import ProcessUsageSampler

T = TypeVar("T")
_PAINT_INTERVAL_S = 0.1
"""Changes within this time are painted together."""
_AGE_INTERVAL_S = 5.0
_COST_INTERVAL_S = 15.0
_SCREEN_DELAY_S = 0.12
"""The screen of a pane is captured once the cursor rests on it."""
_HISTORY_LIMIT = 200
_FEED_SPAN = "1h"
_TEXT_TAIL = 300


class CockpitApp(App[None], inherit_bindings=False):
    """``view_name`` is the view in the list, ``aspect`` what is shown of the selected pane."""

    TITLE = "visor"
    CSS = STYLE_SHEET
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, paths: Paths, clock: Clock | None = None):
        super().__init__(ansi_color=True)
        self.clock = clock or SystemClock()
        self.view = CockpitScreen()
        self.state = FleetState(self.clock)
        self.calls = DaemonCalls(paths, self.note_link, self.clock)
        self.actions, self.views = PaneActions(self), SecondaryViews(self)
        self.commands = KeyCommands(self)
        self.prompt: Prompt | None = None
        self.view_name, self.aspect = "fleet", "screen"
        self.is_zoomed = self.is_high_contrast = False
        self._problem = "connecting to the daemon"
        self._cost = ""
        self._width = 0
        self._own_usage = ProcessUsageSampler()
        self._shown_pane: int | None = None
        self._screen_worker: Worker[None] | None = None
        self._is_paint_planned = False

    def get_default_screen(self) -> CockpitScreen:
        return self.view

    def on_mount(self) -> None:
        self.update_layout()
        self.paint()
        self.start_work(self.calls.follow("watch_panes", self.take_panes))
        self.start_work(self.calls.follow("watch_inbox", self.take_inbox))
        self.start_work(self.calls.follow("watch_events", self.take_event, since=_FEED_SPAN))
        self.set_interval(_AGE_INTERVAL_S, self.plan_paint)
        self.set_interval(RELOAD_INTERVAL_S, self.reload_view)
        self.set_interval(_COST_INTERVAL_S, self._start_measuring)
        self.set_timer(1.0, self._start_measuring)

    def on_resize(self, event: events.Resize) -> None:
        # The screen itself is laid out only after this.
        self._width = event.size.width
        self.update_layout()
        self.plan_paint()

    def update_layout(self) -> None:
        """Show the list, the pane, or both; views of text take the whole width."""
        is_beside = self.view_name not in LOADED_VIEWS
        self.view.show_pane(self._width or self.size.width, is_zoomed=self.is_zoomed, is_beside=is_beside)

    async def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        self.state.note_key()
        if self.prompt is not None:
            await self._edit_prompt(event.key, event.character if event.is_printable else None)
        else:
            await self.commands.press(event.key)
        self.paint()

    async def on_paste(self, event: events.Paste) -> None:
        if isinstance(self.prompt, LinePrompt):
            self.prompt.edit_text("", event.text)
            self.prompt.on_change(self.prompt.text)
            self.paint()

    # Streams

    def take_panes(self, update: PaneRowsUpdate) -> None:
        is_first = not self.state.briefs
        self.state.take_panes(update)
        if is_first:
            self.paint()
        self.plan_paint()

    def take_inbox(self, update: InboxUpdate) -> None:
        for item in self.state.take_inbox(update):
            self._show_outcome(item)
        self.plan_paint()

    def take_event(self, event: EventItem) -> None:
        self.state.events.append(event)
        if self.view_name == "feed":
            self.plan_paint()

    def take_screen(self, update: ScreenUpdate) -> None:
        if update.pane == self._shown_pane and self.aspect == "screen":
            self.view.pane.show_update(update)
            self._paint_dialog()

    def note_link(self, problem: str) -> None:
        if problem != self._problem:
            self._problem = problem
            self.plan_paint()

    def _show_outcome(self, item: ApprovalItem) -> None:
        text = " · ".join(line.strip() for line in format_answer(item).splitlines())
        self.show_message(text, "warning" if item.outcome in ("failed", "unknown") else "running")

    # Painting

    def plan_paint(self) -> None:
        """Paint soon; several changes are painted together."""
        if not self._is_paint_planned:
            self._is_paint_planned = True
            self.set_timer(_PAINT_INTERVAL_S, self.paint)

    def paint(self, *, is_sorting: bool = False) -> None:
        """Bring all parts up to date; only rows that changed are painted."""
        self._is_paint_planned = False
        width = self.view.list.size.width or self.size.width
        if self.view_name == "fleet":
            rows = self.state.build_rows(width, is_sorting=is_sorting)
            self.view.list.set_rows(rows or self.commands.build_empty_rows(self._problem))
        else:
            self.view.list.set_rows(self.views.build_rows(self.view_name))
        self._paint_header()
        self._show_selected_pane()
        self._paint_dialog()
        self._paint_footer()

    @property
    def selected_pane(self) -> int | None:
        row = self.view.list.current
        return None if row is None else row.pane

    @property
    def chosen_panes(self) -> list[int]:
        """The marked panes, else the selected one."""
        marked = sorted(self.state.options.marked)
        return marked or ([] if (pane := self.selected_pane) is None else [pane])

    def _paint_header(self) -> None:
        if self._problem:
            text = f" {self._problem}; trying again every second. `visor daemon start` starts it."
            self.view.show_line(self.view.header, [(strip_controls(text), "alarm")])
            return
        parts = summarize_fleet(self.state.briefs)
        room = self.size.width - sum(len(text) for text, _ in parts) - len(self._cost) - 1
        if room > 0:
            parts = [*parts, (" " * room + self._cost, "dim")]
        self.view.show_line(self.view.header, parts)

    def _show_selected_pane(self) -> None:
        pane = self.selected_pane
        if pane == self._shown_pane:
            return
        self._shown_pane = pane
        self.aspect = "screen"
        self.watch_shown_pane()

    def watch_shown_pane(self) -> None:
        """Show the screen of the selected pane live."""
        self._stop_screen()
        pane = self._shown_pane
        brief = self.state.briefs.get(pane or 0)
        title = f" pane {pane}  {brief.session}:{brief.window}  {brief.title}" if brief is not None else ""
        self.view.show_line(self.view.pane_title, [(strip_controls(title), "bold")])
        self.view.pane.show_text(pane, "")
        if pane is not None and brief is not None:
            self._screen_worker = self.run_worker(self._watch_screen(pane), exit_on_error=False)

    async def _watch_screen(self, pane: int) -> None:
        await self.clock.sleep(_SCREEN_DELAY_S)
        try:
            await self.calls.follow("watch_screen", self.take_screen, pane=str(pane), escapes=True)
        except VisorError as error:
            self.view.pane.show_text(pane, describe_error(error))

    def _stop_screen(self) -> None:
        if self._screen_worker is not None:
            self._screen_worker.cancel()
            self._screen_worker = None

    async def show_aspect(self, aspect: str) -> None:
        """Show text about the selected pane: its output, evidence or history."""
        if (pane := self._shown_pane) is None:
            return
        self._stop_screen()
        self.aspect = aspect
        names: dict[str, tuple[str, dict[str, Any]]] = {
            "output": ("get_text", {"pane": str(pane), "tail": _TEXT_TAIL}),
            "evidence": ("explain", {"pane": str(pane)}),
            "history": ("list_events", {"pane": str(pane), "limit": _HISTORY_LIMIT}),
        }
        name, params = names[aspect]
        self.view.show_line(self.view.pane_title, [(f" pane {pane}  {aspect}  (c: its screen)", "bold")])
        try:
            text = await self.calls.render(name, self.build_options(self.view.pane.size.width), **params)
        except VisorError as error:
            text = describe_error(error)
        self.view.pane.show_text(pane, text, at_end=aspect == "output")

    def show_text(self, title: str, text: str) -> None:
        """Show any text in the place of the pane."""
        self._stop_screen()
        self.aspect = "text"
        self.view.show_line(self.view.pane_title, [(strip_controls(f" {title}  (c: the pane)"), "bold")])
        self.view.pane.show_text(self._shown_pane, text)

    def build_options(self, width: int) -> RenderOptions:
        return RenderOptions(width=max(20, width), now=self.clock.now(), is_terminal=True)

    def _paint_dialog(self) -> None:
        brief = self.state.briefs.get(self._shown_pane or 0)
        if brief is None or not (brief.needs_action or brief.requests):
            self.view.show_dialog([])
            return
        request = self.state.find_request(brief.id)
        screen = self.view.pane.get_texts() if self.aspect == "screen" and self.view.pane.pane == brief.id else []
        shows_screen = not self.view.side.display
        rows = build_dialog_rows(brief, request, screen, self.clock.now(), shows_screen=shows_screen)
        self.view.show_dialog(rows)

    def _paint_footer(self) -> None:
        if self.prompt is not None:
            self.view.show_line(self.view.footer, self.prompt.render_parts())
            return
        pairs = [("q", "quit"), ("?", "keys"), *self.commands.list_hints()]
        self.view.show_line(self.view.footer, [(build_hints(pairs, self.size.width), "dim")])

    # Messages and prompts

    def show_message(self, text: str, style: str = "") -> None:
        """Show a message above the footer, until the next key."""
        self.show_messages([(text, style)] if text else [])

    def show_messages(self, lines: Sequence[StyledPart]) -> None:
        width = max(20, self.size.width - 2)
        folded = [(f" {row}", style) for text, style in lines for row in wrap_lines(text, width).splitlines()]
        self.view.show_message(folded)

    def prompt_line(self, prompt: LinePrompt) -> None:
        self.prompt = prompt
        self._paint_footer()

    def ask_choice(self, label: str, **choices: tuple[str, Callable[[], Awaitable[None] | None]]) -> None:
        self.prompt = ChoicePrompt(label=strip_controls(label), choices=choices)
        self._paint_footer()

    async def _edit_prompt(self, key: str, character: str | None) -> None:
        prompt = self.prompt
        if key in ("escape", "ctrl+c"):
            self.prompt = None
            if isinstance(prompt, LinePrompt):
                prompt.on_cancel()
            self.show_message("")
        elif isinstance(prompt, ChoicePrompt) and (choice := prompt.choices.get(character or key)) is not None:
            self.prompt = None
            self._start_reaction(choice[1]())
        elif isinstance(prompt, LinePrompt) and key == "enter":
            self.prompt = None
            self._start_reaction(prompt.on_submit(prompt.text))
        elif isinstance(prompt, LinePrompt) and prompt.edit_text(key, character):
            prompt.on_change(prompt.text)

    def _start_reaction(self, reaction: Awaitable[None] | None) -> None:
        if reaction is not None:
            self.start_work(reaction)

    def start_work(self, work: Awaitable[None]) -> None:
        """Run work beside the keys; an unexpected error is shown, and nothing else ends."""
        self.run_worker(_wait_for(work), exit_on_error=False)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        if event.state == WorkerState.ERROR and event.worker.error is not None:
            error = event.worker.error
            self.show_message(describe_error(error) if isinstance(error, VisorError) else repr(error), "error")
        self.plan_paint()

    def clear_marks(self) -> None:
        self.state.options = replace(self.state.options, marked=frozenset())

    # Views, terminal and own cost

    def reload_view(self) -> None:
        if self.view_name in LOADED_VIEWS and not self._problem:
            self.start_work(self._load_view(self.view_name))

    async def _load_view(self, view: str) -> None:
        await self.views.load(view)
        if view == self.view_name:
            self.paint()

    def show_view(self, view: str) -> None:
        self.view_name, self.is_zoomed = view, False
        self.update_layout()
        # The width of the list is known once it is laid out.
        self.call_after_refresh(self.reload_view)

    def change_theme(self) -> None:
        self.is_high_contrast = not self.is_high_contrast
        self.view.set_theme(HIGH_CONTRAST if self.is_high_contrast else STYLES)

    def suspend_for(self, run: Callable[[], T]) -> T | None:
        """Give the terminal to a program and take it back; None where this is not possible."""
        try:
            with self.suspend():
                return run()
        except SuspendNotSupported:
            self.show_message("This terminal cannot be lent to another program.", "error")
            return None
        finally:
            self.refresh(layout=True)

    def _start_measuring(self) -> None:
        self.start_work(self._measure_cost())

    async def _measure_cost(self) -> None:
        health = convert(await self.calls.call("health"), HealthReport)
        own = self._own_usage.sample_usage(os.getpid(), self.clock.monotonic())
        view = f" · view {own.cpu_percent:.1f}% {format_bytes(own.rss_bytes)}" if own is not None else ""
        alerts = f" · {len(health.alerts)} alerts: :health" if health.alerts else ""
        daemon = health.daemon
        self._cost = f"daemon {daemon.cpu_percent:.1f}% {format_bytes(daemon.rss_bytes)}{view}{alerts} "
        self._paint_header()


async def _wait_for(work: Awaitable[None]) -> None:
    await work


def run_cockpit(paths: Paths, *, has_mouse: bool = False) -> None:
    """Show the cockpit until the user quits."""
    CockpitApp(paths).run(mouse=has_mouse)
