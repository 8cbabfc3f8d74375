"""Answer one client's messages in both eras of the protocol, on any transport.

In: messages of the client, answers of a `ToolBackend`. Out: messages, passed to ``send``. Lists are answered from the
generated file; calls go to the backend. Invariant: every request is answered once, except cancelled ones.
"""

from termvisor import __version__
from termvisor.frontends.mcp.answer_pages import AnswerPages
from termvisor.frontends.mcp.messages import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    LEGACY_RESOURCE_NOT_FOUND,
    LEGACY_VERSIONS,
    META,
    METHOD_NOT_FOUND,
    MODERN_VERSION,
    UNSUPPORTED_VERSION,
    McpError,
    McpRequest,
    build_error,
    build_notification,
    build_result,
    is_request_id,
    parse_message,
)
from termvisor.frontends.mcp.tool_answers import (
    build_error_result,
    build_failure_result,
    build_page_result,
    describe_cause,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Protocol

    from termvisor.frontends.mcp.tool_list import ToolList

    OnAnswer = Callable[[dict[str, Any] | None, dict[str, Any] | None], None]

    class ToolBackend(Protocol):
        """Runs calls in the daemon. ``on_answer`` gets the result or the error, once."""

        def call(self, method: str, params: dict[str, Any], on_answer: OnAnswer) -> int: ...

        def cancel(self, call_id: int) -> None: ...

        def watch(self, on_changed: Callable[[list[str] | None], None] | None) -> None:
            """Report changed resources, or None for any of them; with None as argument, stop."""


SERVER_INFO = {"name": "termvisor", "title": "Termvisor", "version": __version__}
CAPABILITIES: "dict[str, Any]" = {"tools": {}, "resources": {"subscribe": True}, "prompts": {}}
PROGRESS_INTERVAL_S = 20.0
LIST_TTL_MS = 300_000
"""How long clients may keep lists: they change only with the version of Termvisor."""


class OpenCall:
    """A request that the backend is working on."""

    __slots__ = ("backend_id", "name", "next_report_at", "request", "started_at")

    def __init__(self, request: McpRequest, name: str, backend_id: int, started_at: float):
        self.request, self.name, self.backend_id, self.started_at = request, name, backend_id, started_at
        self.next_report_at = started_at + PROGRESS_INTERVAL_S


class McpSession:
    """``get_time`` returns monotonic seconds."""

    def __init__(
        self,
        tools: "ToolList",
        backend: "ToolBackend",
        send: "Callable[[dict[str, Any]], None]",
        get_time: "Callable[[], float]",
    ):
        self._tools, self._backend, self._send, self._get_time = tools, backend, send, get_time
        self._pages = AnswerPages()
        self._open_calls: dict[str | int, OpenCall] = {}
        self._listens: dict[str | int, set[str]] = {}
        self._subscribed: set[str] = set()
        shared = {
            "tools/list": self._list_tools,
            "tools/call": self._call_tool,
            "resources/list": self._list_resources,
            "resources/templates/list": self._list_templates,
            "resources/read": self._read_resource,
            "prompts/list": self._list_prompts,
            "prompts/get": self._get_prompt,
        }
        self._modern_methods = {
            **shared,
            "server/discover": self._build_discover_result,
            "subscriptions/listen": self._open_subscription,
        }
        self._legacy_methods = {
            **shared,
            "initialize": self._build_initialize_result,
            "ping": lambda _request: {},
            "resources/subscribe": self._add_subscription,
            "resources/unsubscribe": self._remove_subscription,
        }

    @property
    def has_open_calls(self) -> bool:
        return bool(self._open_calls)

    def handle_line(self, line: bytes) -> None:
        """Handle one line of a client. Never raises."""
        if not line.strip():
            return
        try:
            request = parse_message(line)
        except McpError as error:
            self._reject_line(error)
            return
        if request is not None:
            self.handle_request(request)

    def handle_request(self, request: McpRequest) -> None:
        """Answer a request, now or when the backend has; take note of a notification. Never raises."""
        if request.is_notification:
            if request.method == "notifications/cancelled":
                self._cancel(request.params.get("requestId"))
            return
        try:
            result = self._dispatch(request)
        except McpError as error:
            self._send(build_error(request.id, error))
        except Exception as error:  # a bug here must not end the session
            self._send(build_error(request.id, McpError(INTERNAL_ERROR, f"internal error: {type(error).__name__}")))
        else:
            if result is not None:
                self._send(build_result(request, result, SERVER_INFO))

    def report_progress(self) -> None:
        """Send what is due about calls that take long: clients give up on silent ones."""
        now = self._get_time()
        for call in self._open_calls.values():
            token = call.request.progress_token
            if token is not None and now >= call.next_report_at:
                call.next_report_at += PROGRESS_INTERVAL_S
                seconds = int(now - call.started_at)
                params = {"progressToken": token, "progress": seconds, "message": f"{call.name}: {seconds} s so far"}
                self._send(build_notification("notifications/progress", params))

    def get_delay(self) -> "float | None":
        """Return the seconds until progress is due; None if no call wants it."""
        due = [call.next_report_at for call in self._open_calls.values() if call.request.progress_token is not None]
        return max(0.0, min(due) - self._get_time()) if due else None

    def _reject_line(self, error: McpError) -> None:
        request_id = error.data.get("id") if error.data else None
        error.data = None
        self._send(build_error(request_id if is_request_id(request_id) else None, error))

    def _dispatch(self, request: McpRequest) -> "dict[str, Any] | None":
        """Return the result, or None if it is sent later. Raises McpError."""
        if request.id in self._open_calls or request.id in self._listens:
            raise McpError(INVALID_REQUEST, "a request with this id is still open")
        if request.is_modern:
            _check_modern_meta(request)
        methods = self._modern_methods if request.is_modern else self._legacy_methods
        method = methods.get(request.method)
        if method is None:
            raise McpError(METHOD_NOT_FOUND, f"unknown method {request.method[:80]!r}")
        return method(request)

    def _build_initialize_result(self, request: McpRequest) -> "dict[str, Any]":
        wanted = request.params.get("protocolVersion")
        return {
            "protocolVersion": wanted if wanted in LEGACY_VERSIONS else LEGACY_VERSIONS[0],
            "capabilities": CAPABILITIES,
            "serverInfo": SERVER_INFO,
            "instructions": self._tools.instructions,
        }

    def _build_discover_result(self, request: McpRequest) -> "dict[str, Any]":
        result = {"supportedVersions": [MODERN_VERSION], "capabilities": CAPABILITIES}
        return _mark_cacheable(request, result | {"instructions": self._tools.instructions})

    def _list_tools(self, request: McpRequest) -> "dict[str, Any]":
        return _build_list(request, "tools", self._tools.tools)

    def _list_resources(self, request: McpRequest) -> "dict[str, Any]":
        return _build_list(request, "resources", self._tools.list_resources())

    def _list_templates(self, request: McpRequest) -> "dict[str, Any]":
        return _build_list(request, "resourceTemplates", self._tools.list_templates())

    def _list_prompts(self, request: McpRequest) -> "dict[str, Any]":
        return _build_list(request, "prompts", self._tools.list_prompts())

    def _get_prompt(self, request: McpRequest) -> "dict[str, Any]":
        name, arguments = _read_text(request, "name"), _read_object(request, "arguments")
        try:
            prompt = self._tools.render_prompt(name, {key: str(value) for key, value in arguments.items()})
        except KeyError as error:
            raise McpError(INVALID_PARAMS, f"missing argument {error.args[0]!r}") from error
        if prompt is None:
            raise McpError(INVALID_PARAMS, f"unknown prompt {name[:80]!r}")
        return prompt

    def _call_tool(self, request: McpRequest) -> "dict[str, Any] | None":
        name, arguments = _read_text(request, "name"), dict(_read_object(request, "arguments"))
        if name not in self._tools.names:
            raise McpError(INVALID_PARAMS, f"unknown tool {name[:80]!r}")
        answer_format, cursor = arguments.pop("format", None) or "plain", arguments.pop("cursor", None)
        if answer_format not in ("plain", "json"):
            return build_error_result("invalid_args", "format must be plain or json", "Leave it out for plain text.")
        if cursor:
            page = self._pages.find_page(str(cursor))
            if page is None:
                return build_error_result("invalid_cursor", "this cursor is unknown or too old", "Call without it.")
            return build_page_result(page, answer_format)

        def finish(result: "dict[str, Any] | None", error: "dict[str, Any] | None") -> "dict[str, Any]":
            if result is None:
                return build_failure_result(error or {}, answer_format)
            page = self._pages.cut_answer(result["text"], bool(result.get("is_untrusted")), result.get("note", ""))
            return build_page_result(page, answer_format, is_error=bool(result.get("is_error")))

        call = {"tool": name, "arguments": arguments, "format": answer_format, "cause": describe_cause(request.meta)}
        self._start_call(request, name, call, finish)
        return None

    def _read_resource(self, request: McpRequest) -> None:
        uri = _read_text(request, "uri")
        reader = self._find_reader(request, uri)
        call = {"tool": reader[0], "arguments": reader[1], "format": "data", "cause": describe_cause(request.meta)}

        def finish(result: "dict[str, Any] | None", error: "dict[str, Any] | None") -> "dict[str, Any]":
            if result is None or result.get("is_error"):
                raise McpError(INTERNAL_ERROR, "the resource cannot be read", _describe_failure(result, error))
            contents = [{"uri": uri, "mimeType": "application/json", "text": result["text"]}]
            return _mark_cacheable(request, {"contents": contents}, ttl_ms=0)

        self._start_call(request, uri, call, finish)

    def _find_reader(self, request: McpRequest, uri: str) -> "tuple[str, dict[str, Any]]":
        reader = self._tools.find_reader(uri)
        if reader is None:
            code = INVALID_PARAMS if request.is_modern else LEGACY_RESOURCE_NOT_FOUND
            raise McpError(code, "resource not found", {"uri": uri[:200]})
        return reader

    def _start_call(
        self,
        request: McpRequest,
        name: str,
        call: "dict[str, Any]",
        finish: "Callable[[dict[str, Any] | None, dict[str, Any] | None], dict[str, Any]]",
    ) -> None:
        request_id = request.id
        assert request_id is not None  # noqa: S101 - a notification is never dispatched
        entry = self._open_calls[request_id] = OpenCall(request, name, -1, self._get_time())

        def on_answer(result: "dict[str, Any] | None", error: "dict[str, Any] | None") -> None:
            if self._open_calls.get(request_id) is not entry:
                return  # cancelled
            del self._open_calls[request_id]
            try:
                self._send(build_result(request, finish(result, error), SERVER_INFO))
            except McpError as failure:
                self._send(build_error(request_id, failure))

        entry.backend_id = self._backend.call("call_tool", call, on_answer)

    def _cancel(self, request_id: object) -> None:
        if not isinstance(request_id, str | int):
            return
        if (call := self._open_calls.pop(request_id, None)) is not None:
            self._backend.cancel(call.backend_id)
        if self._listens.pop(request_id, None) is not None:
            self._update_watch()

    def _add_subscription(self, request: McpRequest) -> "dict[str, Any]":
        uri = _read_text(request, "uri")
        self._find_reader(request, uri)
        self._subscribed.add(uri)
        self._update_watch()
        return {}

    def _remove_subscription(self, request: McpRequest) -> "dict[str, Any]":
        self._subscribed.discard(_read_text(request, "uri"))
        self._update_watch()
        return {}

    def _open_subscription(self, request: McpRequest) -> None:
        wanted = _read_object(request, "notifications").get("resourceSubscriptions")
        uris = [uri for uri in wanted if isinstance(uri, str)] if isinstance(wanted, list) else []
        agreed = [uri for uri in uris if self._tools.find_reader(uri) is not None]
        assert request.id is not None  # noqa: S101 - as above
        self._listens[request.id] = set(agreed)
        params = {
            "notifications": {"resourceSubscriptions": agreed} if agreed else {},
            "_meta": {f"{META}subscriptionId": request.id},
        }
        self._send(build_notification("notifications/subscriptions/acknowledged", params))
        self._update_watch()

    def _update_watch(self) -> None:
        is_wanted = bool(self._subscribed) or any(self._listens.values())
        self._backend.watch(self._report_changes if is_wanted else None)

    def _report_changes(self, changed: "list[str] | None") -> None:
        """Report resources that changed; None if that is unknown, because the daemon was away."""
        for uri in _select_changed(self._subscribed, changed):
            self._send(build_notification("notifications/resources/updated", {"uri": uri}))
        for request_id, uris in list(self._listens.items()):
            for uri in _select_changed(uris, changed):
                params = {"uri": uri, "_meta": {f"{META}subscriptionId": request_id}}
                self._send(build_notification("notifications/resources/updated", params))


def _check_modern_meta(request: McpRequest) -> None:
    version = request.meta.get(f"{META}protocolVersion")
    if not isinstance(version, str):
        raise McpError(INVALID_PARAMS, f"_meta needs {META}protocolVersion")
    if version != MODERN_VERSION:
        data = {"supported": [MODERN_VERSION], "requested": version[:80]}
        raise McpError(UNSUPPORTED_VERSION, "unsupported protocol version", data)
    if not isinstance(request.meta.get(f"{META}clientCapabilities"), dict):
        raise McpError(INVALID_PARAMS, f"_meta needs {META}clientCapabilities")


def _build_list(request: McpRequest, name: str, items: "list[dict[str, Any]]") -> "dict[str, Any]":
    if request.params.get("cursor") is not None:
        raise McpError(INVALID_PARAMS, "invalid cursor: this list has one page")
    return _mark_cacheable(request, {name: items})


def _mark_cacheable(request: McpRequest, result: "dict[str, Any]", ttl_ms: int = LIST_TTL_MS) -> "dict[str, Any]":
    return result | ({"ttlMs": ttl_ms, "cacheScope": "private"} if request.is_modern else {})


def _read_text(request: McpRequest, name: str) -> str:
    value = request.params.get(name)
    if not isinstance(value, str):
        raise McpError(INVALID_PARAMS, f"{name} must be a string")
    return value


def _read_object(request: McpRequest, name: str) -> "dict[str, Any]":
    value = request.params.get(name)
    if not isinstance(value, dict | None):
        raise McpError(INVALID_PARAMS, f"{name} must be an object")
    return value or {}


def _describe_failure(result: "dict[str, Any] | None", error: "dict[str, Any] | None") -> "dict[str, Any]":
    return {"answer": result["text"]} if result is not None else error or {}


def _select_changed(uris: "Iterable[str]", changed: "list[str] | None") -> "list[str]":
    return sorted(uri for uri in uris if changed is None or uri.partition("?")[0] in changed)
