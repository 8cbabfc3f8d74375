import pytest

from termvisor.policy.shell.secret_paths import is_naming_program, is_secret_path
from tests.unit.policy.policy_requests import find_classes


@pytest.mark.parametrize(
    "path",
    [
        "~/.ssh/id_rsa",
        "~/.ssh",
        "/x/.aws/credentials",
        ".env",
        "a/.env.local",
        "/etc/shadow",
        "/proc/1/environ",
        "~/.netrc",
        "~/.claude/.credentials.json",
        "~/.codex/auth.json",
        "server/key.pem",
        "a.p12",
        "~/.ssh/*",
        "~/.kube/config",
        "~/.aw?/cred*",
        "~/.[a]ws/credentials",
        "~/.ss*",
        ".e*",
        "/etc/shado?",
        "~/.aw\ue00f/credentials",
    ],
)
def test_secret_paths_are_recognized(path: str) -> None:
    assert is_secret_path(path)


@pytest.mark.parametrize(
    "path",
    [
        "~/.ssh/id_rsa.pub",
        "~/.ssh/config",
        "~/.ssh/known_hosts",
        ".env.example",
        "env",
        ".envrc",
        "cert.pem",
        "a.key.md",
        "*",
        "*/*",
        "src/*.py",
        "\ue00f",
    ],
)
def test_similar_paths_are_not_secret(path: str) -> None:
    assert not is_secret_path(path)


@pytest.mark.parametrize(
    "line",
    [
        "cat .env",
        "cp .env x",
        "python x.py --file=.env",
        "head -1 < .env",
        "sort .env",
        "pass x",
        "gopass show x",
        "grep -r x .env",
        "vault kv get x",
        "gpg --export-secret-keys -a",
        "security find-generic-password -w",
    ],
)
def test_reading_a_secret_is_classified(line: str) -> None:
    assert find_classes(line) - {"unknown_effect"} == {"credential_read"}


@pytest.mark.parametrize(
    "line", ["ls .env", "git add .env", "echo .env", "grep .env x", "test -f .env", "touch .env", "pass ls", "gpg -k"]
)
def test_naming_a_secret_path_is_not_classified(line: str) -> None:
    assert find_classes(line) == set()


def test_a_login_key_option_is_not_a_secret_read() -> None:
    assert "credential_read" not in find_classes("scp -i ~/.ssh/id_rsa a h:")
    assert "credential_read" not in find_classes("ssh -i ~/.ssh/id_rsa h")
    assert is_naming_program("ssh-add")


@pytest.mark.parametrize(
    ("pattern", "is_secret"),
    [
        ("/etc/shado?", True),
        ("backup/etc/shado?", False),
        ("/x/etc/shado?", False),
        ("?", False),
        (".ss?", True),
        ("a//etc/shado?", False),
    ],
)
def test_a_pattern_for_a_file_of_the_root_starts_there(pattern: str, is_secret: bool) -> None:
    assert is_secret_path(pattern) is is_secret
