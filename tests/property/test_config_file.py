"""Editing any config file: the value that was set is loaded, and nothing else changes."""

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from termvisor.settings_file.toml_document import format_toml_value, set_value, unset_value

WORDS = st.text(st.characters(blacklist_categories=["Cs"]), max_size=8)
COMMENTS = st.text(st.characters(blacklist_categories=["Cs", "Cc"]), max_size=8).map(lambda text: f"# {text}")
BLANK = st.sampled_from(["", "  ", "\t"])
VALUES = st.one_of(
    WORDS.map(format_toml_value),
    st.integers(-9, 9).map(str),
    st.sampled_from(["'it''s'", '"""\na = 1\n# none\n"""', "'''x\n# none'''", "1979-05-27", "{ x = 1, y = '#' }"]),
    st.lists(WORDS.map(format_toml_value), max_size=3).map(lambda items: f"[{', '.join(items)}]"),
    st.lists(st.tuples(WORDS.map(format_toml_value), COMMENTS), max_size=3).map(
        lambda items: "[\n" + "".join(f"  {value}, {comment}\n" for value, comment in items) + "]"
    ),
)


def _is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


@st.composite
def files(draw: st.DrawFn) -> tuple[list[str], str]:
    """The lines of a file and its newline. Some files have the key `wanted`."""
    names = draw(st.lists(st.sampled_from(["wanted", "other", '"third"', "'4th'"]), unique=True))
    parts: list[str] = []
    for name in names:
        parts += draw(st.lists(st.one_of(COMMENTS, BLANK), max_size=2))
        parts.append(f"{draw(BLANK)}{name} = {draw(VALUES.filter(lambda value: _is_toml(f'a = {value}')))}")
    parts += draw(st.lists(COMMENTS, max_size=2))
    return parts, draw(st.sampled_from(["\n", "\r\n"]))


@given(files(), st.one_of(WORDS, st.integers(-9, 9), st.lists(WORDS, max_size=3)))
def test_a_set_value_is_loaded_and_the_rest_of_the_file_is_unchanged(
    file: tuple[list[str], str], value: object
) -> None:
    parts, newline = file
    text = "\n".join(parts).replace("\n", newline)
    after = set_value(text, ("wanted",), format_toml_value(value))
    before = tomllib.loads(text)
    assert tomllib.loads(after) == before | {"wanted": value}
    for part in parts:
        assert part.strip().startswith("wanted") or part.replace("\n", newline) in after
    unset = unset_value(after, ("wanted",))
    assert tomllib.loads(unset) == {name: held for name, held in before.items() if name != "wanted"}
    assert [line for line in parts if line.startswith("#") and line not in unset] == []


@given(files(), st.integers(-9, 9))
def test_setting_a_value_is_idempotent(file: tuple[list[str], str], value: int) -> None:
    text = file[1].join(file[0]).replace("\r\n", "\n")
    once = set_value(text, ("wanted",), str(value))
    assert set_value(once, ("wanted",), str(value)) == once
