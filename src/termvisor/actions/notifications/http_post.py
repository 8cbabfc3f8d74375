"""Make one signed HTTP request. Runs in a worker process, so that the daemon does not have to load TLS.

Redirects are not followed, so the notice goes only to the configured address. Signed as in Standard Webhooks.
"""

from typing import TYPE_CHECKING

from msgspec import Struct

from termvisor.model.settings.notifications import WebhookAddress, parse_webhook_url

if TYPE_CHECKING:
    from http.client import HTTPConnection


class PostRequest(Struct, frozen=True, kw_only=True):
    """``timestamp`` is in seconds. The request is not signed if ``secret`` is empty."""

    url: str
    id: str
    body: str
    secret: str = ""
    timestamp: int = 0
    timeout: float = 5.0


class PostResult(Struct, frozen=True, kw_only=True):
    """``why`` is empty if the request was accepted; ``may_pass`` means that a retry may succeed."""

    why: str = ""
    text: str = ""
    may_pass: bool = False


def build_headers(request: PostRequest) -> dict[str, str]:
    """Return the headers. The signature is the Base64 HMAC-SHA256 of ``<id>.<timestamp>.<body>``."""
    headers = {
        "content-type": "application/json",
        "user-agent": "Termvisor",
        "webhook-id": request.id,
        "webhook-timestamp": str(request.timestamp),
    }
    return headers | ({"webhook-signature": f"v1,{_sign_request(request)}"} if request.secret else {})


def _sign_request(request: PostRequest) -> str:
    import base64
    import hmac

    encoded = request.secret.removeprefix("whsec_")
    key = request.secret.encode() if encoded == request.secret else base64.b64decode(encoded, validate=True)
    signed = f"{request.id}.{request.timestamp}.{request.body}".encode()
    return base64.b64encode(hmac.new(key, signed, "sha256").digest()).decode()


def post_notice(request: PostRequest) -> PostResult:
    address = parse_webhook_url(request.url)
    if address is None:
        return PostResult(why="bad_address", text="notify_webhook_url is not a supported address")
    host = address.host
    try:
        headers = build_headers(request)
    except ValueError:
        return PostResult(why="no_secret", text="the secret begins with whsec_, but the rest is not Base64")
    try:
        status = _send_request(address, request, headers)
    except TimeoutError:
        return PostResult(why="timeout", text=f"{host} timed out after {request.timeout:g} s", may_pass=True)
    except (OSError, ValueError) as error:
        # An invalid certificate is both OSError and ValueError, and a retry cannot fix it.
        return PostResult(why="not_reached", text=f"{host}: {error}", may_pass=not isinstance(error, ValueError))
    return classify_status(status, host)


def classify_status(status: int, host: str) -> PostResult:
    text = f"{host} answered {status}"
    if 200 <= status < 300:
        return PostResult(text=text)
    if 300 <= status < 400:
        return PostResult(why="redirected", text=f"{text}; redirects are not followed")
    return PostResult(why=f"http_{status}", text=text, may_pass=status in (408, 425, 429) or status >= 500)


def _send_request(address: WebhookAddress, request: PostRequest, headers: dict[str, str]) -> int:
    from http.client import HTTPException

    connection = _open_connection(address, request.timeout)
    try:
        connection.connect()
        _check_peer(address, connection)
        connection.request("POST", address.path, request.body.encode(), headers)
        return connection.getresponse().status
    except HTTPException as error:
        raise ConnectionError(f"not an HTTP server ({type(error).__name__})") from error
    finally:
        connection.close()


def _open_connection(address: WebhookAddress, timeout: float) -> "HTTPConnection":
    from http.client import HTTPConnection, HTTPSConnection

    kind = HTTPSConnection if address.is_secure else HTTPConnection
    return kind(address.host, address.port, timeout=timeout)


def _check_peer(address: WebhookAddress, connection: "HTTPConnection") -> None:
    """Raise ``ValueError`` if an unencrypted request would leave this machine. Checks the connected address."""
    from ipaddress import ip_address

    if not address.is_secure and not ip_address(connection.sock.getpeername()[0]).is_loopback:
        raise ValueError("the name does not resolve to this machine, and http:// is for this machine only")
