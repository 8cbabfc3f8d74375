"""An HTTP server on loopback that answers as a test says and verifies signatures."""

import base64
import hashlib
import hmac
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from msgspec import Struct

KEY = "0123456789abcdef"


class ReceivedRequest(Struct):
    id: str
    timestamp: int
    body: bytes
    signature: str

    @property
    def is_genuine(self) -> bool:
        signed = b"%s.%d.%s" % (self.id.encode(), self.timestamp, self.body)
        digest = hmac.new(KEY.encode(), signed, hashlib.sha256).digest()
        return hmac.compare_digest(self.signature, "v1," + base64.b64encode(digest).decode())


class WebhookReceiver:
    def __init__(self, *answers: int):
        self.received: list[ReceivedRequest] = []
        self._answers = list(answers)
        self.release = threading.Event()
        receiver = self

        class Page(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                receiver.handle_request(self)

            def log_message(self, *_words: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
        self.server.block_on_close = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/hook?room=1"

    def handle_request(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers["content-length"]))
        self.received.append(
            ReceivedRequest(
                handler.headers["webhook-id"],
                int(handler.headers["webhook-timestamp"]),
                body,
                handler.headers.get("webhook-signature", ""),
            )
        )
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if answer == 0:
            self.release.wait(30)
            return
        handler.send_response(answer)
        if 300 <= answer < 400:
            handler.send_header("location", f"{self.url}/elsewhere")
        handler.end_headers()


@contextmanager
def run_receiver(*answers: int) -> Iterator[WebhookReceiver]:
    """Serve the given status codes, one per request; the last one repeats. 0 means no answer."""
    opened = WebhookReceiver(*answers)
    thread = threading.Thread(target=opened.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield opened
    finally:
        opened.release.set()
        opened.server.shutdown()
        thread.join()
        opened.server.server_close()
