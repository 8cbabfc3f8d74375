"""A process that makes one HTTP request and ends: a Letter on stdin, an Answer on stdout.

It loads TLS, which the daemon does not. The secret comes on stdin, so that no list of processes shows it. A redirect is
not followed: the notice goes where the user said, and nowhere else. The signature is that of Standard Webhooks.
"""

import sys
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from termvisor.model.action.notification import Address, address

if TYPE_CHECKING:
    from http.client import HTTPConnection


class Letter(Struct, frozen=True, kw_only=True):
    """``timestamp`` in seconds; an empty ``secret`` means that nothing is signed."""

    url: str
    id: str
    body: str
    secret: str = ""
    timestamp: int = 0
    timeout: float = 5.0


class Answer(Struct, frozen=True, kw_only=True):
    """``why`` is empty when it was taken. ``may_pass``: another try may be luckier."""

    why: str = ""
    text: str = ""
    may_pass: bool = False


def headers(letter: Letter) -> dict[str, str]:
    """Who verifies: HMAC-SHA256 over ``<id>.<timestamp>.<body>``, in Base64."""
    found = {
        "content-type": "application/json",
        "user-agent": "Termvisor",
        "webhook-id": letter.id,
        "webhook-timestamp": str(letter.timestamp),
    }
    return found | ({"webhook-signature": f"v1,{_signature(letter)}"} if letter.secret else {})


def _signature(letter: Letter) -> str:
    import base64
    import hmac

    encoded = letter.secret.removeprefix("whsec_")
    key = letter.secret.encode() if encoded == letter.secret else base64.b64decode(encoded, validate=True)
    signed = f"{letter.id}.{letter.timestamp}.{letter.body}".encode()
    return base64.b64encode(hmac.new(key, signed, "sha256").digest()).decode()


def post(letter: Letter) -> Answer:
    where = address(letter.url)
    if where is None:
        return Answer(why="bad_address", text="notify_webhook_url is no address that we send to")
    try:
        signed = headers(letter)
    except ValueError:
        return Answer(why="no_secret", text="the secret begins with whsec_, and what follows is not Base64")
    try:
        status = _status(where, letter, signed)
    except TimeoutError:
        return Answer(why="timeout", text=f"{where.host} did not answer within {letter.timeout:g} s", may_pass=True)
    except (OSError, ValueError) as error:  # a certificate that is not good is both, and will not get better
        return Answer(why="not_reached", text=f"{where.host}: {error}", may_pass=not isinstance(error, ValueError))
    return judged(status, where.host)


def judged(status: int, host: str) -> Answer:
    text = f"{host} answered {status}"
    if 200 <= status < 300:
        return Answer(text=text)
    if 300 <= status < 400:
        return Answer(why="redirected", text=f"{text}; redirects are not followed")
    return Answer(why=f"http_{status}", text=text, may_pass=status in (408, 425, 429) or status >= 500)


def _status(where: Address, letter: Letter, signed: dict[str, str]) -> int:
    from http.client import HTTPException

    connection = _connection(where, letter.timeout)
    try:
        connection.connect()
        _check_peer(where, connection)
        connection.request("POST", where.path, letter.body.encode(), signed)
        return connection.getresponse().status
    except HTTPException as error:
        raise ConnectionError(f"it does not speak HTTP ({type(error).__name__})") from error
    finally:
        connection.close()


def _connection(where: Address, timeout: float) -> "HTTPConnection":
    from http.client import HTTPConnection, HTTPSConnection

    kind = HTTPSConnection if where.is_secure else HTTPConnection
    return kind(where.host, where.port, timeout=timeout)


def _check_peer(where: Address, connection: "HTTPConnection") -> None:
    """What is not encrypted stays on this machine, whatever a name resolves to."""
    from ipaddress import ip_address

    if not where.is_secure and not ip_address(connection.sock.getpeername()[0]).is_loopback:
        raise ValueError("its name does not mean this machine, and http:// is for this machine only")


def main() -> None:
    letter = msgspec.json.decode(sys.stdin.buffer.read(), type=Letter)
    sys.stdout.buffer.write(msgspec.json.encode(post(letter)))


if __name__ == "__main__":
    main()
