"""A real HTTP server on loopback that answers what a test says and verifies what it gets, as a receiver would."""

import base64
import hashlib
import hmac
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from msgspec import Struct

KEY = "0123456789abcdef"


class Got(Struct):
    id: str
    timestamp: int
    body: bytes
    signature: str

    @property
    def is_genuine(self) -> bool:
        signed = b"%s.%d.%s" % (self.id.encode(), self.timestamp, self.body)
        digest = hmac.new(KEY.encode(), signed, hashlib.sha256).digest()
        return hmac.compare_digest(self.signature, "v1," + base64.b64encode(digest).decode())


class Receiver:
    def __init__(self, *answers: int):
        self.got: list[Got] = []
        self._answers = list(answers)
        self.release = threading.Event()
        receiver = self

        class Page(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                receiver.take(self)

            def log_message(self, *_words: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
        self.server.block_on_close = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/hook?room=1"

    def take(self, page: BaseHTTPRequestHandler) -> None:
        body = page.rfile.read(int(page.headers["content-length"]))
        self.got.append(
            Got(
                page.headers["webhook-id"],
                int(page.headers["webhook-timestamp"]),
                body,
                page.headers.get("webhook-signature", ""),
            )
        )
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if answer == 0:
            self.release.wait(30)
            return
        page.send_response(answer)
        if 300 <= answer < 400:
            page.send_header("location", f"{self.url}/elsewhere")
        page.end_headers()


@contextmanager
def receiver(*answers: int) -> Iterator[Receiver]:
    """The answers, one a request; the last one holds on. 0 means that it never answers."""
    opened = Receiver(*answers)
    thread = threading.Thread(target=opened.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield opened
    finally:
        opened.release.set()
        opened.server.shutdown()
        thread.join()
        opened.server.server_close()
