import pytest

from termvisor.policy.toml_position import PathStep, find_key_line

TEXT = """\
# a comment
top = 1

[table]
  quoted."key" = '''
not = this
'''
list = [
  "a",
]
[[many]]
id = 1
[[many]]
id = 2
inner = { x = 1, y = { z = 2 } }
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("top",), 2),
        (("table",), 4),
        (("table", "quoted", "key"), 5),
        (("table", "list"), 8),
        (("table", "list", 0), 8),
        (("many",), 11),
        (("many", 1, "id"), 14),
        (("many", 1, "inner", "y", "z"), 15),
        (("not",), None),
        (("many", 2), None),
        (("top", "deeper"), None),
    ],
)
def test_the_line_on_which_a_statement_begins_is_found(path: tuple[PathStep, ...], line: int | None) -> None:
    assert find_key_line(TEXT, path) == line


def test_a_key_on_the_first_line_is_found() -> None:
    assert find_key_line("a = 1", ("a",)) == 1
