"""Load the generated list of tools, resources and prompts, and choose the tools that a client may see."""

import os

from termvisor.frontends.mcp.json_codec import decode_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

LIST_PATH = os.path.join(os.path.dirname(__file__), "tools.json")
TOOL_SETS = ("core", "read", "all")


class UnknownToolName(ValueError):
    """A word of `--tools` is neither a set nor a tool."""


class ToolList:
    """What one client is offered. ``tools`` are complete definitions in the order of the file."""

    def __init__(self, listed: "dict[str, Any]", words: "Iterable[str]" = ("core",)):
        chosen = set(words)
        entries = listed["tools"]
        known = {entry["definition"]["name"] for entry in entries}
        if unknown := sorted(chosen - known - set(TOOL_SETS)):
            raise UnknownToolName(f"unknown tool {unknown[0]!r}; known: {', '.join((*TOOL_SETS, *sorted(known)))}")
        self.tools = [
            entry["definition"]
            for entry in entries
            if entry["definition"]["name"] in chosen or chosen.intersection(entry["sets"])
        ]
        self.names = {tool["name"] for tool in self.tools}
        self.instructions: str = listed["instructions"]
        self.prompts = listed["prompts"]
        self._resources, self._templates = listed["resources"], listed["resource_templates"]

    def list_resources(self) -> "list[dict[str, Any]]":
        return [_strip_tool(resource) | {"mimeType": "application/json"} for resource in self._resources]

    def list_templates(self) -> "list[dict[str, Any]]":
        return [_strip_tool(template) | {"mimeType": "application/json"} for template in self._templates]

    def find_reader(self, uri: str) -> "tuple[str, dict[str, Any]] | None":
        """Return the tool that reads a resource and its arguments; None if there is no such resource."""
        base, _, query = uri.partition("?")
        arguments: dict[str, Any] = dict(_parse_query(query))
        for resource in self._resources:
            if resource["uri"] == base:
                return resource["tool"], arguments
        for template in self._templates:
            before, _, after = template["uriTemplate"].partition("{id}")
            pane = base.removeprefix(before).removesuffix(after)
            if base == before + pane + after and pane and "/" not in pane:
                return template["tool"], {"pane": _unquote(pane), **arguments}
        return None

    def render_prompt(self, name: str, arguments: "dict[str, str]") -> "dict[str, Any] | None":
        """Return the result of `prompts/get`; None if there is no such prompt. Raises KeyError for an argument."""
        prompt = next((prompt for prompt in self.prompts if prompt["name"] == name), None)
        if prompt is None:
            return None
        text = prompt["text"]
        for argument in prompt["arguments"]:
            # Only a reference, so that a value cannot continue the instructions.
            value = "".join(sign for sign in arguments[argument["name"]][:80] if sign.isalnum() or sign in "%:./_-@$")
            text = text.replace(f"{{{argument['name']}}}", value)
        message = {"role": "user", "content": {"type": "text", "text": text}}
        return {"description": prompt["description"], "messages": [message]}

    def list_prompts(self) -> "list[dict[str, Any]]":
        return [{name: value for name, value in prompt.items() if name != "text"} for prompt in self.prompts]


def load_tool_list(words: "Iterable[str]" = ("core",)) -> ToolList:
    with open(LIST_PATH, "rb") as file:
        return ToolList(decode_json(file.read()), words)


def _strip_tool(resource: "dict[str, Any]") -> "dict[str, Any]":
    return {name: value for name, value in resource.items() if name != "tool"}


def _parse_query(query: str) -> "Iterable[tuple[str, str]]":
    for part in query.split("&"):
        name, sign, value = part.partition("=")
        if sign:
            yield _unquote(name), _unquote(value.replace("+", " "))


def _unquote(text: str) -> str:
    """Decode percent escapes; importing urllib would cost more than the rest of the bridge."""
    head, *parts = text.split("%")
    data = head.encode("utf-8", "replace")
    for part in parts:
        try:
            data += bytes.fromhex(part[:2]) + part[2:].encode("utf-8", "replace")
        except ValueError:  # a lone percent sign
            data += b"%" + part.encode("utf-8", "replace")
    return data.decode("utf-8", "replace")
