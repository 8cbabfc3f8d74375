"""Every context kind, with what it must mask and what it must not."""

import pytest

from termvisor.redaction import redact
from termvisor.redaction.context_patterns import CONTEXT_KINDS

A = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zC3fG5hJ7kL9nP1qR2sT4uV6wX8yZ0bD2eF4aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0z"
H = "3f9a1c7e5b2d8046" * 6
EY = "eyJ"
DASHES = "-----"

HITS: dict[str, list[tuple[str, str, str]]] = {
    # text before, the secret, text after
    "jwt": [("set eyJ", f"hbGciOiJIUzI1NiJ9.{EY}zdWIiOiIxMjM0NTY3ODkwIn0.{A[:43]}", " x")],
    "private_key": [('"' + DASHES + "BEGIN PRIVATE KEY" + DASHES, "\\n" + A + "\\n", DASHES + 'END PRIVATE KEY-----"')],
    "aws_secret_key": [('"SecretAccessKey": "', A[:39] + "/", '",')],
    "azure_client_secret": [("secret value ", "abc8Q~" + A[:34], "")],
    "azure_signature": [("https://x.blob.core.windows.net/y?sv=1&sig=", A[:43] + "%3D", "&se=1")],
    "telegram_bot_token": [("https://api.telegram.org/bot 123456789:", "AAH" + A[:32], "/getMe")],
    "discord_token": [("login ", "M" + A[:25] + ".Gx1y2z." + A[:38], "")],
    "bearer_token": [("curl -H 'X: Bearer ", A[:30], "'"), ("bearer ", "abcdefgh.12345678", "")],
    "basic_auth": [("Proxy: Basic ", "dXNlcjpwYXNzd29yZA==", "")],
    "authorization_header": [("Authorization: ", "x9" + A[:30], ""), ('"authorization": "Token ', A[:20], '"')],
    "cookie": [("Set-Cookie: sid=", A[:30], "; Path=/; HttpOnly"), ("Cookie: a=", "b1c2d3e4; sid=" + A[:20], "")],
    "url_password": [("postgres://me:", "s3cr@t", "@db.local/x"), ("redis://:", "hunter2", "@h:6379/0")],
    "curl_user": [("curl -s -u me:", "hunter2", " https://x.test/")],
    "secret_flag": [("mysql --password ", "hunter2", " db"), ("x --api-key '", "abcd1234efgh", "'")],
    "password_assignment": [
        ("password=", "hunter2", ""),
        ("DB_PASSWORD=", "correcthorse", ""),
        ('"password": "', "correcthorse", '"'),
        ("Password: ", "hunter22", ""),
        ("Server=x;Password=", "abc123!", ";User Id=sa"),
        ('{\\"passwd\\": \\"', "hunter2", '\\"}'),
        ("--password=", "hunter2", " -x"),
        ("export PGPASSWORD=", "s3cr3t", ""),
    ],
    "secret_assignment": [
        ('"api_key": "', "abcd1234efgh", '"'),
        ("export SOME_TOKEN=", "abcd1234efgh", ""),
        ("client_secret: ", "abcd1234efgh", ""),
        ("x-api-key: ", "abcd1234efgh", ""),
        ("accessToken = '", "abcd1234efgh", "'"),
        ("https://x.test/?token=", "abcd1234efgh", "&page=2"),
        ("JWT_SECRET=", "averyverylongsecretphrase", ""),
    ],
}

MISSES: dict[str, list[str]] = {
    "jwt": ["eyJ", f"cursor={EY}pZCI6MTIzfQ", f"{EY}.", "eyJust.a.name"],
    "private_key": [DASHES + "BEGIN PUBLIC KEY" + DASHES, "grep -r 'BEGIN RSA PRIVATE KEY' .", "PRIVATE KEY"],
    "aws_secret_key": ["aws_secret_access_key = $SECRET", "secret_key: none"],
    "azure_client_secret": ["8Q~", "Q~tips"],
    "azure_signature": ["?sig=abc"],
    "telegram_bot_token": ["12345678:90", "2024-01-01 12:00:00:" + "a" * 10, "10.0.0.1:8080"],
    "discord_token": ["Module.method.call", "Mmmm.abcdef.x"],
    "bearer_token": ["Bearer authentication-is-required", "a bearer of bad news", "Bearer $TOKEN", "Bearer <token>"],
    "basic_auth": ["basic authentication", "Basic JavaScript", "visual basic programming", "Basic usage:"],
    "authorization_header": ["Authorization: required", "authorization: Bearer <token>", "authorization: $AUTH_1234"],
    "cookie": ["cookie: chocolate chip", "cookies: enabled", "Set-Cookie header", "Cookie: a=b"],
    "url_password": [
        "https://host:8080/@scope/pkg",
        "ssh://git@host:22/x",
        "http://u:$PASS@h",
        "a://b:c d@e",
        "see http://x",
    ],
    "curl_user": ["curl -u $USER:x", "curl -u me https://x.test", "curl --user-agent x"],
    "secret_flag": [
        "--password <password>",
        "use --password to log in",
        "--token TOKEN",
        "--password-stdin",
        "--password",
    ],
    "password_assignment": [
        "password:",
        "Password: ",
        "[sudo] password for me:",
        'password = os.environ["X"]',
        "password = getpass.getpass()",
        "password=password",
        "password: required",
        "password: str = ''",
        "f(password=self.password, x=1)",
        "PASSWORD=$OTHER",
        "password: ********",
        "password=<password>",
        "if password == secret2:",
        "PWD=/srv/data",
        "OLDPWD=/srv/data1",
        "enter password: then press",
    ],
    "secret_assignment": [
        "token count: 1234",
        "tokens=90,506",
        "max_tokens: 4096",
        "Token usage: total=100,117 input=90,506",
        "token = get_token()",
        "if token == None",
        "token: Optional[str] = None",
        "secret santa",
        "secret: santa",
        "key=value",
        "Unexpected token: }",
        "token = tokens[0]",
        "self.token = nextchar",
        "token=self.token",
        "api_key=YOUR_API_KEY",
        'api_key = "your-api-key"',
        "api_key = os.environ['API_KEY1234']",
        "token_file=/run/secrets/token1234",
        "secret_name: my-secret-12",
        "tokenizer=gpt2large1234",
        '"token": "string"',
        "token=${TOKEN1234}",
        "const token: Token1234<T> = x",
        "token::Kind1234",
    ],
}

ORDINARY = [
    "commit 4f2a9c1e5b2d80463f9a1c7e5b2d80463f9a1c7e",
    "id 550e8400-e29b-41d4-a716-446655440000",
    "/usr/lib/python3.11/site-packages/hyperscan/_hs_ext.cpython-311-x86_64-linux-gnu.so",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ3f9a1c7e5b2d80463f9a1c7e5b2d80463f9a1c7e5b2 me@host",
    "drwxr-xr-x  2 root root 4096 Nov 15 12:00 bin",
    "│ Done in 3.2s │",
    "",
    "⏺ Bash(git log --oneline -5)",
    '200 OK text/html; charset=utf-8 etag=W/"3f9a1c7e5b2d8046"',
]


def test_every_kind_has_hits_and_near_misses():
    assert set(HITS) == {kind.id for kind in CONTEXT_KINDS} == set(MISSES)
    assert all(HITS.values()) and all(MISSES.values())


@pytest.mark.parametrize(("kind", "case"), [(kind, case) for kind, cases in HITS.items() for case in cases])
def test_the_secret_is_masked_and_its_context_is_unchanged(kind: str, case: tuple[str, str, str]):
    before, secret, behind = case
    assert redact(before + secret + behind) == f"{before}[redacted:{kind}]{behind}"


@pytest.mark.parametrize("text", [text for texts in MISSES.values() for text in texts] + ORDINARY)
def test_text_that_only_resembles_a_secret_is_unchanged(text: str):
    assert redact(text) == text
