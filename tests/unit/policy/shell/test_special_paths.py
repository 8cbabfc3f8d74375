import pytest

from termvisor.policy.path_rules import PathScope
from termvisor.policy.shell.special_paths import classify_path, get_socket_host, is_system_root
from tests.unit.policy.policy_requests import SCOPE


@pytest.mark.parametrize(
    "path", ["/", "/*", "/usr", "/ETC", "/home/me", "/home/me/*", "/home/me/.*", "/Users/you", "/var/*"]
)
def test_system_folders_and_homes_are_roots(path: str) -> None:
    assert is_system_root(path, SCOPE)


@pytest.mark.parametrize("path", ["/home/me/src", "/home/me/a*", "/tmp", "/tmp/x", "/usr/local/x", "build"])
def test_other_folders_are_not_roots(path: str) -> None:
    assert not is_system_root(path, SCOPE)


def test_a_home_elsewhere_is_a_root_too() -> None:
    assert is_system_root("/data/me", PathScope(home="/data/me/"))
    assert is_system_root("~", PathScope())


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("/dev/null", "nothing"),
        ("/dev/stderr", "nothing"),
        ("/dev/sda1", "disk"),
        ("/dev/nvme0n1", "disk"),
        ("/dev/tcp/x.example/80", "socket"),
        ("/etc/hosts", "system"),
        ("/home/me/.bashrc", "system"),
        ("/home/me/src/.git/hooks/pre-commit", "system"),
        ("/home/me/src/a", ""),
        ("/tmp/etc/hosts", ""),
    ],
)
def test_special_paths_are_classified(path: str, what: str) -> None:
    assert classify_path(path) == what


def test_a_socket_names_its_host() -> None:
    assert (get_socket_host("/dev/tcp/x.example/80"), get_socket_host("/dev/null")) == ("x.example", "")
