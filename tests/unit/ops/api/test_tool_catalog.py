"""The tools that models see: what they cost, and that no word of the command line is among them."""

import json
import re

import pytest

from termvisor.errors import BadRequest
from termvisor.ops.api import catalog
from termvisor.ops.api.tool_catalog import (
    CORE_TOOLS,
    MORE_TOOLS,
    NAMED_TOOLS,
    OPERATION_BY_TOOL,
    build_tool_list,
    list_tool_arguments,
    name_tools,
)

LISTED = build_tool_list()
DEFINITIONS = {entry["definition"]["name"]: entry["definition"] for entry in LISTED["tools"]}
NOT_YET = {"targets"}
"""Tools of the contract whose operations do not exist yet."""


def _count_bytes(tools: list[str]) -> int:
    return len(json.dumps([DEFINITIONS[tool] for tool in tools], separators=(",", ":")))


def test_the_core_tools_cost_at_most_3500_tokens() -> None:
    assert _count_bytes(list(CORE_TOOLS)) <= 3500 * 4


def test_all_tools_cost_at_most_7000_tokens() -> None:
    everything = [tool for tool in OPERATION_BY_TOOL if tool not in NAMED_TOOLS]
    assert _count_bytes(everything) <= 7000 * 4


def test_every_tool_of_the_contract_has_its_operation() -> None:
    declared = CORE_TOOLS | MORE_TOOLS | NAMED_TOOLS
    assert {tool for tool in declared if tool not in OPERATION_BY_TOOL} <= NOT_YET


@pytest.mark.parametrize("tool", DEFINITIONS)
def test_a_schema_has_no_word_of_the_command_line(tool: str) -> None:
    text = json.dumps(DEFINITIONS[tool])
    assert not re.search(r"(?<![\w-])--[a-z]|`visor |\bstdin\b|terminal only", text), text
    fields = set(DEFINITIONS[tool]["inputSchema"]["properties"])
    assert not fields & {"yes", "yes_for_session", "stdin", "file", "override_reservation", "force_stale"}
    assert not fields & {"follow", "unredacted"}


@pytest.mark.parametrize("tool", DEFINITIONS)
def test_every_property_is_described_and_typed(tool: str) -> None:
    schema = DEFINITIONS[tool]["inputSchema"]
    own = {name: value for name, value in schema["properties"].items() if name not in ("format", "cursor")}
    assert all(value.get("description") and value["type"] in TYPES for value in own.values())
    assert set(schema.get("required", ())) <= set(own)


TYPES = ("string", "integer", "number", "boolean", "array")


def test_no_operation_has_an_argument_that_the_bridge_takes_for_its_own() -> None:
    names = {
        argument.field
        for name in OPERATION_BY_TOOL.values()
        for argument in list_tool_arguments(catalog.load_operation(name))
    }
    assert not names & {"format", "cursor"}


def test_annotations_follow_from_the_effect() -> None:
    assert DEFINITIONS["get_text"]["annotations"] == {"readOnlyHint": True, "openWorldHint": False}
    sends, reserves = DEFINITIONS["send"]["annotations"], DEFINITIONS["reserve"]["annotations"]
    assert (sends["readOnlyHint"], sends["destructiveHint"]) == (False, True)
    assert reserves["readOnlyHint"] is False


def test_the_defaults_are_those_of_the_contract() -> None:
    wanted = {
        ("get_text", "tail"): 50,
        ("wait_for", "tail"): 200,
        ("wait_for", "timeout_secs"): 30.0,
        ("search", "limit"): 20,
        ("events", "limit"): 20,
        ("send", "timeout_secs"): 30.0,
        ("send", "dry_run"): False,
        ("send", "wait_for_regex"): False,
        ("events", "would_handle"): False,
        ("events", "dry_run"): False,
        ("workflow_run", "force"): False,
    }
    defaults = {
        (tool, argument.field): argument.default
        for tool, name in OPERATION_BY_TOOL.items()
        for argument in list_tool_arguments(catalog.load_operation(name))
    }
    assert {key: defaults[key] for key in wanted} == wanted
    assert "ttl_secs" in DEFINITIONS["reserve"]["inputSchema"]["properties"]


def test_texts_name_tools_and_arguments() -> None:
    op = catalog.load_operation("send_text")
    text = "`visor wait-for <pane> --state idle`, --wait-for; `visor approve 3`, --unknown and a--b"
    assert name_tools(op, text) == "`wait_for`, wait_for; `visor approve 3`, --unknown and a--b"
    assert name_tools(op, "`visor robot state` or `visor up`") == "`panes` or `visor up`"
    assert BadRequest.hint in name_tools(op, BadRequest.hint)


def test_prompts_and_resources_name_tools_that_exist() -> None:
    readers = [one["tool"] for one in (*LISTED["resources"], *LISTED["resource_templates"])]
    words = [word for prompt in LISTED["prompts"] for word in re.findall(r"`(\w+)`", prompt["text"])]
    assert set(readers) | set(words) <= set(DEFINITIONS)
    assert len(LISTED["instructions"]) <= 500
