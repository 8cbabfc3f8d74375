from termvisor.agents.adapters.codex import ADAPTER
from tests.unit.agents.adapters.codex.codex_records import read_one_signal, read_signals


def test_a_title_that_requests_action_is_reported():
    for words in ("[ ! ] Action Required | src", "[ . ] Action Required | src"):
        signal = read_one_signal("title", words)
        assert (signal.state, signal.title, signal.tier) == ("waiting_approval", "src", "heuristic")


def test_any_other_title_is_only_a_name():
    for words in ("⠋ src", "src"):
        signal = read_one_signal("title", words)
        assert (signal.state, signal.reason, signal.title) == ("unknown", "no_signal", "src")
    assert read_signals("title", "") == []


def test_only_a_call_or_its_name_is_a_sign_of_codex():
    assert ADAPTER.matches_title("[ ! ] Action Required | src")
    assert ADAPTER.matches_title("codex")
    assert not ADAPTER.matches_title("⠋ src")
    assert not ADAPTER.matches_title("my-codex-notes.md")


def test_a_source_that_is_not_ours_says_nothing():
    assert read_signals("registry", "{}") == []
