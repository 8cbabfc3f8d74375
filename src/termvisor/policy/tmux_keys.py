"""Names of tmux keys and the text that they type."""

import re

TEXT_BY_KEY = {"Enter": "\n", "C-m": "\n", "C-j": "\n", "KPEnter": "\n", "Space": " "}
ENTER_KEYS = frozenset(key for key, text in TEXT_BY_KEY.items() if text == "\n")
_KEY_NAME = re.compile(
    r"^(?:(?:[CMS]-)+.+|\^.|Up|Down|Left|Right|Home|End|PageUp|PgUp|PPage|PageDown|PgDn|NPage|B?Tab|BSpace|Escape|F\d+|IC"
    r"|Insert|DC|Delete|Enter|Space|KP.+|Any|None)$"
)


def is_editing_key(key: str) -> bool:
    """Return True for a named key that types no text, such as an arrow or Ctrl-W."""
    return key not in TEXT_BY_KEY and _KEY_NAME.match(key) is not None


def convert_keys_to_text(keys: tuple[str, ...]) -> str:
    """Return the text that keys type: Enter is a newline, other named keys nothing, anything else itself."""
    return "".join(TEXT_BY_KEY.get(key, "" if is_editing_key(key) else key) for key in keys)
