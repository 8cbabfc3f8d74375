"""Properties of redaction: masking is idempotent, independent of batch boundaries, and leaves no secret visible."""

import random
import re
import string

from hypothesis import given
from hypothesis import strategies as st

from termvisor.redaction import Redactor, build_rules, mask, redact
from termvisor.redaction.provider_prefixes import PROVIDER_KINDS
from termvisor.redaction.ruleset import BUILTIN_KINDS
from termvisor.redaction.secret_kind import SecretKind
from tests.fuzz.example_count import build_settings

RULES = build_rules()
JWT = next(kind for kind in BUILTIN_KINDS if kind.id == "jwt")
VISIBLE = 8
"""This many consecutive characters of a secret count as a leak; up to seven after the prefix may stay on a cut row."""
MEMBERS = (string.digits, string.ascii_lowercase, string.ascii_uppercase)


def build_body(kind: SecretKind, seed: int) -> str:
    """Return random characters that alternate between digits, lower and upper case, as far as the kind allows them."""
    draw = random.Random(seed)
    classes = [members for members in MEMBERS if re.search(f"[{kind.charset}]", members)]
    allowed = [re.findall(f"[{kind.charset}]", members) for members in classes]
    length = kind.max_length or kind.min_length + draw.randrange(60)
    return "".join(draw.choice(allowed[at % len(allowed)]) for at in range(length))


@st.composite
def provider_secrets(draw) -> tuple[str, str]:
    """A secret of some provider, and the part of it that must be masked."""
    kind = draw(st.sampled_from(PROVIDER_KINDS))
    hidden = build_body(kind, draw(st.integers(0, 1 << 32)))
    return draw(st.sampled_from(kind.prefixes)) + hidden, hidden


@st.composite
def jwt_tokens(draw) -> tuple[str, str]:
    head = draw(st.sampled_from(JWT.prefixes))
    hidden = ".".join(build_body(PROVIDER_KINDS[0], draw(st.integers(0, 1 << 32))) for _ in range(3))
    return head + hidden, hidden


secrets = provider_secrets() | jwt_tokens()
words = st.text(alphabet=string.ascii_lowercase + " ", max_size=30)
CONTEXTS = [
    "{0}{1}{2}",
    "{0} the key is {1}, {2}",
    "{0} export X={1}",
    '{{"a{0}": "{1}", "b": "{2}"}}',
    "https://x.test/{0}?a={1}&b={2}",
    "curl -H 'X-Thing: {1}' {0} {2}",
]


def join_rows(rows: list[str]) -> str:
    return "".join(row.strip("│ |>") for row in rows)


def find_leaks(hidden: str, text: str) -> list[str]:
    windows = (hidden[at : at + VISIBLE] for at in range(len(hidden) - VISIBLE + 1))
    return [window for window in windows if window in text]


@given(secrets, st.sampled_from(CONTEXTS), words, words)
def test_a_secret_in_any_context_is_masked(secret, context, before, behind):
    text, hidden = secret
    line = context.format(before + " " if before else "", text, " " + behind)
    assert find_leaks(hidden, redact(line)) == []


@build_settings(100)
@given(secrets, st.sampled_from(CONTEXTS[1:]), words, words, st.integers(20, 120), st.booleans())
def test_a_wrapped_secret_is_masked(secret, context, before, behind, width, framed):
    text, hidden = secret
    line = context.format(before + " " if before else "", text, " " + behind)
    rows = wrap(line, width, framed)
    assert find_leaks(hidden, join_rows(Redactor().redact_lines(rows))) == []


@build_settings(100)
@given(st.lists(secrets, min_size=2, max_size=4), st.integers(30, 80), st.booleans())
def test_wrapped_secrets_on_consecutive_rows_are_masked(several, width, framed):
    rows = [row for text, _ in several for row in wrap(text, width, framed)]
    out = join_rows(Redactor().redact_lines(rows))
    assert [leak for _, hidden in several for leak in find_leaks(hidden, out)] == []


ASSIGNMENTS = [
    "password={}",
    '"api_key": "{}"',
    "export TOKEN={}",
    "--secret {}",
    "Authorization: Bearer {}",
    "pw: '{}',",
]


@build_settings(200)
@given(secrets, st.sampled_from(ASSIGNMENTS), words, words, st.integers(20, 120), st.booleans())
def test_a_wrapped_secret_in_an_assignment_is_masked(secret, assignment, before, behind, width, framed):
    text, hidden = secret
    rows = wrap(f"{before} {assignment.format(text)} {behind}", width, framed)
    assert find_leaks(hidden, join_rows(Redactor().redact_lines(rows))) == []


@build_settings(200)
@given(st.lists(secrets, min_size=2, max_size=3), st.sampled_from([" ", ", ", " and ", "; x="]), st.integers(20, 120))
def test_wrapped_secrets_beside_each_other_are_masked(several, separator, width):
    out = join_rows(Redactor().redact_lines(wrap(separator.join(text for text, _ in several), width, framed=False)))
    assert [leak for _, hidden in several for leak in find_leaks(hidden, out)] == []


@build_settings(100)
@given(jwt_tokens(), st.sampled_from(["{}", *ASSIGNMENTS]), st.integers(-2, 3))
def test_a_token_cut_near_its_second_dot_is_masked(token, assignment, shift):
    text, hidden = token
    line = assignment.format(text)
    cut = line.index(text) + text.rindex(".") + shift
    out = Redactor().redact_lines([line[:cut], line[cut:]])
    assert find_leaks(hidden, "".join(out)) == []


@given(st.integers(0, 1 << 32), st.sampled_from(["", "RSA ", "OPENSSH ", "EC "]), st.integers(20, 120), st.booleans())
def test_a_wrapped_private_key_is_masked(seed, label, width, framed):
    hidden = "".join(random.Random(seed).choices(string.ascii_letters + string.digits + "+/", k=640))
    lines = [f"-----BEGIN {label}PRIVATE KEY-----"]
    lines += [hidden[at : at + 64] for at in range(0, len(hidden), 64)]
    lines += [f"-----END {label}PRIVATE KEY-----", "and so on"]
    rows = [row for line in lines for row in wrap(line, width, framed)]
    out = Redactor().redact_lines(rows)
    assert find_leaks(hidden, join_rows(out)) == []
    assert out[-1] == rows[-1]


def wrap(line: str, width: int, framed: bool) -> list[str]:
    rows = [line[at : at + width] for at in range(0, len(line), width)]
    return [f"│ {row.ljust(width)} │" for row in rows] if framed else rows


FRAGMENTS = [
    *("sk-", "sk-ant-", "k-ant-", "s", "aB3dE5gH", "Bearer ", "://u:", "@", "Cookie: a=", "curl -u a:", "--token "),
    *(
        "password=",
        "token: ",
        "secret",
        "=",
        ": ",
        "'",
        '"',
        "\n",
        "│ ",
        " │",
        "[redacted:jwt]",
        "[redacted:private_key]",
    ),
    *("-----BEGIN RSA PRIVATE KEY-----", "-----BEGIN OPEN", "SSH PRIVATE KEY-----", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"),
]
pieces = st.one_of(
    secrets.map(lambda secret: secret[0]),
    st.sampled_from(FRAGMENTS),
    st.text(max_size=12),
)
hostile = st.lists(pieces, max_size=12).map("".join)


@build_settings(100)
@given(st.lists(hostile, max_size=6))
def test_masking_is_idempotent(rows):
    once = redact("\n".join(rows))
    assert redact(once) == once


@build_settings(100)
@given(st.lists(hostile.map(lambda text: text.replace("\n", "")), max_size=8), st.data())
def test_redacted_lines_do_not_depend_on_batch_boundaries(rows, data):
    cut = data.draw(st.integers(0, len(rows)))
    first = Redactor()
    head = first.redact_lines(rows[:cut])
    tail = Redactor(state=first.state).redact_lines(rows[cut:])
    assert head + tail == Redactor().redact_lines(rows)
    row_by_row = Redactor()
    assert [line for row in rows for line in row_by_row.redact_lines([row])] == head + tail


@given(st.lists(hostile, max_size=6))
def test_the_resume_state_holds_a_kind_and_counts_and_no_text(rows):
    redactor = Redactor()
    redactor.redact_lines(rows)
    assert re.fullmatch(rb"(?:[a-z0-9_]+ [0-9]+ [0-9]+)?", redactor.state)
    assert redactor.state.split(b" ")[0].decode() in {"", *(kind.id for kind in BUILTIN_KINDS)}


@given(hostile)
def test_the_engine_prefilter_finds_every_kind_that_would_be_masked(text):
    line = text.replace("\n", " ")
    everything = mask.find_secrets(RULES, RULES.kinds, line)
    assert {span.kind.id for span in everything} <= RULES.scan(line)
