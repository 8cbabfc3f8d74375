"""Declare which operations models may call as MCP tools, and derive the list that a bridge offers.

In: the declarations of operations. Out: `build_tool_list`, which is written to `frontends/mcp/tools.json`, so that the
bridge needs none of these imports. A tool has the arguments of its operation that the interface `mcp` shows.
"""

import re
from collections.abc import Iterator
from typing import Any

from termvisor.errors import UnknownCommand
from termvisor.model.action.action import CallerFace
from termvisor.ops.api import catalog
from termvisor.ops.api.arguments import CommandArgument, list_arguments
from termvisor.ops.api.operation import Operation
from termvisor.ops.api.tool_guide import INSTRUCTIONS, PROMPTS, RESOURCE_TEMPLATES, RESOURCES

MODEL_FACE: CallerFace = "mcp"
CORE_TOOLS = {
    "state": "status",
    "panes": "list_panes",
    "get_text": "get_text",
    "get_screen": "get_screen",
    "search": "search_history",
    "wait_for": "wait_for",
    "events": "list_events",
    "explain": "explain",
    "inbox": "inbox",
    "send": "send_text",
    "answer": "answer_dialog",
    "workflow_run": "workflow_run",
}
"""Tool -> operation: what `visor mcp` offers by default."""
MORE_TOOLS = {
    "accounts": "accounts_list",
    "accounts_refresh": "accounts_refresh",
    "rules_list": "rules_list",
    "rules_test": "rules_test",
    "reservations": "list_reservations",
    "reserve": "reserve",
    "release": "release",
    "workflow_list": "workflow_list",
    "workflow_show": "workflow_show",
    "workflow_dry_run": "workflow_dry_run",
    "workflow_status": "workflow_status",
    "workflow_history": "workflow_history",
    "workflow_signal": "workflow_signal",
    "workflow_pause": "workflow_pause",
    "workflow_resume": "workflow_resume",
    "workflow_cancel": "workflow_cancel",
    "run": "run",
    "job_status": "job_status",
    "harvest": "job_harvest",
    "targets": "targets",
    "replay": "replay",
}
"""What `--tools all` adds."""
NAMED_TOOLS = {
    "next": "next",
    "commands": "list_commands",
    "gaps": "list_gaps",
    "windows": "list_windows",
    "sessions": "list_sessions",
    "interrupt": "interrupt",
    "spawn": "spawn",
    "split": "split",
    "notify": "notify",
    "audit": "audit",
    "health": "health",
}
"""What a user may add by name. Approvals, settings, the database and keys are left out: a key may answer a dialog."""
OPERATION_BY_TOOL = {
    tool: name
    for tool, name in (CORE_TOOLS | MORE_TOOLS | NAMED_TOOLS).items()
    # Operations of parts that this version does not have.
    if name in catalog.TOPIC_BY_OPERATION
}
ARGUMENT_ALIASES = {"pane_id": "pane"}
"""Names that other tools use for these arguments."""
NEVER_SHOWN = frozenset({"follow", "unredacted"})
"""Arguments that no tool has: a call has one answer, and secrets never reach a model."""
_JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}
_COMMAND = re.compile(r"`visor ((?:robot )?[a-z][a-z-]*(?: [a-z][a-z-]*)?)([^`]*)`")
_OPTION = re.compile(r"(?<![\w-])--([a-z][a-z-]*)")


def load_tool(tool: str) -> Operation | None:
    """Load the operation of a tool; None if there is no such tool."""
    name = OPERATION_BY_TOOL.get(tool)
    return None if name is None else catalog.load_operation(name)


def list_tool_arguments(op: Operation) -> tuple[CommandArgument, ...]:
    """Return the arguments that a model sees."""
    return tuple(
        argument
        for argument in list_arguments(op.args_type)
        if argument.is_shown_by(MODEL_FACE) and argument.field not in NEVER_SHOWN
    )


def list_required_fields(op: Operation) -> list[str]:
    # On a command line the text may come from a file instead.
    return [
        argument.field
        for argument in list_tool_arguments(op)
        if argument.is_required or (op.accepts_text_input and argument.field == "text")
    ]


def build_tool_list() -> dict[str, Any]:
    """Return what a bridge offers: tools with their sets, resources with the tool that reads each, and prompts."""
    return {
        "instructions": INSTRUCTIONS,
        "tools": [_build_tool(tool) for tool in OPERATION_BY_TOOL],
        "resources": list(RESOURCES),
        "resource_templates": list(RESOURCE_TEMPLATES),
        "prompts": list(PROMPTS),
    }


def _build_tool(tool: str) -> dict[str, Any]:
    op = catalog.load_operation(OPERATION_BY_TOOL[tool])
    return {
        "sets": list(_list_sets(tool, op)),
        "definition": {
            "name": tool,
            "description": name_tools(op, op.summary),
            "inputSchema": build_tool_schema(op),
            "annotations": _build_annotations(op),
        },
    }


def _list_sets(tool: str, op: Operation) -> Iterator[str]:
    if tool in CORE_TOOLS:
        yield "core"
        if op.effect != "change":
            yield "read"
    if tool not in NAMED_TOOLS:
        yield "all"


def _build_annotations(op: Operation) -> dict[str, bool]:
    if op.effect != "change":
        return {"readOnlyHint": True, "openWorldHint": False}
    # What is typed into a program may do anything.
    return {"readOnlyHint": False, "destructiveHint": op.build_request is not None, "openWorldHint": False}


def build_tool_schema(op: Operation) -> dict[str, Any]:
    """Return a short JSON Schema: models pay for every word of it, and the daemon checks ranges and defaults."""
    arguments = list_tool_arguments(op)
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {argument.field: _build_property(op, argument) for argument in arguments}
        | {"format": {"type": "string", "enum": ["plain", "json"]}, "cursor": {"type": "string"}},
    }
    required = list_required_fields(op)
    return schema | ({"required": required} if required else {})


def _build_property(op: Operation, argument: CommandArgument) -> dict[str, Any]:
    choices = {"enum": list(argument.choices)} if argument.choices else {}
    item: dict[str, Any] = {"type": _JSON_TYPES[argument.type]} | choices
    described = {"type": "array", "items": item} if argument.is_repeated else item
    return described | ({"description": text} if (text := name_tools(op, argument.form_doc)) else {})


def name_tools(op: Operation, text: str) -> str:
    """Return a text about an operation in the words of a tool call: tools and arguments, not commands and options."""
    fields = {argument.field for argument in list_tool_arguments(op)}

    def name_argument(match: re.Match[str]) -> str:
        field = match[1].replace("-", "_")
        return field if field in fields else match[0]

    return _OPTION.sub(name_argument, _COMMAND.sub(_name_tool, text))


def _name_tool(match: re.Match[str]) -> str:
    """Return the tool for a command of a text, unless a person must run it."""
    words = match[1].removeprefix("robot ").split()
    try:
        op, _ = catalog.find_operation(words, is_robot=True)
    except UnknownCommand:
        return match[0]
    tool = next((tool for tool, name in OPERATION_BY_TOOL.items() if name == op.name), None)
    return match[0] if tool is None or op.name in catalog.OPERATIONS_FOR_PEOPLE else f"`{tool}`"
