"""Any terminal bytes to the models of own terminals: no crash, sane screens, and answers that no program can choose."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from termvisor.backends.pty import ghostty_library
from termvisor.backends.pty.model_factory import build_model
from termvisor.backends.pty.query_model import QueryOnlyModel
from tests.fuzz.example_count import build_settings
from tests.fuzz.terminal_bytes import cuts, split_chunks, streams

sizes = st.tuples(st.integers(1, 90), st.integers(1, 40))


def test_the_library_is_installed() -> None:
    assert ghostty_library.find_library(), "the terminal model is missing. Install it with: .ci/setup dev"


@pytest.mark.parametrize("build", [build_model, QueryOnlyModel])
@build_settings(400)
@given(data=streams | st.binary(max_size=200), cut_fractions=cuts, size=sizes, other=sizes)
def test_any_bytes_leave_a_sane_screen(build, data, cut_fractions, size, other) -> None:
    model = build(*size)
    try:
        for chunk in split_chunks(data, cut_fractions):
            answer = model.feed(chunk)
            # A line end would execute what a hostile program made the terminal answer.
            assert not set(answer) & {0x0A, 0x0D}
        model.resize(*other)
        screen = model.read_screen(lines=50)
        assert len(screen.rows) >= 1 and 0 <= screen.cursor_x < max(1, screen.width) and screen.cursor_y < screen.height
        model.read_screen(escapes=True)
        model.encode_state()
        assert len(model.title) <= 4096
    finally:
        model.close()


@build_settings(150)
@given(data=streams, cut_fractions=cuts)
def test_borders_of_chunks_make_no_difference(data, cut_fractions) -> None:
    whole, cut = build_model(40, 10), build_model(40, 10)
    try:
        answers = whole.feed(data)
        assert b"".join(cut.feed(chunk) for chunk in split_chunks(data, cut_fractions)) == answers
        assert cut.read_screen(lines=99, escapes=True) == whole.read_screen(lines=99, escapes=True)
    finally:
        whole.close()
        cut.close()


@pytest.mark.parametrize("build", [build_model, QueryOnlyModel])
def test_a_title_and_a_clipboard_are_never_reported(build) -> None:
    model = build(80, 24)
    model.feed(b"\x1b]2;rm -rf\x07\x1b]52;c;cm0=\x07")
    assert model.feed(b"\x1b[21t\x1b[20t\x1b]52;c;?\x07\x05\x1b]2;?\x07") == b""
    model.close()
