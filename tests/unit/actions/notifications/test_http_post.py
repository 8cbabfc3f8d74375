"""The webhook request: headers, address checks and status codes."""

import base64
import socket
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pytest

from termvisor.actions.notifications.http_post import (
    PostRequest,
    PostResult,
    build_headers,
    classify_status,
    post_notice,
)
from termvisor.system.worker import run_worker
from tests.unit.actions.notifications.webhook_receiver import KEY, run_receiver


def build_post_request(url: str, **more) -> PostRequest:
    return PostRequest(
        **{"url": url, "id": "a1", "body": '{"title":"é"}', "timestamp": 1767268800, "timeout": 5.0} | more
    )


def test_the_receiver_can_verify_signature_and_timestamp():
    with run_receiver(204) as receiver:
        assert post_notice(build_post_request(receiver.url, secret=KEY)).why == ""
    (request,) = receiver.received
    assert request.is_genuine
    assert (request.id, request.timestamp, request.body.decode()) == ("a1", 1767268800, '{"title":"é"}')


@pytest.mark.parametrize("part", ["id", "timestamp", "body"])
def test_a_change_of_any_part_breaks_the_signature(part):
    with run_receiver(200) as receiver:
        post_notice(build_post_request(receiver.url, secret=KEY))
    changed = msgspec.structs.replace(receiver.received[0], **{part: {"id": "b2", "timestamp": 1, "body": b"{}"}[part]})
    assert not changed.is_genuine


def test_a_secret_in_the_form_of_the_standard_is_base64():
    plain = build_headers(build_post_request("https://x", secret=KEY))
    standard = build_headers(build_post_request("https://x", secret="whsec_" + base64.b64encode(KEY.encode()).decode()))
    assert plain == standard
    assert post_notice(build_post_request("https://x", secret="whsec_?")).why == "no_secret"


def test_without_a_secret_nothing_is_signed():
    assert "webhook-signature" not in build_headers(build_post_request("https://x"))


def test_a_redirect_is_not_followed():
    with run_receiver(307) as receiver:
        answer = post_notice(build_post_request(receiver.url))
    assert (answer.why, answer.may_pass, len(receiver.received)) == ("redirected", False, 1)


@pytest.mark.parametrize(
    ("status", "why", "may_pass"),
    [
        (200, "", False),
        (299, "", False),
        (300, "redirected", False),
        (399, "redirected", False),
        (400, "http_400", False),
        (408, "http_408", True),
        (425, "http_425", True),
        (429, "http_429", True),
        (499, "http_499", False),
        (500, "http_500", True),
        (503, "http_503", True),
    ],
)
def test_retryable_statuses_are_distinguished(status, why, may_pass):
    answer = classify_status(status, "there")
    text = f"there answered {status}{'; redirects are not followed' if why == 'redirected' else ''}"
    assert answer == PostResult(why=why, text=text, may_pass=may_pass)


def test_a_dropped_connection_is_retryable():
    with socket.create_server(("127.0.0.1", 0)) as receiver:
        port = receiver.getsockname()[1]
        receiver.close()
        answer = post_notice(build_post_request(f"http://127.0.0.1:{port}/"))
    assert (answer.why, answer.may_pass) == ("not_reached", True)


def test_a_receiver_without_an_answer_times_out():
    with run_receiver(0) as receiver:
        answer = post_notice(build_post_request(receiver.url, timeout=0.2))
    assert answer == PostResult(why="timeout", text="127.0.0.1 timed out after 0.2 s", may_pass=True)


@pytest.mark.parametrize(
    "url", ["http://example.org/", "https://me:pass@example.org/", "ftp://x/", "file:///etc/passwd"]
)
def test_unsupported_addresses_are_rejected_without_a_connection(url):
    expected = PostResult(why="bad_address", text="notify_webhook_url is not a supported address")
    assert post_notice(build_post_request(url)) == expected


def test_plain_http_is_allowed_to_this_machine_only(monkeypatch):
    with run_receiver(200) as receiver:
        monkeypatch.setattr("ipaddress.IPv4Address.is_loopback", False)
        answer = post_notice(build_post_request(receiver.url))
    assert (answer.why, answer.may_pass, receiver.received) == ("not_reached", False, [])


def test_the_worker_process_reads_a_request_and_writes_a_result():
    with run_receiver(200) as receiver:
        function, args = (
            "termvisor.actions.notifications.http_post:post_notice",
            (build_post_request(receiver.url, secret=KEY),),
        )
        done = run_worker(function, args, returns=PostResult, timeout_s=60)
    assert done.values == [PostResult(text="127.0.0.1 answered 200")]
    assert receiver.received[0].is_genuine


def test_a_server_that_speaks_no_http_is_retryable_and_named():
    with socket.create_server(("127.0.0.1", 0)) as receiver, ThreadPoolExecutor() as pool:

        def answer_nonsense() -> None:
            connection, _ = receiver.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"220 mail.example ESMTP\r\n")

        pool.submit(answer_nonsense)
        answer = post_notice(build_post_request(f"http://127.0.0.1:{receiver.getsockname()[1]}/"))
    assert (answer.why, answer.may_pass) == ("not_reached", True)
    assert answer.text == "127.0.0.1: not an HTTP server (BadStatusLine)"


def test_a_request_names_its_sender_and_content():
    headers = build_headers(build_post_request("https://x"))
    assert headers == {
        "content-type": "application/json",
        "user-agent": "Termvisor",
        "webhook-id": "a1",
        "webhook-timestamp": "1767268800",
    }
