"""Text as SQLite can keep it."""


def replace_surrogates(text: str) -> str:
    """Without lone surrogates: SQLite keeps UTF-8, and one bad character must not stop a pane for ever."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
