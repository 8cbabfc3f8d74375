"""React to the keys of the cockpit: move, filter, choose views, and start actions. `key_table` binds the keys."""

from typing import TYPE_CHECKING

from msgspec.structs import replace

from termvisor.errors import VisorError
from termvisor.frontends.tui.daemon_calls import CONSENT_CODES, describe_error
from termvisor.frontends.tui.fleet_rows import GROUPINGS, STATE_FILTERS, FleetOptions
from termvisor.frontends.tui.key_table import COMMAND_BY_KEY, VIEW_KEYS, render_help
from termvisor.frontends.tui.prompts import LinePrompt, complete_word
from termvisor.frontends.tui.row_list import ListRow
from termvisor.frontends.tui.view_rows import build_text_rows
from termvisor.ops.api.catalog import COMMAND_ALIASES, OPERATION_NAMES

if TYPE_CHECKING:
    from termvisor.frontends.tui.cockpit import CockpitApp

_CHARACTERS = {"exclamation_mark": "!", "at": "@", "number_sign": "#", "ampersand": "&"}
_PANE_COMMANDS = ("choose_option", "approve", "deny", "send", "interrupt", "kill", "replay")
_SCROLL_ROWS, _SCROLL_COLUMNS = 5, 10


class KeyCommands:
    """One method `on_<command>` per command of `KEY_TABLE`."""

    def __init__(self, app: "CockpitApp"):
        self._app = app
        self._is_choosing_view = False

    async def press(self, key: str) -> None:
        """React to a key; unknown keys do nothing."""
        if self._is_choosing_view:
            self._is_choosing_view = False
            if (view := VIEW_KEYS.get(key)) is not None:
                self._app.show_view(view)
            return
        command = COMMAND_BY_KEY.get(key)
        if command is None:
            return
        self._app.show_message("")
        if command in _PANE_COMMANDS and not self._app.chosen_panes:
            self._app.show_message("No pane is selected.", "warning")
            return
        reaction = getattr(self, f"on_{command}")(_CHARACTERS.get(key, key))
        if reaction is not None:
            self._app.start_work(reaction)

    def list_hints(self) -> list[tuple[str, str]]:
        """Return hints for the selected row, most useful first."""
        if self._is_choosing_view:
            return [(key, view) for key, view in VIEW_KEYS.items()]
        brief = self._app.state.briefs.get(self._app.selected_pane or 0)
        hints = []
        if brief is not None and (brief.needs_action or brief.requests):
            hints += [("1-9", "options"), ("a", "allow"), ("d", "deny")]
        if self._app.state.list_needing():
            hints.append(("n", "next"))
        if self._app.is_zoomed:
            hints.append(("z", "back"))
        marked = len(self._app.state.options.marked)
        hints += [("u", f"unmark {marked}")] if marked else []
        text = self._app.state.options.text
        hints += [("Esc", f"filter: {text}")] if text else []
        hints += [("Enter", "attach"), ("s", "send"), ("e", "why"), ("/", "filter"), ("f", "search"), ("v", "views")]
        return [*hints, ("z", "zoom"), (":", "any command")]

    def build_empty_rows(self, problem: str) -> tuple[ListRow, ...]:
        options = self._app.state.options
        if problem:
            return build_text_rows("", "Waiting for the daemon.")
        if options.text or options.only:
            return build_text_rows("", "No pane matches. Escape removes the filter, 0 shows all states.")
        if self._app.state.briefs:
            return ()
        text = "No panes yet.\nStart tmux, and its panes appear here.\n`visor demo` starts six sample panes."
        return build_text_rows(text, "")

    # Answers and actions

    def on_select_next(self, _key: str) -> None:
        self._select_needing(1)

    def on_select_previous(self, _key: str) -> None:
        self._select_needing(-1)

    def _select_needing(self, step: int) -> None:
        app = self._app
        panes = app.state.list_needing()
        if not panes:
            app.show_message("No agent needs you.", "dim")
            return
        app.show_view("fleet")
        if app.state.options.text or app.state.options.only or app.state.options.closed:
            app.state.options = replace(app.state.options, text="", only="", closed=frozenset())
        app.paint()
        current = app.selected_pane
        index = (panes.index(current) + step) if current in panes else (0 if step > 0 else -1)
        app.view.list.select_key(panes[index % len(panes)])

    async def on_choose_option(self, key: str) -> None:
        app = self._app
        if (pane := app.selected_pane) is not None:
            await app.actions.choose_option(pane, key, app.view.pane.get_texts() if app.aspect == "screen" else [])

    async def on_approve(self, _key: str) -> None:
        if (pane := self._app.selected_pane) is not None:
            await self._app.actions.allow_once(pane)

    async def on_deny(self, _key: str) -> None:
        if (pane := self._app.selected_pane) is not None:
            await self._app.actions.deny(pane)

    def on_send(self, _key: str) -> None:
        panes = self._app.chosen_panes
        where = f"{len(panes)} panes" if len(panes) > 1 else f"pane {panes[0]}"
        self._app.prompt_line(
            LinePrompt(label=f"Send to {where}:", on_submit=lambda text: self._app.actions.send(panes, text))
        )

    async def on_interrupt(self, _key: str) -> None:
        await self._app.actions.interrupt(self._app.chosen_panes)

    async def on_kill(self, _key: str) -> None:
        await self._app.actions.kill(self._app.chosen_panes)

    async def on_replay(self, _key: str) -> None:
        if (pane := self._app.selected_pane) is not None:
            await self._app.actions.replay(pane)

    async def on_open_row(self, key: str) -> None:
        row = self._app.view.list.current
        if row is not None and row.pane is not None:
            await self._app.actions.attach(row.pane)
        else:
            self._switch_group(row)

    def on_toggle_row(self, _key: str) -> None:
        row, state = self._app.view.list.current, self._app.state
        if row is not None and isinstance(row.key, int):
            state.options = replace(state.options, marked=state.options.marked ^ {row.key})
            self._app.view.list.move_cursor(1)
        else:
            self._switch_group(row)

    def _switch_group(self, row: ListRow | None) -> None:
        state = self._app.state
        if row is None or not isinstance(row.key, tuple):
            return
        kind, *path = row.key
        if kind == "fold":
            state.options = replace(state.options, opened=state.options.opened ^ {path[0]})
        elif kind == "group":
            state.options = replace(state.options, closed=state.options.closed ^ {tuple(path)})

    def on_clear_marks(self, _key: str) -> None:
        self._app.clear_marks()

    # Looks at the pane

    def on_zoom(self, _key: str) -> None:
        self._app.is_zoomed = not self._app.is_zoomed
        self._app.update_layout()

    def on_show_screen(self, _key: str) -> None:
        self._app.aspect = "screen"
        self._app.watch_shown_pane()

    async def on_show_output(self, _key: str) -> None:
        await self._show_aspect("output")

    async def on_show_evidence(self, _key: str) -> None:
        await self._show_aspect("evidence")

    async def on_show_history(self, _key: str) -> None:
        await self._show_aspect("history")

    async def _show_aspect(self, aspect: str) -> None:
        # On a narrow terminal the text takes the place of the list.
        if not self._app.view.side.display:
            self.on_zoom("")
        await self._app.show_aspect(aspect)

    def on_scroll_pane(self, key: str) -> None:
        self._app.view.pane.scroll_rows(-_SCROLL_ROWS if key.startswith("left") else _SCROLL_ROWS)

    def on_scroll_columns(self, key: str) -> None:
        self._app.view.pane.scroll_columns(-_SCROLL_COLUMNS if key.startswith("less") else _SCROLL_COLUMNS)

    # The list

    def on_move_down(self, _key: str) -> None:
        self._app.view.list.move_cursor(1)

    def on_move_up(self, _key: str) -> None:
        self._app.view.list.move_cursor(-1)

    def on_page_down(self, _key: str) -> None:
        self._app.view.list.move_cursor(max(1, self._app.view.list.size.height - 1))

    def on_page_up(self, _key: str) -> None:
        self._app.view.list.move_cursor(-max(1, self._app.view.list.size.height - 1))

    def on_move_first(self, _key: str) -> None:
        self._app.view.list.move_cursor(-len(self._app.view.list.rows))

    def on_move_last(self, _key: str) -> None:
        self._app.view.list.move_cursor(len(self._app.view.list.rows))

    def on_filter_rows(self, _key: str) -> None:
        before = self._app.state.options.text
        self._app.show_view("fleet")
        self._app.prompt_line(
            LinePrompt(
                label="Filter:",
                text=before,
                on_submit=lambda _text: None,
                on_change=self._set_filter,
                on_cancel=lambda: self._set_filter(""),
            )
        )

    def _set_filter(self, text: str) -> None:
        self._change_options(text=text)

    def _change_options(self, **changes: str) -> None:
        options: FleetOptions = replace(self._app.state.options, **changes)
        self._app.state.options = options

    def on_filter_state(self, key: str) -> None:
        self._app.show_view("fleet")
        self._change_options(only=key if key in STATE_FILTERS else "")

    def on_change_grouping(self, _key: str) -> None:
        options = self._app.state.options
        grouping = GROUPINGS[(GROUPINGS.index(options.grouping) + 1) % len(GROUPINGS)]
        self._app.state.set_grouping(replace(options, grouping=grouping))
        self._app.show_message(
            f"Grouped by {grouping.replace('-', ' and ')}." if grouping != "flat" else "Not grouped.", "dim"
        )

    async def on_acknowledge(self, _key: str) -> None:
        row, app = self._app.view.list.current, self._app
        if row is None or not isinstance(row.key, tuple) or row.key[0] != "event":
            app.show_message("x acknowledges an event: v l shows the feed.", "dim")
            return
        await app.calls.call("events_ack", ids=[str(row.key[1])])
        app.show_message(f"Event {row.key[1]} is acknowledged.", "running")

    def on_refresh_view(self, _key: str) -> None:
        self._app.reload_view()
        self._app.paint(is_sorting=True)

    # Views and program

    def on_choose_view(self, _key: str) -> None:
        self._is_choosing_view = True

    def on_next_view(self, _key: str) -> None:
        self._step_view(1)

    def on_previous_view(self, _key: str) -> None:
        self._step_view(-1)

    def _step_view(self, step: int) -> None:
        names = list(VIEW_KEYS.values())
        self._app.show_view(names[(names.index(self._app.view_name) + step) % len(names)])

    def on_search(self, _key: str) -> None:
        self._app.prompt_line(LinePrompt(label="Search:", text=self._app.views.query, on_submit=self._search))

    def _search(self, text: str) -> None:
        self._app.views.query = text.strip()
        self._app.show_view("search")

    def on_enter_command(self, _key: str) -> None:
        self._app.prompt_line(LinePrompt(label=":", on_submit=self._run_command, complete=_complete_command))

    async def _run_command(self, text: str, *, is_confirmed: bool = False) -> None:
        app, words = self._app, text.split()
        if not words:
            return
        options = app.build_options(app.view.pane.size.width or app.size.width)
        self._show_text(f": {text}", "…")
        try:
            result = await app.calls.run_command_line(
                words, options, is_confirmed=is_confirmed, on_text=lambda part: self._show_text(f": {text}", part)
            )
        except VisorError as error:
            self._show_text(f": {text}", describe_error(error))
            if error.code in CONSENT_CODES and not is_confirmed:
                app.ask_choice(describe_error(error), y=("yes", lambda: self._run_command(text, is_confirmed=True)))
            return
        self._show_text(f": {text}", result)

    def _show_text(self, title: str, text: str) -> None:
        """Show text in the place of the pane; `c` or another row shows a screen again."""
        app = self._app
        app.show_text(title, text)
        if not app.view.side.display:
            self.on_zoom("")

    def on_change_theme(self, _key: str) -> None:
        self._app.change_theme()

    def on_show_help(self, _key: str) -> None:
        self._app.prompt_line(
            LinePrompt(label="Keys that contain:", on_submit=lambda _text: None, on_change=self._show_help)
        )
        self._show_help("")

    def _show_help(self, text: str) -> None:
        self._show_text("keys", "\n".join(render_help(text)))

    def on_go_back(self, _key: str) -> None:
        app = self._app
        if app.is_zoomed:
            self.on_zoom("")
        elif app.state.options.text or app.state.options.only:
            self._change_options(text="", only="")
        elif app.view_name != "fleet":
            app.show_view("fleet")
        if app.aspect != "screen":
            self.on_show_screen("")

    def on_quit_program(self, _key: str) -> None:
        self._app.exit()


def _complete_command(text: str) -> str:
    names = [name.replace("_", "-") for name in OPERATION_NAMES]
    return complete_word(text, sorted({*names, *(name for name in COMMAND_ALIASES if not name.startswith("-"))}))
