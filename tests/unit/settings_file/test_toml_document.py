"""Editing TOML text keeps every other byte."""

import tomllib

import pytest

from termvisor.ops.config.config_init import build_template
from termvisor.settings_file.toml_document import find_line, format_toml_value, set_value, unset_value


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "a = 1\n"),
        ("b = 2\n", "b = 2\na = 1\n"),
        ("b = 2", "b = 2\na = 1\n"),
        ("a = 7\nb = 2\n", "a = 1\nb = 2\n"),
        ("  a   =   7 # why\nb = 2", "  a   =   1  # why\nb = 2"),
        ('"a"=7\n', '"a"=1\n'),
        ("a = 7\r\nb = 2\r\n", "a = 1\r\nb = 2\r\n"),
        ("b = 2\r\n", "b = 2\r\na = 1\r\n"),
        ("# a = 5\nb = 2\n", "# a = 5\na = 1\nb = 2\n"),
        ("# a = 5", "# a = 5\na = 1\n"),
        ("b = 2\n\n[table]\na = 3\n", "b = 2\n\na = 1\n[table]\na = 3\n"),
        ('b = """\na = 7\n"""\n', 'b = """\na = 7\n"""\na = 1\n'),
        ('a = """\n# no comment\n"""  # one\n', "a = 1  # one\n"),
        (
            'a = [\n  # first\n  "x#y", # second\n  "z",\n] # third\nb = 2\n',
            "# first\n# second\na = 1  # third\nb = 2\n",
        ),
        ("a = '#'\n", "a = 1\n"),
    ],
)
def test_a_value_replaces_only_the_old_one(before: str, after: str) -> None:
    assert set_value(before, ("a",), "1") == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("b = 2\n", "b = 2\n"),
        ("# about a\na = 7\nb = 2\n", "# about a\nb = 2\n"),
        ("a = 7 # why\nb = 2\n", "# why\nb = 2\n"),
        ("a = [\n # one\n 1,\n]\nb = 2\n", "# one\nb = 2\n"),
        ("[table]\na = 3\n", "[table]\na = 3\n"),
    ],
)
def test_a_removed_setting_keeps_its_comments(before: str, after: str) -> None:
    assert unset_value(before, ("a",)) == after


def test_a_value_is_inserted_below_its_commented_out_line() -> None:
    text = set_value(build_template(), ("general", "log_level"), '"debug"')
    lines = text.splitlines()
    assert lines[lines.index('log_level = "debug"') - 1] == '# log_level = "info"'
    assert unset_value(text, ("general", "log_level")) == build_template()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "[t]\na = 1\n"),
        ("b = 2\n", "b = 2\n\n[t]\na = 1\n"),
        ("[t]\nb = 2\n\n# about u\n[u]\n", "[t]\nb = 2\na = 1\n\n# about u\n[u]\n"),
        ("[t]\n# a = 5\nb = 2\n", "[t]\n# a = 5\na = 1\nb = 2\n"),
        ("[t] # why\na = [\n 7,\n]\n", "[t] # why\na = 1\n"),
        ("[t]", "[t]\na = 1\n"),
        ("t.a = 7\n", "t.a = 1\n"),
        ("t.b = 7\n", "t.b = 7\nt.a = 1\n"),
        ("[t.u]\nb = 2\n", "[t.u]\nb = 2\n\n[t]\na = 1\n"),
        ('["t"]\nb = 2\n', '["t"]\nb = 2\na = 1\n'),
        ("[[x]]\na = 2\n", "[[x]]\na = 2\n\n[t]\na = 1\n"),
        ("[t.a]\nb = 2\n", "[t]\na = 1\n"),
    ],
)
def test_a_value_is_set_in_its_table(before: str, after: str) -> None:
    assert set_value(before, ("t", "a"), "1") == after
    tomllib.loads(after)


def test_a_removed_table_keeps_its_comments() -> None:
    text = "[t]\na = 1\n[t.u] # which\n# above\nb = 2\n[v]\nc = 3\n"
    assert unset_value(text, ("t", "u")) == "[t]\na = 1\n# which\n# above\n[v]\nc = 3\n"


@pytest.mark.parametrize(
    ("key", "line"),
    [
        (("a",), 1),
        (("t",), 5),
        (("t", "x.y"), 6),
        (("t", "c", "d"), 8),
        (("t", "none"), 5),
        (("none",), None),
    ],
)
def test_the_line_of_a_key_is_found(key: tuple[str, ...], line: int | None) -> None:
    text = 'a = """\n[t]\nb = 1\n"""\n[t]\n"x.y" = 2\n# c.d\nc = { d = 3 }\n'
    assert find_line(text, key) == line


@pytest.mark.parametrize("value", [r"\(Y\)es/\(N\)o", r"it's \d", "a\tb\\", {"a-b": [1, "x"], "c d": {"e": True}}])
def test_a_formatted_value_is_read_back(value: object) -> None:
    assert tomllib.loads(f"v = {format_toml_value(value)}")["v"] == value
