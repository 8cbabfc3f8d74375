"""The terminal models: libghostty-vt, and the one that only answers queries."""

import pytest

from termvisor.backends.pty import ghostty_library
from termvisor.backends.pty.ghostty_model import build_ghostty_model
from termvisor.backends.pty.model_factory import build_model
from termvisor.backends.pty.query_model import QueryOnlyModel

QUERIES = [
    (b"\x1b[c", b"\x1b[?62;22c"),
    (b"\x1b[5n", b"\x1b[0n"),
    (b"\x1b[?996n", b"\x1b[?997;1n"),
    (b"\x1b[?u", b"\x1b[?0u"),
    (b"\x1b[14t", b"\x1b[4;96;160t"),
    (b"\x1b[18t", b"\x1b[8;6;20t"),
    (b"\x1b]10;?\x07", b"\x1b]10;rgb:e5e5/e5e5/e5e5\x07"),
    (b"\x1b]11;?\x1b\\", b"\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\"),
    (b"\x1b]7501;?\x07", b"\x1b]7501;?\x1b\\"),
]


@pytest.fixture
def ghostty():
    path = ghostty_library.find_library()
    assert path, "the terminal model is missing. Install it with: .ci/setup dev"
    model = build_ghostty_model(path, 20, 6)
    yield model
    model.close()


@pytest.fixture(params=["ghostty", "queries"])
def model(request):
    return request.getfixturevalue("ghostty") if request.param == "ghostty" else QueryOnlyModel(20, 6)


@pytest.mark.parametrize(("query", "answer"), QUERIES)
def test_queries_of_agents_are_answered(model, query, answer):
    assert model.feed(b"text" + query + b"more") == answer


def test_a_query_in_pieces_is_answered_once(model):
    assert b"".join(model.feed(bytes([byte])) for byte in b"\x1b]7501;?\x07\x1b[c") == b"\x1b]7501;?\x1b\\\x1b[?62;22c"


def test_the_answer_to_the_status_probe_comes_before_that_to_device_attributes(model):
    assert model.feed(b"\x1b]7501;?\x07\x1b[c").startswith(b"\x1b]7501;?")


def test_a_status_report_is_not_answered(model):
    assert model.feed(b"\x1b]7501;state=idle:app=claude-code\x1b\\") == b""


def test_modes_the_title_and_the_alternate_screen_are_known(model):
    model.feed(b"\x1b]2;a title\x07\x1b[?2004h\x1b[?1049h")
    assert (model.title, model.is_mode_set(2004), model.is_mode_set(1), model.is_alternate) == (
        "a title",
        True,
        False,
        True,
    )
    model.feed(b"\x1b[?2004l\x1b[?1049l")
    assert (model.is_mode_set(2004), model.is_alternate) == (False, False)


def test_wrapped_rows_are_joined_and_the_screen_keeps_its_height(ghostty):
    ghostty.feed(b"0123456789" * 3 + b"\r\n\xe4\xb8\xad\xe6\x96\x87 e\xcc\x81  \r\nend")
    screen = ghostty.read_screen()
    assert screen.rows == ("0123456789" * 3, "中文 e\u0301  ", "end", "", "")
    assert (screen.width, screen.height, screen.cursor_x, screen.cursor_y) == (20, 6, 3, 3)


def test_colours_are_kept_where_they_are_asked_for(ghostty):
    ghostty.feed(b"\x1b[31mred\x1b[0m plain")
    assert ghostty.read_screen(escapes=True).rows[0].endswith("red\x1b[0m plain")
    assert ghostty.read_screen().rows[0] == "red plain"


def test_scrollback_comes_before_the_screen(ghostty):
    ghostty.feed(b"\r\n".join(b"line %d" % number for number in range(12)))
    assert ghostty.read_screen().rows == tuple(f"line {number}" for number in range(6, 12))
    assert ghostty.read_screen().rows_above == ("line 2", "line 3", "line 4", "line 5")
    assert ghostty.read_screen(lines=3).rows == tuple(f"line {number}" for number in range(3, 12))


def test_a_dump_restores_text_cursor_modes_and_title(ghostty):
    ghostty.feed(b"\x1b]2;title\x07\x1b[?2004h\x1b[?1h\x1b[1;31mred\x1b[0m\r\nplain\x1b[2;3H")
    other = build_model(20, 6)
    other.feed(ghostty.encode_state())
    assert other.read_screen(escapes=True) == ghostty.read_screen(escapes=True)
    assert (other.title, other.is_mode_set(2004), other.is_mode_set(1)) == ("title", True, True)
    other.close()


def test_a_smaller_size_wraps_the_main_screen_again(ghostty):
    ghostty.feed(b"0123456789abcdef")
    ghostty.resize(10, 4)
    screen = ghostty.read_screen()
    assert (screen.rows[0], screen.width, screen.height) == ("0123456789abcdef", 10, 4)


def test_another_version_of_the_library_is_not_loaded(monkeypatch):
    monkeypatch.setattr(ghostty_library, "LIBRARY_VERSION", "9.9.9")
    assert ghostty_library.find_library() == ""
    assert isinstance(build_model(80, 24), QueryOnlyModel)
