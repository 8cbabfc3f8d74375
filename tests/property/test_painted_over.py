"""Laws of what is left of a secret: wherever the bytes are cut and whatever is written over it, no piece comes out."""

import os
import tempfile

from hypothesis import example, given
from hypothesis import strategies as st

from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.output import Epoch
from termvisor.pipeline import EpochReader
from termvisor.recorder.segment_log import SegmentWriter
from tests.fuzz.example_count import build_settings
from tests.property.test_redaction import leaks, planted

EPOCH = Epoch(id=EpochId(1), pane=PaneId(1), source="pipe", opened_at=1)
WHOLE = "6yN0iQ7mZ4pL9gQ2jE1tZ4rW9eJ1xC5pR1lN5tU3rP7qI0zR0cX6wZ0tP5hX5wC3sH3zE8oC1kQ7dJ8jW1rK8g"
covers = st.sampled_from(["working on it", "", "ok", "a: ", "▌ ⠋ ", "--- 密钥 ---"])


@st.composite
def strokes(draw, length: int) -> str:
    """Movements in the row of a secret so long, and what is written or deleted there."""
    there = draw(st.sampled_from(["\r", "\x1b[{}D", "\x1b[{}G", "\r\x1b[{}C"])).format(draw(st.integers(1, length)))
    act = draw(st.sampled_from(["", "\x1b[{}P", "\x1b[{}@", "\x1b[{}X", "\x1b[K", "\x1b[1K"]))
    return there + act.format(draw(st.integers(1, 12))) + draw(covers)


@st.composite
def written_over(draw) -> tuple[str, str]:
    """Bytes in which a secret is written over in its row, or a piece of it painted once more; its hidden part."""
    text, hidden = draw(planted())
    at = draw(st.integers(0, len(text) - 9))
    over = text + "".join(draw(st.lists(strokes(len(text)), min_size=1, max_size=4))) + "\r\n"
    again = f"{text}\r\n\x1b[2A{draw(covers)}\x1b[B\r{text[at : at + draw(st.integers(9, 40))]}\r\n"
    return draw(st.sampled_from([over, again, again + over])), hidden


def stored(data: bytes, step: int) -> str:
    with tempfile.TemporaryDirectory() as folder:
        writer = SegmentWriter(os.path.join(folder, "1"), 1 << 20)
        writer.append(data, 5)
        writer.close()
        text = EpochReader(EPOCH, os.path.join(folder, "1"), None)
        while text.read_step(step):
            assert text.pending_line is not None
        text.finish()
        progress = text.take_progress()
        return "\n".join(line for block in progress.blocks for line in block.lines) if progress else ""


@build_settings(200)
@given(written_over(), st.integers(1, 60))
@example((f"whsec_{WHOLE}\r\x1b[2@ok\r\n", WHOLE), 25)
@example((f"AIza{WHOLE[:35]}\r\x1b[39Cok\r\n", WHOLE[:35]), 60)
def test_no_piece_of_a_secret_that_was_written_over_is_stored(shown, step):
    data, hidden = shown
    assert leaks(hidden, stored(data.encode(), step)) == []
