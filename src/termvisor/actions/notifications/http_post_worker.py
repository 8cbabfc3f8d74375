"""A process that makes one HTTP request and ends: a Letter on stdin, an Answer on stdout.

It loads TLS, which the daemon does not. The secret comes on stdin, so that no list of processes shows it. A redirect is
not followed: the notice goes where the user said, and nowhere else. The signature is that of Standard Webhooks.
"""

import sys
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from termvisor.model.action.notification import WebhookAddress, parse_webhook_url

if TYPE_CHECKING:
    from http.client import HTTPConnection


class PostRequest(Struct, frozen=True, kw_only=True):
    """``timestamp`` in seconds; an empty ``secret`` means that nothing is signed."""

    url: str
    id: str
    body: str
    secret: str = ""
    timestamp: int = 0
    timeout: float = 5.0


class PostResult(Struct, frozen=True, kw_only=True):
    """``why`` is empty when it was taken. ``may_pass``: another try may be luckier."""

    why: str = ""
    text: str = ""
    may_pass: bool = False


def build_headers(request: PostRequest) -> dict[str, str]:
    """Who verifies: HMAC-SHA256 over ``<id>.<timestamp>.<body>``, in Base64."""
    found = {
        "content-type": "application/json",
        "user-agent": "Termvisor",
        "webhook-id": request.id,
        "webhook-timestamp": str(request.timestamp),
    }
    return found | ({"webhook-signature": f"v1,{_sign_request(request)}"} if request.secret else {})


def _sign_request(request: PostRequest) -> str:
    import base64
    import hmac

    encoded = request.secret.removeprefix("whsec_")
    key = request.secret.encode() if encoded == request.secret else base64.b64decode(encoded, validate=True)
    signed = f"{request.id}.{request.timestamp}.{request.body}".encode()
    return base64.b64encode(hmac.new(key, signed, "sha256").digest()).decode()


def post_notice(request: PostRequest) -> PostResult:
    where = parse_webhook_url(request.url)
    if where is None:
        return PostResult(why="bad_address", text="notify_webhook_url is no address that we send to")
    try:
        signed = build_headers(request)
    except ValueError:
        return PostResult(why="no_secret", text="the secret begins with whsec_, and what follows is not Base64")
    try:
        status = _send_request(where, request, signed)
    except TimeoutError:
        return PostResult(
            why="timeout", text=f"{where.host} did not answer within {request.timeout:g} s", may_pass=True
        )
    except (OSError, ValueError) as error:  # a certificate that is not good is both, and will not get better
        return PostResult(why="not_reached", text=f"{where.host}: {error}", may_pass=not isinstance(error, ValueError))
    return classify_status(status, where.host)


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
        raise ConnectionError(f"it does not speak HTTP ({type(error).__name__})") from error
    finally:
        connection.close()


def _open_connection(address: WebhookAddress, timeout: float) -> "HTTPConnection":
    from http.client import HTTPConnection, HTTPSConnection

    kind = HTTPSConnection if address.is_secure else HTTPConnection
    return kind(address.host, address.port, timeout=timeout)


def _check_peer(address: WebhookAddress, connection: "HTTPConnection") -> None:
    """What is not encrypted stays on this machine, whatever a name resolves to."""
    from ipaddress import ip_address

    if not address.is_secure and not ip_address(connection.sock.getpeername()[0]).is_loopback:
        raise ValueError("its name does not mean this machine, and http:// is for this machine only")


def main() -> None:
    letter = msgspec.json.decode(sys.stdin.buffer.read(), type=PostRequest)
    sys.stdout.buffer.write(msgspec.json.encode(post_notice(letter)))


if __name__ == "__main__":
    main()
