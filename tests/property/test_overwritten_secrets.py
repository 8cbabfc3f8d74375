"""Overwritten secrets: no part of them is stored, wherever the bytes are cut."""

import tempfile

from hypothesis import example, given
from hypothesis import strategies as st

from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.output import Epoch
from termvisor.pipeline.epoch_text import EpochText, TextCarry
from termvisor.pipeline.window_files import WindowFiles
from termvisor.recorder.segment_log import SegmentReader
from tests.fuzz.example_count import build_settings
from tests.property.test_redaction import find_leaks, provider_secrets
from tests.unit.terminal.decoder_driver import build_delta

EPOCH = Epoch(id=EpochId(1), pane=PaneId(1), source="pipe", opened_at=1)
BODY = "6yN0iQ7mZ4pL9gQ2jE1tZ4rW9eJ1xC5pR1lN5tU3rP7qI0zR0cX6wZ0tP5hX5wC3sH3zE8oC1kQ7dJ8jW1rK8g"
KEY = "AKIA" + "6Y6B4Q7M4P5S3Q2J"
overwriting_texts = st.sampled_from(["working on it", "", "ok", "a: ", "▌ ⠋ ", "--- 密钥 ---"])


@st.composite
def cursor_edits(draw, length: int) -> str:
    """A cursor movement in the row of a secret of this length, and an edit there."""
    movement = draw(st.sampled_from(["\r", "\x1b[{}D", "\x1b[{}G", "\r\x1b[{}C"])).format(draw(st.integers(1, length)))
    edit = draw(st.sampled_from(["", "\x1b[{}P", "\x1b[{}@", "\x1b[{}X", "\x1b[K", "\x1b[1K"]))
    return movement + edit.format(draw(st.integers(1, 12))) + draw(overwriting_texts)


@st.composite
def overwritten_secrets(draw) -> tuple[str, str]:
    """Output that overwrites a secret or repaints a part of it, and the part that must be masked."""
    text, hidden = draw(provider_secrets())
    at = draw(st.integers(0, len(text) - 9))
    overwritten = text + "".join(draw(st.lists(cursor_edits(len(text)), min_size=1, max_size=4))) + "\r\n"
    repainted = f"{text}\r\n\x1b[2A{draw(overwriting_texts)}\x1b[B\r{text[at : at + draw(st.integers(9, 40))]}\r\n"
    return draw(st.sampled_from([overwritten, repainted, repainted + overwritten])), hidden


def redact_output(data: bytes, step: int, width: int) -> str:
    """Return the redacted lines of this output, read step by step."""
    with tempfile.TemporaryDirectory() as folder:
        text = EpochText(EPOCH, TextCarry(width=width, height=3), WindowFiles(folder), SegmentReader(folder))
        for start in range(0, len(data), step):
            text.feed(build_delta(data[start : start + step], start))
        text.finish(0)
        return "\n".join(line.text for line in text.list_unstored_lines(1))


@build_settings(200)
@given(overwritten_secrets(), st.integers(1, 60), st.sampled_from([400, 80, 40]))
@example((f"whsec_{BODY}\r\x1b[2@ok\r\n", BODY), 25, 400)
@example((f"AIza{BODY[:35]}\r\x1b[39Cok\r\n", BODY[:35]), 60, 400)
@example((f"{KEY}\r\n\x1b[2Aworking on it\x1b[B\r{KEY[3:12]}\r\n", KEY[4:]), 39, 400)
def test_no_part_of_an_overwritten_secret_is_stored(output, step, width):
    data, hidden = output
    assert find_leaks(hidden, redact_output(data.encode(), step, width)) == []


values = st.text(alphabet="abcdefghkmnpqrstuvwxyz", min_size=3, max_size=9).map(lambda text: f"{text}7{text[::-1]}4")
names = st.sampled_from(["password=", "api_key: ", "DB_PASSWORD=", "--token ", "token = ", "postgres://me:"])


@build_settings(100)
@given(names, values, st.integers(1, 5), st.integers(1, 60))
def test_no_value_is_stored_whose_name_is_overwritten(name, value, length, step):
    end = "@host/x" if "://" in name else ""
    data = f"{name}{value}{end}\r{'okokok'[:length]}\r\nnext\r\n"
    assert value not in redact_output(data.encode(), step, 80)


@build_settings(50)
@given(provider_secrets(), st.integers(1, 40))
def test_no_part_of_a_secret_is_stored_when_capture_ends_in_it(secret, length):
    text, hidden = secret
    assert find_leaks(hidden, redact_output(text[:length].encode(), 60, 80)) == []
