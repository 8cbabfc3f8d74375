"""The Claude Code adapter as a whole: contract and declared sources."""

import pytest

from termvisor.agents.adapters.adapter import Adapter, SourceRecord, is_supported_contract
from termvisor.agents.adapters.claude_code import ADAPTER
from termvisor.agents.state.signal_filter import find_rejection_reason
from tests.builtin_thresholds import DEFAULT_THRESHOLDS
from tests.unit.agents.adapters.claude_code.claude_inputs import NOW, SESSION, read_source_record

DEEP = '{"event":"Stop","type":"user","pid":1,"message":{"content":' + "[" * 100_000
GARBAGE = ("{", "[]", "null", '"x"', '{"pid":"one"}', '{"event":5}', '{"type":[]}', "\x00", "🙃" * 2000, DEEP)


def test_it_is_an_adapter_of_this_contract() -> None:
    adapter: Adapter = ADAPTER
    assert adapter.name == "claude_code"
    assert is_supported_contract(adapter.contract_version)


@pytest.mark.parametrize("source", ["registry", "hook", "transcript", "osc", "title"])
@pytest.mark.parametrize("text", GARBAGE, ids=range(len(GARBAGE)))
def test_whatever_stands_there_is_read_without_harm_and_could_be_stored(source: str, text: str) -> None:
    said = read_source_record(source, text)
    assert [find_rejection_reason(signal, DEFAULT_THRESHOLDS) for signal in said] == [None] * len(said)
    assert {signal.state for signal in said} <= {None, "unknown"}


def test_a_source_that_is_not_read_says_nothing() -> None:
    assert ADAPTER.read_record(SourceRecord(source="bell", text="", at=NOW)) == ()


def test_a_session_is_resumed_by_its_id_and_by_nothing_else() -> None:
    assert ADAPTER.build_resume_command(SESSION) == ("claude", "--resume", SESSION)
    assert ADAPTER.build_resume_command("--dangerously-skip-permissions") == ()
    assert ADAPTER.build_resume_command("") == ()
