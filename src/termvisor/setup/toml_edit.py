"""Edit TOML text in place: set or unset one top-level value, preserving every other byte.

Invariant: comments survive; those within a replaced value move above it. The text must be valid TOML: the end of a
statement is found by trying the TOML parser on one more line at a time.
"""

import os
import re
import tomllib
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from termvisor.errors import ConfigError, Unavailable
from termvisor.system import files
from termvisor.system.files import make_private_folder


class _Statement(Struct, frozen=True):
    """Whole lines: a key with its value, a comment, a blank line, or everything from the first table on."""

    text: str
    keys: tuple[str, ...]

    @property
    def is_table(self) -> bool:
        return self.text.lstrip().startswith("[")


def set_value(text: str, name: str, value: str) -> str:
    """Return the text with this setting set to ``value``, which is TOML."""
    parts = _split_statements(text)
    at = next((index for index, part in enumerate(parts) if name in part.keys), None)
    if at is not None:
        return _join_statements(parts, at, _replace_value(parts[at].text, value), 1)
    at = _find_insert_index(parts, name)
    end = "\r\n" if "\r\n" in text else "\n"
    lacks_newline = at > 0 and not parts[at - 1].text.endswith("\n")
    return _join_statements(parts, at, f"{end if lacks_newline else ''}{name} = {value}{end}", 0)


def unset_value(text: str, name: str) -> str:
    """Return the text without this setting; its comments are kept."""
    parts = _split_statements(text)
    at = next((index for index, part in enumerate(parts) if name in part.keys), None)
    if at is None:
        return text
    inner, last = _split_comments(parts[at].text)
    end = _get_line_ending(parts[at].text)
    return _join_statements(parts, at, "".join(f"{comment}{end}" for comment in (*inner, *([last] if last else ()))), 1)


def read_toml_file(path: str) -> str:
    """Return the text of the file, empty if it does not exist. Raises ConfigError if it is not valid TOML."""
    try:
        with open(path, "rb") as file:
            text = file.read().decode()
        tomllib.loads(text)
    except FileNotFoundError:
        return ""
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from error
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error
    return text


def replace_toml_file(path: str, text: str) -> None:
    """Replace the file atomically, keeping a symbolic link and the file mode. Raises Unavailable."""
    target = os.path.realpath(path)
    try:
        make_private_folder(os.path.dirname(path), keeps_mode=True)
        files.write_atomically(target, text.encode(), files.stat_if_exists(target))
    except OSError as error:
        raise Unavailable(f"cannot write {path}: {error.strerror}") from error


def _join_statements(parts: list[_Statement], index: int, new: str, replaced_count: int) -> str:
    return "".join(
        [*(part.text for part in parts[:index]), new, *(part.text for part in parts[index + replaced_count :])]
    )


def _split_statements(text: str) -> list[_Statement]:
    """Split into the statements before the first table, plus one for the rest."""
    lines = _split_lines(text)
    statements: list[_Statement] = []
    at = 0
    while at < len(lines):
        if lines[at].lstrip().startswith("["):
            return [*statements, _Statement("".join(lines[at:]), ())]
        size = 1
        # A value may span lines. The whole text is valid, so the loop ends.
        while (values := _parse_toml("".join(lines[at : at + size]))) is None:
            size += 1
        statements.append(_Statement("".join(lines[at : at + size]), tuple(values)))
        at += size
    return statements


def _split_lines(text: str) -> list[str]:
    """Split into lines, keeping newlines. Unlike `splitlines`, split only at newlines, as TOML does."""
    return re.findall(r"[^\n]*\n|[^\n]+\Z", text)


def _parse_toml(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _find_insert_index(parts: list[_Statement], name: str) -> int:
    """Return the index for a new setting: below its commented-out line, else after the last setting."""
    for index, part in enumerate(parts):
        if not part.keys and re.match(rf"#\s*{name}\s*=", part.text):
            return index + 1
    return len(parts) - (1 if parts and parts[-1].is_table else 0)


def _replace_value(old: str, value: str) -> str:
    inner, last = _split_comments(old)
    head = re.match(r"[^=]*=[ \t]*", old)
    end = _get_line_ending(old)
    above = "".join(f"{comment}{end or chr(10)}" for comment in inner)
    return f"{above}{head[0] if head else ''}{value}{'  ' + last if last else ''}{end}"


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
