"""Secrets are learnt from painted bytes, wherever chunks are cut."""

import pytest

from termvisor.redaction import SeenSecrets
from termvisor.redaction.raw_bytes import PaintedSecretLearner

BODY = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zC3fG5hJ7kL9nP1qR2"
KEY = f"sk-ant-{BODY}"
MASK = "[redacted:anthropic_key]"
REST = BODY[20:40]


def redact_rest(*pieces: str) -> str:
    memory = SeenSecrets()
    painted = PaintedSecretLearner(memory)
    for piece in pieces:
        painted.feed(piece.encode())
    return memory.mask_known_pieces(REST)


@pytest.mark.parametrize(
    "bytes_of_paint",
    [
        f"\x1b[H{KEY}\x1b[Hworking on it",
        f"\x1b[1;1H\x1b[J{KEY}",
        f"\x1b[3;3H{KEY[:25]}\x1b[4;3H{KEY[25:]}\x1b[3;3Hworking on it, be patient",
        f"\x1b[1mthe key\x1b[0m \x1b[31m{KEY[:16]}\x1b[32m{KEY[16:]}\x1b[0m",
        f"{KEY}\rworking on it\r\n",
    ],
)
def test_a_painted_key_is_known(bytes_of_paint):
    assert redact_rest(bytes_of_paint) == MASK


def test_a_key_across_two_chunks_is_known():
    paint = f"words \x1b[2;2H{KEY}\x1b[K"
    assert {redact_rest(paint[:cut], paint[cut:]) for cut in range(len(paint))} == {MASK}


def test_output_without_secrets_adds_no_pieces():
    assert redact_rest(f"\x1b[H{BODY}\x1b[2Jtokens: 12, task-force", "") == REST
