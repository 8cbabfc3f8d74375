"""The frame around what a record says."""

from termvisor.agents.base import Record
from termvisor.agents.claude_code.words import Frame, Told, fields, signals
from termvisor.model.signal import Hint
from tests.unit.agents.claude_code.saying import NOW

RECORD = Record(source="hook", text="x", at=NOW, hint=Hint(pid=4), event_id="0@9", seq=9, life=2)


def test_several_words_of_one_record_are_several_pieces_of_evidence() -> None:
    first, second = signals(RECORD, Frame(), [Told(state="idle"), Told(kind="task_ended", task="b1")])
    assert (first.dedupe_key, second.dedupe_key) == ("0@9/0", "0@9/1")
    assert (first.source_seq, first.source_life, first.event_at, first.hint.pid) == (9, 2, NOW, 4)


def test_its_own_time_and_name_stand_before_the_records() -> None:
    (signal,) = signals(RECORD, Frame(at=5, key="u1", session="s"), [Told(state="idle")])
    assert (signal.event_at, signal.ingested_at, signal.dedupe_key, signal.session) == (5, NOW, "u1/0", "s")


def test_a_record_without_an_id_is_known_by_its_time_and_text() -> None:
    bare = Record(source="osc", text="state=idle", at=NOW)
    once, again = (signals(bare, Frame(), [Told(state="idle")])[0].dedupe_key for _ in "12")
    other = signals(Record(source="osc", text="state=done", at=NOW), Frame(), [Told(state="idle")])[0].dedupe_key
    assert once == again != other


def test_what_says_nothing_is_left_out() -> None:
    assert fields(a="", b=None, c=0, d=" x ", e=False) == {"c": 0, "d": "x", "e": False}
