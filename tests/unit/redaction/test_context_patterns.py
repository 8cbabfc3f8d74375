"""Every context kind, with what it must mask and what it must not."""

import pytest

from termvisor.redaction import redact
from termvisor.redaction.context_patterns import CONTEXT_KINDS

A = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zC3fG5hJ7kL9nP1qR2sT4uV6wX8yZ0bD2eF4aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0z"
H = "3f9a1c7e5b2d8046" * 6
EY = "eyJ"
DASHES = "-----"
GUID = "550e8400-e29b-41d4-a716-446655440000"

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
    "airtable_token": [("pat" + A[:14] + ".", H[:64], "")],
    "authress_key": [("sc_" + A[:10] + ".", "ab12.acc-" + "a1b2c3d4e5f6." + A[:40], "")],
    "clickhouse_key": [("key 4b1d", A[:38], "")],
    "gocardless_token": [("live_", A[:40], "")],
    "harness_token": [("pat.", f"{A[:22]}.{A[:24]}.{A[:20]}", "")],
    "launchdarkly_key": [("sdk-", GUID, "")],
    "lob_key": [("live_", H[:35], ""), ("test_pub_", H[:31], "")],
    "mailchimp_key": [("key ", H[:32] + "-us20", "")],
    "mailgun_sending_key": [("key ", f"{H[:32]}-{H[:8]}-{H[:8]}", "")],
    "maxmind_key": [("licence ", f"{A[:6]}_{A[:29]}_mmk", "")],
    "onepassword_secret_key": [("A3-", "ASWWYB-798JRYLJVD4-23DC2-86TVM-H43EB", "")],
    "plaid_token": [("access-production-", GUID, "")],
    "twitter_bearer_token": [("A" * 22, "x" + A[:85].replace("A", "b"), "")],
    "yandex_iam_token": [("t1.", A[:40] + "==." + A[:86], "")],
    "yandex_secret_key": [("secret YC", A[:38], "")],
    "vault_legacy_token": [("VAULT s.", A[:24], "")],
    "gitlab_session": [("_gitlab_session=", H[:32], "; path=/")],
    "nuget_password": [('<add key="ClearTextPassword" value="', "hunter2", '" />')],
    "okta_token": [("Header SSWS ", "00" + A[:40], "")],
    "netrc_password": [
        ("machine api.example.com login me password ", "correcthorse", ""),
        ("machine host login me account x password ", "correcthorse", " port 1"),
        ("default login anonymous password ", "me@example.com", ""),
        ("  password ", "s3cr3tWord", ""),
        ("login me password ", "s3cr3tWord", ""),
    ],
    "service_assignment": [
        ("DATADOG_APP = ", H[:40], ""),
        ('"snyk": "', GUID, '"'),
        ("contentful_delivery: '", A[:43], "'"),
        ("zendesk=", A[:40], ";"),
    ],
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
    "airtable_token": ["pattern.match", "pat" + A[:14]],
    "authress_key": ["sc_client.name.acc-count"],
    "clickhouse_key": ["4b1d" + H[:12]],
    "gocardless_token": ["live_reload", "live_update_of_the_screen_while_it_is_shown_x"],
    "harness_token": ["pat.example.com", "sat.gov.mx"],
    "launchdarkly_key": ["sdk-" + GUID[:20], "api-gateway"],
    "lob_key": ["test_lob_key", "test_" + H[:8], "live_" + H[:33]],
    "mailchimp_key": [H[:32], H[:12] + "-us20"],
    "mailgun_sending_key": [f"{H[:32]}-{H[:8]}"],
    "maxmind_key": ["the_name_mmk"],
    "onepassword_secret_key": ["A3-PAPER", "A3-SIZED PAPER"],
    "plaid_token": ["access-sandbox-only"],
    "twitter_bearer_token": ["A" * 40],
    "yandex_iam_token": ["t1.micro", "t1.start.time"],
    "yandex_secret_key": ["YC", "YCombinator"],
    "vault_legacy_token": ["s.getElementsByClassName12", "s.replaceAllOccurrencesNow", "this." + A[:24]],
    "gitlab_session": ["_gitlab_session=x"],
    "nuget_password": ['<add key="Password" value="%PASSWORD%" />', '<add key="Passwords" value="x" />'],
    "okta_token": ["SSWS token"],
    "netrc_password": [
        "password required",
        "machine learning password protected",
        "Please enter the password again",
        "password manager",
        "login page password reset",
    ],
    "service_assignment": [
        "twilio: 9.4.1",
        "sentry_sdk==2.19.0",
        "https://discord.com/channels/1234567890",
        "discord_channel_id=123456789012345678",
        "netlify_site: my-very-long-site-name-one",
        "twitter: https://twitter.com/someone12345",
        "vercel=deploymentsAndProjects1",
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
