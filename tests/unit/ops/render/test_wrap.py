from hypothesis import given
from hypothesis import strategies as st

from termvisor.ops.render.wrap import wrap_text

PAGE = """A first line that was
broken by hand.

arguments:
  <pane>        The pane; any reference that names one of them.
  --at <at>     Begin here.

- an item that is rather long
- another"""


def test_paragraphs_are_filled_and_columns_hang() -> None:
    assert (
        wrap_text(PAGE, 38)
        == """A first line that was broken by hand.

arguments:
  <pane>        The pane; any
                reference that names
                one of them.
  --at <at>     Begin here.

- an item that is rather long
- another"""
    )


def test_a_narrow_terminal_still_gets_words() -> None:
    assert wrap_text("- a word after another", 10) == "- a word\n  after\n  another"


def test_no_width_changes_nothing() -> None:
    assert wrap_text(PAGE, 0) == PAGE


@given(st.text("ab -:\n"), st.integers(1, 90))
def test_no_word_is_lost(text: str, width: int) -> None:
    assert wrap_text(text, width).split() == text.split()
