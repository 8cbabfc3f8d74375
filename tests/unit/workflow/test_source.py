"""Files of steps as they are written."""

import pytest

from termvisor.errors import ConfigError
from termvisor.workflow.source import parse, read


def test_values_of_yaml_are_plain_and_their_lines_are_known():
    found = parse("w.yaml", "a: 1\nb:\n  - true\n  - 2s\nc: 'off'\n")
    assert found.value == {"a": 1, "b": [True, "2s"], "c": "off"}
    assert found.wrong(("b", 1), "wrong").message == "w.yaml:4: wrong"
    assert found.wrong(("b", 7, "x"), "wrong").message == "w.yaml:2: wrong"


def test_keys_of_toml_have_lines_too():
    found = parse("w.toml", 'name = "x"\n\n[[steps]]\nsend = "a"\n')
    assert found.wrong(("steps", 0, "send"), "wrong").message == "w.toml:4: wrong"


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [("w.toml", "a =", "w.toml"), ("w.yaml", "a: [", "w.yaml:1"), ("w.yaml", "[" * 1000, "nested too deep|w.yaml:1")],
)
def test_what_is_no_file_of_its_kind_is_told(name, text, told):
    with pytest.raises(ConfigError, match=told):
        parse(name, text)


def test_an_endless_file_is_refused(tmp_path):
    path = tmp_path / "w.yaml"
    path.write_text("a: " + "x" * 300_000)
    with pytest.raises(ConfigError, match="no longer than"):
        read(str(path))
