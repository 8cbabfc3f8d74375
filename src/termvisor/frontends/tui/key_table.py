"""Keys of the cockpit: one table for the keyboard, the help and the footer."""

from collections.abc import Sequence

from msgspec import Struct


class KeyBinding(Struct, frozen=True):
    """``keys`` are names of keys; ``command`` is the method `on_<command>` of the key handler."""

    keys: tuple[str, ...]
    command: str
    label: str
    help: str
    section: str


def _bind(section: str, *rows: tuple[str, str, str, str]) -> list[KeyBinding]:
    return [KeyBinding(tuple(keys.split()), command, label, text, section) for keys, command, label, text in rows]


KEY_TABLE: tuple[KeyBinding, ...] = (
    *_bind(
        "Answer",
        ("n", "select_next", "n", "go to the next pane that needs you"),
        ("N", "select_previous", "N", "go to the previous one"),
        ("1 2 3 4 5 6 7 8 9", "choose_option", "1-9", "choose that option of the dialog; asks first"),
        ("a", "approve", "a", "allow what is asked, once; asks first"),
        ("d", "deny", "d", "deny it; asks first"),
    ),
    *_bind(
        "Act on the pane, or on all marked panes",
        ("s", "send", "s", "send a line of text; shows the verdict before it goes"),
        ("i", "interrupt", "i", "interrupt the agent or program; asks first"),
        ("K", "kill", "K", "end the program by INT, TERM or KILL, or close the pane; asks first"),
        ("enter", "open_row", "Enter", "attach to the pane (C-b d comes back); open a fold or group"),
        ("space", "toggle_row", "Space", "mark the pane; open a fold or group"),
        ("u", "clear_marks", "u", "remove all marks"),
    ),
    *_bind(
        "Look at the pane",
        ("z", "zoom", "z", "show the pane alone, without resizing it; again: back"),
        ("c", "show_screen", "c", "its screen, live and in colours"),
        ("t", "show_output", "t", "its last lines of output"),
        ("e", "show_evidence", "e", "why its state is what it is"),
        ("h", "show_history", "h", "what happened to it"),
        ("r", "replay", "r", "replay its recorded screens"),
        ("left_square_bracket right_square_bracket", "scroll_pane", "[ ]", "scroll the pane's text"),
        ("less_than_sign greater_than_sign", "scroll_columns", "< >", "move a wide pane left and right"),
    ),
    *_bind(
        "List",
        ("j down", "move_down", "j", "down"),
        ("k up", "move_up", "k", "up"),
        ("pagedown ctrl+d", "page_down", "PgDn", "a page down"),
        ("pageup ctrl+u", "page_up", "PgUp", "a page up"),
        ("g home", "move_first", "g", "first row"),
        ("G end", "move_last", "G", "last row"),
        ("slash", "filter_rows", "/", "filter as you type; Escape removes the filter"),
        ("exclamation_mark", "filter_state", "!", "only errors"),
        ("at", "filter_state", "@", "only those that wait"),
        ("number_sign", "filter_state", "#", "only idle ones"),
        ("ampersand", "filter_state", "&", "only running ones"),
        ("0", "filter_state", "0", "all states"),
        ("b", "change_grouping", "b", "group: flat, target and session, session name"),
        ("x", "acknowledge", "x", "acknowledge the event (feed)"),
        ("R", "refresh_view", "R", "read the view again, and sort now"),
    ),
    *_bind(
        "Views and program",
        ("v", "choose_view", "v", "choose a view: f i l s j a t, see the list below"),
        ("tab", "next_view", "Tab", "next view"),
        ("shift+tab", "previous_view", "S-Tab", "previous view"),
        ("f", "search", "f", "search everything that was printed or said"),
        ("colon", "enter_command", ":", "run any operation, as after `visor`; Tab completes"),
        ("T", "change_theme", "T", "colours of the terminal, or high contrast"),
        ("question_mark", "show_help", "?", "these keys; type to filter them"),
        ("escape", "go_back", "Esc", "back"),
        ("q ctrl+c ctrl+q", "quit_program", "q", "quit; the daemon keeps running until `visor down`"),
    ),
)
COMMAND_BY_KEY = {key: binding.command for binding in KEY_TABLE for key in binding.keys}
VIEW_KEYS = {
    "f": "fleet",
    "i": "inbox",
    "l": "feed",
    "s": "search",
    "j": "jobs",
    "a": "audit",
    "t": "timeline",
}
"""After `v`: the letter of each view, in the order of Tab."""


def render_help(text: str = "") -> list[str]:
    """Return the help, or only the lines that contain a text."""
    lines: list[str] = []
    section = ""
    for binding in KEY_TABLE:
        line = f"  {binding.label:<6} {binding.help}"
        if text.lower() not in f"{line} {binding.section}".lower():
            continue
        if binding.section != section:
            section = binding.section
            lines += ["", section] if lines else [section]
        lines.append(line)
    views = "  ".join(f"{key} {view}" for key, view in VIEW_KEYS.items())
    return [*lines, "", "Views after v", f"  {views}"] if not text else lines


def build_hints(pairs: Sequence[tuple[str, str]], width: int) -> str:
    """Return as many hints as fit; the first ones, which say how to leave, are kept."""
    text = ""
    for key, meaning in pairs:
        hint = f"{'  ' if text else ' '}{key} {meaning}"
        if len(text) + len(hint) > width:
            break
        text += hint
    return text
