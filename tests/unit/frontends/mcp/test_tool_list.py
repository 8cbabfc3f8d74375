"""Choosing tools by sets and names."""

import pytest

from termvisor.frontends.mcp.tool_list import UnknownToolName, load_tool_list

READING = ["state", "panes", "get_text", "get_screen", "search", "wait_for", "events", "explain", "inbox"]
CORE = [*READING, "send", "answer", "workflow_run"]


def test_the_default_are_the_twelve_core_tools() -> None:
    assert [tool["name"] for tool in load_tool_list().tools] == CORE


def test_read_has_no_tool_that_changes_anything() -> None:
    tools = load_tool_list(("read",)).tools
    assert all(tool["annotations"]["readOnlyHint"] for tool in tools)
    assert [tool["name"] for tool in tools] == READING


def test_all_adds_those_of_the_contract_and_none_that_approves_or_configures() -> None:
    names = load_tool_list(("all",)).names
    wanted = {
        "accounts",
        "accounts_refresh",
        "rules_list",
        "rules_test",
        "reservations",
        "reserve",
        "release",
        "replay",
    }
    assert wanted | set(CORE) <= names
    every = {name for words in (("all",), ("audit", "spawn")) for name in load_tool_list(words).names}
    assert not {"approve", "deny", "kill", "send_keys", "config_set", "db_prune"} & every


def test_sets_and_names_can_be_mixed() -> None:
    chosen = load_tool_list(("read", "reserve", "interrupt"))
    assert chosen.names == {*READING, "reserve", "interrupt"}
    with pytest.raises(UnknownToolName, match="unknown tool 'approve'"):
        load_tool_list(("core", "approve"))


@pytest.mark.parametrize(
    ("uri", "found"),
    [
        ("visor://rules?pack=core.shell", ("rules_list", {"pack": "core.shell"})),
        ("visor://workflows", ("workflow_list", {})),
        ("visor://pane/%251/text?tail=5", ("get_text", {"pane": "%1", "tail": "5"})),
        ("visor://pane/1%zz/explain", ("explain", {"pane": "1%zz"})),
        ("visor://pane/a/b/screen", None),
        ("visor://pane//screen", None),
        ("visor://panes/1", None),
        ("file:///etc/passwd", None),
    ],
)
def test_a_resource_is_read_by_its_tool(uri: str, found: object) -> None:
    assert load_tool_list().find_reader(uri) == found
