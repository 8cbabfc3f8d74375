"""An identity provider on loopback that logs Codex in by a device code. Nothing leaves the machine."""

import base64
import contextlib
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DEVICE_CODE = "WXYZ-12345"
REFRESH_TOKEN = "sk-proj-" + "neverstored" * 4
"""The result of the login: a secret that must not be stored in the database."""


_ACCOUNT: dict[str, Any] = {
    "id": "one",
    "name": "Mine",
    "can_access_with_session": True,
    "sso_connection_name": None,
    "is_deactivated": False,
    "is_fedramp_compliant_workspace": False,
    "plan_type": "plus",
    "workspace_backend_origin": "https://localhost:9",
    "account_routing_override": "us",
    "profile_picture_url": None,
    "structure": "personal",
}


class IdentityProvider:
    def __init__(self, address: str):
        self.address = address
        self.code_entered = threading.Event()
        """Set when the user has entered the code."""
        self.requested_paths: list[str] = []

    def answer(self, path: str) -> tuple[int, dict[str, Any]]:
        self.requested_paths.append(path)
        if path.endswith("/deviceauth/usercode"):
            return 200, {"device_auth_id": "device-1", "user_code": DEVICE_CODE, "interval": "1"}
        if path.endswith("/deviceauth/token"):
            codes = {"authorization_code": "ac", "code_challenge": "challenge", "code_verifier": "verifier"}
            return (200, codes) if self.code_entered.is_set() else (403, {"error": "authorization_pending"})
        if path.endswith("/oauth/token"):
            return 200, {"id_token": _build_jwt(), "access_token": _build_jwt(), "refresh_token": REFRESH_TOKEN}
        if path.endswith("/wham/accounts/check"):
            return 200, {"accounts": [_ACCOUNT], "account_ordering": ["one"], "default_account_id": "one"}
        return 404, {}


def _build_jwt() -> str:
    claims = {
        "email": "me@example.org",
        "exp": int(time.time()) + 864_000,
        "https://api.openai.com/auth": {"chatgpt_plan_type": "plus", "chatgpt_account_id": "one", "user_id": "me"},
    }
    parts = [json.dumps(part).encode() for part in ({"alg": "none", "typ": "JWT"}, claims)] + [b"signature"]
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)


@contextlib.contextmanager
def run_identity_provider() -> Iterator[IdentityProvider]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Log nothing, to keep the test output clean."""

        def do_GET(self) -> None:
            self.do_POST()

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            status, body = one.answer(self.path.split("?")[0])
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    one = IdentityProvider(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield one
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
