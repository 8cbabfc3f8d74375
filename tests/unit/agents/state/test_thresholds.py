"""Source declarations by agent."""

from tests.builtin_thresholds import DEFAULT_THRESHOLDS


def test_an_agent_without_an_entry_has_the_default_sources() -> None:
    server = DEFAULT_THRESHOLDS.find_source("brand_new_agent", "server")
    assert server is not None
    assert (server.tier, server.rank) == ("deterministic", 1)


def test_an_agent_with_an_entry_has_only_its_own_sources() -> None:
    assert DEFAULT_THRESHOLDS.find_source("claude_code", "server") is None
    assert DEFAULT_THRESHOLDS.find_source("claude_code", "registry") is not None
