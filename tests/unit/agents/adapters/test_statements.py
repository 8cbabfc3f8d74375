"""The frame around what agents say."""

import json

import pytest

from termvisor.agents.adapters.adapter import Record
from termvisor.agents.adapters.statements import (
    TEXT_LIMIT,
    Said,
    framed,
    heard,
    hook_of,
    not_understood,
    payload,
    shown,
    signals,
    subtask,
)
from termvisor.model.agent.evidence_source import LOOKS, OSC, told
from termvisor.model.agent.signal import Hint
from tests.unit.agents.adapters.saying import NOW

HOOK = told("hook", 1)
RECORD = Record(source="hook", text="", at=NOW, event_id="0@9", seq=9, life=2)


def test_a_signal_carries_its_record():
    (one,) = signals("gemini", HOOK, RECORD, [Said(state="running", session="s", at=NOW - 5)])
    assert (one.agent, one.source, one.tier, one.session) == ("gemini", "hook", "deterministic", "s")
    assert (one.source_seq, one.source_life, one.event_at, one.ingested_at) == (9, 2, NOW - 5, NOW)
    assert one.moved_at is None


def test_what_a_pane_shows_is_a_look_and_proves_that_it_moved():
    (one,) = signals("gemini", LOOKS[1], Record(source="title", text="", at=NOW), [Said(state="running")])
    assert (one.tier, one.moved_at) == ("heuristic", NOW)


def test_two_things_that_one_record_says_are_two_pieces_of_evidence():
    said = [Said(state="idle"), Said(kind="note"), Said(kind="task_began", task="a"), Said(kind="task_began", task="b")]
    assert [one.dedupe_key for one in signals("opencode", HOOK, RECORD, said)] == ["0@9/0", "0@9/1", "0@9/2", "0@9/3"]


def test_what_is_not_understood_is_unknown_with_its_reason():
    said = not_understood("x" * 5000)
    assert (said.state, said.reason, len(str(said.payload["said"]))) == ("unknown", "unsupported_signal", 2000)


def test_a_line_of_the_spool_tells_the_event_its_time_and_its_payload():
    line = {"event": "Stop", "at": 1_794_802_560_123, "payload": {"a": 1}}
    hook = hook_of(Record(source="hook", text=json.dumps(line), at=NOW))
    assert hook is not None
    assert (hook.event, hook.at, hook.payload) == ("Stop", 1_794_802_560_123_000_000, {"a": 1})


@pytest.mark.parametrize("line", ["", "{", "[1]", "null", '{"event": 1}', '{"at": 1}', "[" * 5000])
def test_what_no_hook_wrote_is_none(line):
    assert hook_of(Record(source="hook", text=line, at=NOW)) is None


def test_secrets_are_no_payload():
    assert payload(command="export API_KEY=sk-ant-api03-" + "a" * 80, empty="", none=None, zero=0)["zero"] == 0
    assert "a" * 80 not in str(payload(command="export API_KEY=sk-ant-api03-" + "a" * 80))


def test_its_own_time_name_and_process_stand_before_the_records():
    (one,) = signals(
        "gemini", HOOK, RECORD, framed([Said(state="idle")], at=5, key="u1", session="s", hint=Hint(pid=4))
    )
    assert (one.event_at, one.ingested_at, one.dedupe_key, one.session) == (5, NOW, "u1/0", "s")
    assert one.hint == Hint(pid=4)


def test_a_record_without_an_id_is_known_by_its_time_and_text():
    def key(words: str) -> str:
        return signals("codex", OSC, Record(source="osc", text=words, at=NOW), [Said(state="idle")])[0].dedupe_key

    assert key("state=idle") == key("state=idle") != key("state=done")


def test_payloads_leave_out_what_is_empty_and_what_is_secret():
    token = "ghp_" + "a1B2" * 9
    told = payload(message=f" take {token} ", tool="", total=0, cost=None, is_new=False)
    assert set(told) == {"message", "total", "is_new"}
    assert token not in told["message"]
    assert told["message"].startswith("take ")


def test_texts_are_bounded():
    assert len(shown("words" * TEXT_LIMIT)) == TEXT_LIMIT


def test_an_event_says_what_its_table_says_within_the_frame_of_its_agent():
    line = {"event": "Stop", "at": 1_794_802_560_123, "payload": {"id": "s", "n": 1}}
    record = Record(source="hook", text=json.dumps(line), at=NOW)
    table = {"Stop": lambda told, now: Said(state="completed", payload={"n": told["n"]})}

    def frame(told):
        return Said(session=told["id"], payload={"model": "m", "n": 0})

    (said,) = heard(record, lambda hook: table.get(hook.event), frame)
    assert (said.state, said.session, said.at) == ("completed", "s", 1_794_802_560_123_000_000)
    assert said.payload == {"event": "Stop", "model": "m", "n": 1}
    assert heard(record, lambda hook: None, frame) == []
    assert heard(Record(source="hook", text="{", at=NOW), lambda hook: None, frame)[0].state == "unknown"


def test_a_sub_task_without_a_name_is_none():
    began = subtask("task_began", "id")
    assert began({"id": "a"}, NOW) == Said(kind="task_began", task="a")
    assert began({}, NOW) is None
