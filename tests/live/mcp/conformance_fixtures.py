"""What the conformance suite asks a server to offer, on the session of the bridge."""

import base64
import hashlib
import hmac
import json
import os
import time
from collections.abc import Callable
from typing import Any

from termvisor.frontends.mcp.messages import INVALID_PARAMS, META, McpError, McpRequest, build_notification
from termvisor.frontends.mcp.session import McpSession, _mark_cacheable

Json = dict[str, Any]
_SECRET = os.urandom(16)
_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
_SILENCE = base64.b64encode(b"RIFF$\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0D\xac\0\0\x88X\1\0\2\0\x10\0data\0\0\0\0").decode()
_NAME_SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def _text(text: str) -> Json:
    return {"type": "text", "text": text}


def _image() -> Json:
    return {"type": "image", "data": _PIXEL, "mimeType": "image/png"}


def _embedded(uri: str = "test://embedded-resource") -> Json:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": "text/plain", "text": "An embedded resource."}}


CONTENTS: dict[str, list[Json]] = {
    "test_simple_text": [_text("This is a simple text response for testing.")],
    "test_image_content": [_image()],
    "test_audio_content": [{"type": "audio", "data": _SILENCE, "mimeType": "audio/wav"}],
    "test_embedded_resource": [_embedded()],
    "test_multiple_content_types": [_text("Multiple content types test:"), _image(), _embedded()],
}


def _elicit(message: str, schema: Json) -> Json:
    return {"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}}


def _sample(text: str, tokens: int) -> Json:
    messages = [{"role": "user", "content": _text(text)}]
    return {"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": tokens}}


_ASK_NAME = {"user_name": _elicit("What is your name?", _NAME_SCHEMA)}
_ROOTS = {"client_roots": {"method": "roots/list", "params": {}}}
_CONFIRM = {
    "confirm": _elicit(
        "Please confirm", {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
    )
}
INPUTS: dict[str, Json] = {
    "test_input_required_result_elicitation": _ASK_NAME,
    "test_input_required_result_sampling": {"capital_question": _sample("What is the capital of France?", 100)},
    "test_input_required_result_list_roots": _ROOTS,
    "test_input_required_result_request_state": _CONFIRM,
    "test_input_required_result_tampered_state": _CONFIRM,
    "test_input_required_result_multiple_inputs": _ASK_NAME | {"greeting": _sample("Generate a greeting", 50)} | _ROOTS,
}
WITH_STATE = ("request_state", "tampered_state", "multiple_inputs", "multi_round")
DEFAULTS_SCHEMA: Json = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    },
}
_TITLED = [{"const": f"value{number}", "title": f"Option {number}"} for number in (1, 2, 3)]
_PLAIN = ["option1", "option2", "option3"]
ENUMS_SCHEMA: Json = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": _PLAIN},
        "titledSingle": {"type": "string", "oneOf": _TITLED},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["Option One", "Option Two"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": _PLAIN}},
        "titledMulti": {"type": "array", "items": {"anyOf": _TITLED}},
    },
}
_USER_SCHEMA: Json = {
    "type": "object",
    "properties": {"username": {"type": "string"}, "email": {"type": "string"}},
    "required": ["username", "email"],
}
OTHER_TOOLS = (
    *("test_error_handling", "test_tool_with_progress", "test_tool_with_logging", "test_sampling", "test_elicitation"),
    *("test_elicitation_sep1034_defaults", "test_elicitation_sep1330_enums", "test_missing_capability"),
    *("test_input_required_result_multi_round", "test_input_required_result_capabilities"),
    *("test_streaming_elicitation", "test_logging_tool"),
)
_REQUIRED = {"test_sampling": "prompt", "test_elicitation": "message"}
_PROMPT_ARGUMENTS = {
    "test_simple_prompt": (),
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
    "test_input_required_result_prompt": (),
}


class FixtureList:
    """The lists of the suite, in place of those of the bridge."""

    instructions = "Fixtures of the conformance suite."

    def __init__(self) -> None:
        names = (*CONTENTS, *INPUTS, *OTHER_TOOLS)
        self.tools = [self._build_tool(name) for name in names]
        self.names = set(names)

    def _build_tool(self, name: str) -> Json:
        schema: Json = {"type": "object", "properties": {}}
        if field := _REQUIRED.get(name):
            schema = {"type": "object", "properties": {field: {"type": "string"}}, "required": [field]}
        return {"name": name, "description": f"Fixture {name}.", "inputSchema": schema}

    def list_resources(self) -> list[Json]:
        return [
            {"uri": "test://static-text", "name": "Static text", "description": "Text.", "mimeType": "text/plain"},
            {
                "uri": "test://static-binary",
                "name": "Static binary",
                "description": "A pixel.",
                "mimeType": "image/png",
            },
            {"uri": "test://watched-resource", "name": "Watched", "description": "Text.", "mimeType": "text/plain"},
        ]

    def list_templates(self) -> list[Json]:
        template = {"uriTemplate": "test://template/{id}/data", "name": "Template", "mimeType": "application/json"}
        return [template | {"description": "Data by id."}]

    def list_prompts(self) -> list[Json]:
        return [
            {
                "name": name,
                "description": f"Fixture {name}.",
                "arguments": [{"name": one, "description": one, "required": True} for one in arguments],
            }
            for name, arguments in _PROMPT_ARGUMENTS.items()
        ]

    def find_reader(self, uri: str) -> tuple[str, Json] | None:
        is_known = uri in {resource["uri"] for resource in self.list_resources()} or uri.startswith("test://template/")
        return ("resource", {}) if is_known else None


class FixtureSession(McpSession):
    """``ask_client`` sends a request to an older client and returns its result."""

    def __init__(self, send: Callable[[Json], None], ask_client: Callable[[Json], Json]):
        super().__init__(FixtureList(), _NoBackend(), send, time.monotonic)  # type: ignore[arg-type]
        self._ask_client = ask_client
        self._legacy_methods |= {"completion/complete": self._complete, "logging/setLevel": lambda _request: {}}
        self._modern_methods |= {"completion/complete": self._complete}

    def _build_initialize_result(self, request: McpRequest) -> Json:
        return _add_capabilities(super()._build_initialize_result(request))

    def _build_discover_result(self, request: McpRequest) -> Json:
        return _add_capabilities(super()._build_discover_result(request))

    def _complete(self, _request: McpRequest) -> Json:
        return {"completion": {"values": [], "total": 0, "hasMore": False}}

    def _read_resource(self, request: McpRequest) -> Json:  # type: ignore[override]
        uri = str(request.params.get("uri"))
        self._find_reader(request, uri)
        text = json.dumps({"id": uri.split("/")[3], "data": uri}) if "template" in uri else "This is static text."
        content = {"uri": uri, "mimeType": "text/plain", "text": text}
        if uri == "test://static-binary":
            content = {"uri": uri, "mimeType": "image/png", "blob": _PIXEL}
        return _mark_cacheable(request, {"contents": [content]}, ttl_ms=0)

    def _get_prompt(self, request: McpRequest) -> Json:
        name, given = str(request.params.get("name")), request.params.get("arguments") or {}
        if name not in _PROMPT_ARGUMENTS:
            raise McpError(INVALID_PARAMS, "unknown prompt")
        if missing := [one for one in _PROMPT_ARGUMENTS[name] if one not in given]:
            raise McpError(INVALID_PARAMS, f"missing argument {missing[0]}")
        if name == "test_input_required_result_prompt" and "user_context" not in _list_answers(request):
            schema = {"type": "object", "properties": {"context": {"type": "string"}}, "required": ["context"]}
            return _require_input({"user_context": _elicit("What context should the prompt use?", schema)})
        content = {
            "test_prompt_with_arguments": _text(f"arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'"),
            "test_prompt_with_image": _image(),
            "test_prompt_with_embedded_resource": _embedded(str(given.get("resourceUri"))),
        }.get(name, _text("This is a simple prompt for testing."))
        return {"messages": [{"role": "user", "content": content}]}

    def _call_tool(self, request: McpRequest) -> Json:
        name = str(request.params.get("name"))
        if name not in self._tools.names:
            raise McpError(INVALID_PARAMS, "unknown tool")
        if name in CONTENTS:
            return {"content": CONTENTS[name]}
        if name.startswith("test_input_required_result"):
            return self._require_inputs(request, name)
        return self._run_other_tool(request, name, request.params.get("arguments") or {})

    def _require_inputs(self, request: McpRequest, name: str) -> Json:
        state = _check_state(request)
        answers = _list_answers(request)
        if name.endswith("_capabilities"):
            declared = request.meta.get(f"{META}clientCapabilities", {})
            wanted = {"ask": _sample("Hello?", 10)} if "sampling" in declared else {}
            wanted |= _ASK_NAME if "elicitation" in declared else {}
            return _require_input(wanted) if wanted else {"content": [_text("nothing to ask")]}
        if name.endswith("_multi_round"):
            return self._require_rounds(state, answers)
        wanted = INPUTS[name]
        if wanted.keys() <= answers.keys():
            return {"content": [_text(f"state-ok {json.dumps(answers)}")]}
        return _require_input(wanted, name if name.endswith(WITH_STATE) else "")

    def _require_rounds(self, state: str, answers: Json) -> Json:
        if "step2" in answers and state == "two":
            return {"content": [_text("all rounds done")]}
        if "step1" in answers and state == "one":
            schema = {"type": "object", "properties": {"color": {"type": "string"}}, "required": ["color"]}
            return _require_input({"step2": _elicit("Step 2: What is your favorite color?", schema)}, "two")
        return _require_input({"step1": _elicit("Step 1: What is your name?", _NAME_SCHEMA)}, "one")

    def _run_other_tool(self, request: McpRequest, name: str, given: Json) -> Json:
        if name == "test_error_handling":
            text = "This tool intentionally returns an error for testing"
            return {"content": [_text(text)], "isError": True}
        if name == "test_missing_capability":
            needed = {"sampling": {}}
            if "sampling" not in request.meta.get(f"{META}clientCapabilities", {}):
                raise McpError(-32021, "the client lacks a capability", {"requiredCapabilities": needed})
            return {"content": [_text("fine")]}
        if name == "test_tool_with_progress" and request.progress_token is not None:
            for progress in (0, 50, 100):
                params = {"progressToken": request.progress_token, "progress": progress, "total": 100}
                self._send(build_notification("notifications/progress", params))
        if name in ("test_tool_with_logging", "test_logging_tool") and self._may_log(request):
            for text in ("Tool execution started", "Tool processing data", "Tool execution completed"):
                self._send(build_notification("notifications/message", {"level": "info", "data": text}))
                time.sleep(0.05)
        schemas = {
            "test_elicitation": (given.get("message"), _USER_SCHEMA),
            "test_elicitation_sep1034_defaults": ("Defaults?", DEFAULTS_SCHEMA),
            "test_elicitation_sep1330_enums": ("Choices?", ENUMS_SCHEMA),
        }
        if name in schemas:
            answer = self._ask_client(_elicit(str(schemas[name][0]), schemas[name][1]))
            return {"content": [_text(f"Elicitation completed: action={answer.get('action')}, content={answer}")]}
        if name == "test_sampling":
            answer = self._ask_client(_sample(str(given.get("prompt")), 100))
            return {"content": [_text(f"LLM response: {answer.get('content')}")]}
        return {"content": [_text("done")]}

    def _may_log(self, request: McpRequest) -> bool:
        return not request.is_modern or f"{META}logLevel" in request.meta


class _NoBackend:
    def watch(self, _on_changed: object) -> None:
        """Change nothing: the fixtures never change."""


def _add_capabilities(result: Json) -> Json:
    return result | {"capabilities": result["capabilities"] | {"completions": {}, "logging": {}}}


def _require_input(wanted: Json, state: str = "") -> Json:
    signed = {"requestState": _sign(state)} if state else {}
    return {"resultType": "input_required", "inputRequests": wanted, **signed}


def _list_answers(request: McpRequest) -> Json:
    answers = request.params.get("inputResponses")
    return (
        {key: value for key, value in answers.items() if isinstance(value, dict)} if isinstance(answers, dict) else {}
    )


def _sign(state: str) -> str:
    mac = hmac.new(_SECRET, state.encode(), hashlib.sha256).hexdigest()
    return base64.b64encode(f"{mac} {state}".encode()).decode()


def _check_state(request: McpRequest) -> str:
    """Return the state that a client brings back; empty without one. Raises McpError if it was changed."""
    given = request.params.get("requestState")
    if given is None:
        return ""
    try:
        mac, _, state = base64.b64decode(str(given), validate=True).decode().partition(" ")
    except ValueError:
        mac, state = "", ""
    if not hmac.compare_digest(mac, hmac.new(_SECRET, state.encode(), hashlib.sha256).hexdigest()):
        raise McpError(INVALID_PARAMS, "requestState was changed")
    return state
