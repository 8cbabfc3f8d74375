"""Parsing of YAML and TOML workflow files."""

import os

import pytest

from termvisor.errors import ConfigError
from termvisor.workflows.files.source_file import WorkflowSource, parse_source, read_source


def test_yaml_values_are_plain_and_have_line_numbers():
    found = parse_source("w.yaml", "a: 1\nb:\n  - true\n  - 2s\nc: 'off'\n")
    assert found.value == {"a": 1, "b": [True, "2s"], "c": "off"}
    assert found.build_error(("b", 1), "wrong").message == "w.yaml:4: wrong"
    assert found.build_error(("b", 7, "x"), "wrong").message == "w.yaml:2: wrong"


def test_toml_keys_have_line_numbers():
    found = parse_source("w.toml", 'name = "x"\n\n[[steps]]\nsend = "a"\n')
    assert found.build_error(("steps", 0, "send"), "wrong").message == "w.toml:4: wrong"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("w.toml", "\na =", "w.toml:2: invalid TOML: Invalid value"),
        ("w.yaml", "a: [", "w.yaml:1: invalid YAML"),
        ("w.yaml", "a: 1\n---\nb: 2\n", "w.yaml:2: .*expected a single document"),
        ("w.yaml", "[" * 1000, "nested too deep|w.yaml:1"),
    ],
)
def test_invalid_syntax_is_an_error(name, text, expected):
    with pytest.raises(ConfigError, match=expected):
        parse_source(name, text)


def test_inline_toml_lists_have_line_numbers():
    found = parse_source("w.toml", 'name = "x"\nsteps = [\n  {note = "a"},\n  {sned = "b"},\n]\n')
    assert found.format_location(("steps", 1, "sned")) == "w.toml:4"


def test_a_named_pipe_does_not_block(tmp_path):
    pipe = tmp_path / "pipe.yaml"
    os.mkfifo(pipe)
    with pytest.raises(ConfigError, match="cannot be read: not a regular file"):
        read_source(str(pipe))
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        read_source(str(tmp_path))


def test_an_unreadable_file_says_why(tmp_path):
    (tmp_path / "w.yaml").write_bytes(b"name: \xff\n")
    with pytest.raises(ConfigError, match=r"not UTF-8 text \(byte 7\)"):
        read_source(str(tmp_path / "w.yaml"))
    with pytest.raises(ConfigError, match="cannot be read: No such file or directory"):
        read_source(str(tmp_path / "none.yaml"))


def test_an_endless_file_is_rejected(tmp_path):
    path = tmp_path / "w.yaml"
    path.write_text("a: " + "x" * 300_000)
    with pytest.raises(ConfigError, match="longer than"):
        read_source(str(path))


def test_a_file_of_the_largest_size_is_read(tmp_path):
    path = tmp_path / "w.yaml"
    path.write_text("a: b".ljust(256 * 1024, " "))
    assert read_source(str(path)).value == {"a": "b"}
    path.write_text("a: b".ljust(256 * 1024 + 1, " "))
    with pytest.raises(ConfigError, match="longer than 262144 characters"):
        read_source(str(path))


def test_a_value_without_a_line_has_the_line_of_its_closest_parent():
    source = WorkflowSource("w.yaml", {}, {("a",): 3})
    assert [source.format_location(path) for path in (("a",), ("a", "b", 0), ("c",), ())] == [
        "w.yaml:3", "w.yaml:3", "w.yaml:1", "w.yaml:1",
    ]  # fmt: skip


def test_values_may_be_nested_twenty_deep():
    assert parse_source("w.yaml", "[" * 21 + "]" * 21).value
    with pytest.raises(ConfigError, match="deep nesting"):
        parse_source("w.yaml", "[" * 22 + "]" * 22)
