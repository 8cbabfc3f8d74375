"""Find, set and remove values in TOML text, preserving every other byte.

Invariant: comments survive; those within a replaced value move above it. The text must be valid TOML: the end of a
statement is found by trying the TOML parser on one more line at a time. A key is a tuple of names from the top level.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Struct

TomlKey = tuple[str, ...]
_BARE_NAME = re.compile(r"[A-Za-z0-9_-]+")


class TomlStatement(Struct, frozen=True):
    """Whole lines: a table header, a key with its value, or a comment or blank line (with an empty key)."""

    text: str
    line: int
    table: TomlKey
    """The table that this statement is in; of a header, the table that it opens."""
    key: TomlKey = ()
    """The full key, including its table."""
    is_header: bool = False


def split_statements(text: str) -> list[TomlStatement]:
    lines = _split_lines(text)
    statements: list[TomlStatement] = []
    table: TomlKey = ()
    at = 0
    while at < len(lines):
        # At the start of a statement a bracket opens a table; within a value it would be part of that statement.
        if is_header := lines[at].lstrip().startswith("["):
            table = _get_first_key(_parse_toml(lines[at]) or {})
        size = 1
        # A value may span lines. The whole text is valid, so the loop ends.
        while _parse_toml("".join(lines[at : at + size])) is None:
            size += 1
        part = "".join(lines[at : at + size])
        key = table if is_header else _find_statement_key(part, table)
        statements.append(TomlStatement(part, at + 1, table, key, is_header))
        at += size
    return statements


def find_line(text: str, key: TomlKey) -> int | None:
    """Return the line of the statement that defines a key, or the closest table around it; None without either."""
    around = [one for one in split_statements(text) if one.key and one.key == key[: len(one.key)]]
    return max(around, key=lambda one: len(one.key)).line if around else None


def set_value(text: str, key: TomlKey, value: str) -> str:
    """Return the text with this key set to ``value``, which is TOML. A table of this name is replaced."""
    parts = split_statements(text)
    if any(part.is_header and part.key == key for part in parts):
        return set_value(unset_value(text, key), key, value)
    at = next((index for index, part in enumerate(parts) if part.key == key and not part.is_header), None)
    if at is not None:
        return _join_statements(parts, at, _replace_value(parts[at].text, value), 1)
    end = "\r\n" if "\r\n" in text else "\n"
    at, table = _find_insert_index(parts, key)
    lacks_newline = at > 0 and not parts[at - 1].text.endswith("\n")
    new = f"{format_key(key[len(table) :])} = {value}{end}"
    if table != key[:-1] and not _has_dotted_keys(parts, key[:-1]):
        blank = end if parts and parts[-1].text.strip() else ""
        new = f"{blank}[{format_key(key[:-1])}]{end}{format_key(key[-1:])} = {value}{end}"
        at = len(parts)
        lacks_newline = bool(parts) and not parts[-1].text.endswith("\n")
    return _join_statements(parts, at, f"{end if lacks_newline else ''}{new}", 0)


def unset_value(text: str, key: TomlKey) -> str:
    """Return the text without this key, or without this whole table; comments are kept."""
    parts = split_statements(text)
    return "".join(
        _keep_comments(part.text) if part.key and part.key[: len(key)] == key else part.text for part in parts
    )


def format_key(key: TomlKey) -> str:
    return ".".join(name if _BARE_NAME.fullmatch(name) else msgspec.json.encode(name).decode() for name in key)


def format_toml_value(value: Any) -> str:
    """Format a value as in the config file; None as `unset`."""
    builtin = msgspec.to_builtins(value)
    if isinstance(builtin, dict):
        pairs = (f"{format_key((name,))} = {format_toml_value(item)}" for name, item in builtin.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(builtin, list | tuple):
        has_tables = any(isinstance(item, dict) for item in builtin)
        return f"[{(', ' if has_tables else ',').join(map(format_toml_value, builtin))}]"
    # Patterns are full of backslashes, which a literal string does not escape.
    if isinstance(builtin, str) and "\\" in builtin and "'" not in builtin and builtin.isprintable():
        return f"'{builtin}'"
    # JSON strings and numbers are valid TOML, except that TOML forbids a raw DEL.
    return "unset" if value is None else msgspec.json.encode(builtin).decode().replace("\x7f", "\\u007f")


def _join_statements(parts: list[TomlStatement], index: int, new: str, replaced_count: int) -> str:
    texts = [part.text for part in parts]
    return "".join([*texts[:index], new, *texts[index + replaced_count :]])


def _find_insert_index(parts: list[TomlStatement], key: TomlKey) -> tuple[int, TomlKey]:
    """Return the index for a new key, and the table that it is in there.

    That is below its commented-out line, else after the last key of its table, else after its header.
    """
    table = key[:-1]
    for index, part in enumerate(parts):
        if not part.key and part.table == table and re.match(rf"#\s*{re.escape(key[-1])}\s*=", part.text):
            return index + 1, table
    if not table:
        return next((index for index, part in enumerate(parts) if part.is_header), len(parts)), ()
    inside = [index for index, part in enumerate(parts) if part.key and part.table == table]
    if inside:
        return inside[-1] + 1, table
    dotted = [index for index, part in enumerate(parts) if part.key[:-1] == table]
    return (dotted[-1] + 1, parts[dotted[-1]].table) if dotted else (len(parts), ())


def _has_dotted_keys(parts: Iterable[TomlStatement], table: TomlKey) -> bool:
    """Return True if a table is written as dotted keys (`storage.retention = 7`), so it must not get a header."""
    return any(part.key[:-1] == table and part.table != table for part in parts if part.key and not part.is_header)


def _get_first_key(values: Any) -> TomlKey:
    """Return the nested key of a parsed header or of a statement with a plain value."""
    key: list[str] = []
    while isinstance(values, dict | list) and values:
        if isinstance(values, dict):
            name, values = next(iter(values.items()))
            key.append(name)
        else:
            values = values[0]
    return tuple(key)


def _find_statement_key(text: str, table: TomlKey) -> TomlKey:
    for sign in re.finditer("=", text):
        # A quoted name may contain the sign, so that the text before it is no key.
        if (values := _parse_toml(f"{text[: sign.start()]}= 0")) is not None:
            return (*table, *_get_first_key(values)) if values else ()
    return ()


def _split_lines(text: str) -> list[str]:
    """Split into lines, keeping newlines. Unlike `splitlines`, split only at newlines, as TOML does."""
    return re.findall(r"[^\n]*\n|[^\n]+\Z", text)


def _parse_toml(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _replace_value(old: str, value: str) -> str:
    inner, last = _split_comments(old)
    head = re.match(r"[^=]*=[ \t]*", old)
    end = _get_line_ending(old)
    above = "".join(f"{comment}{end or chr(10)}" for comment in inner)
    return f"{above}{head[0] if head else ''}{value}{'  ' + last if last else ''}{end}"


def _keep_comments(text: str) -> str:
    inner, last = _split_comments(text)
    end = _get_line_ending(text)
    return "".join(f"{comment}{end}" for comment in (*inner, *([last] if last else ())))


def _get_line_ending(text: str) -> str:
    return "\r\n" if text.endswith("\r\n") else "\n" if text.endswith("\n") else ""


def _split_comments(text: str) -> tuple[list[str], str]:
    """Return the comments within a statement and the comment on its last line."""
    lines = [line.rstrip("\r\n") for line in _split_lines(text)]
    comments = dict(_find_comments(lines))
    last = comments.pop(len(lines) - 1, "")
    return list(comments.values()), last


def _find_comments(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield comments with their line index. A `#` starts a comment if cutting the line there keeps the value."""
    value = _parse_toml("\n".join(lines))
    for number, line in enumerate(lines):
        for mark in re.finditer("#", line):
            # A `#` inside a string changes or breaks the value when the line is cut there.
            cut = [*lines[:number], line[: mark.start()], *lines[number + 1 :]]
            if _parse_toml("\n".join(cut)) == value:
                yield number, line[mark.start() :]
                break
