import pytest

from termvisor.policy.path_rules import (
    PathScope,
    classify_path,
    find_matching_glob,
    find_never_written_folder,
    find_never_written_inside,
    get_socket_host,
    is_system_root,
    resolve_path,
)
from tests.unit.policy.policy_requests import HOME, SCOPE


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("a", f"{HOME}/src/a"),
        ("./a/../b", f"{HOME}/src/b"),
        ("..", HOME),
        ("//etc//passwd", "/etc/passwd"),
        ("/../..", "/"),
        ("~", HOME),
        ("~/a", f"{HOME}/a"),
        ("~you/a", "/home/you/a"),
        ("~root", "/root"),
        ("~+/a", f"{HOME}/src/a"),
        ("~-", f"{HOME}/src/~-"),
        ("/proc/self/root/etc", "/etc"),
        ("/proc/self/root", "/"),
        ("", f"{HOME}/src"),
    ],
)
def test_other_spellings_are_the_same_path(text: str, path: str) -> None:
    assert resolve_path(text, SCOPE) == path


def test_path_stays_relative_without_a_known_folder() -> None:
    assert [resolve_path(text, PathScope()) for text in ("a/../b", "~/x", "")] == ["b", "~/x", ""]


@pytest.mark.parametrize(
    "text",
    [
        "~/.ssh/config",
        "~/.ssh",
        "~//.ssh/../.ssh/x",
        "../.SSH/x",
        "~root/.ssh/x",
        "~you/.gnupg/x",
        "~/.s*/x",
        "~/.ss?",
        "~/.[s]sh/x",
        "~/.config/termvisor/policy.toml",
        "~/.local/share/termvisor/raw/1",
        "~/.config/term*/x",
    ],
)
def test_key_folders_and_own_files_are_never_written(text: str) -> None:
    assert find_never_written_folder(resolve_path(text, SCOPE), SCOPE)


@pytest.mark.parametrize("text", ["~/.sshrc", "~/ssh/x", "~/.config/other", "~/*", "~/?ssh", "/tmp/x", "~/.config"])
def test_similar_folders_may_be_written(text: str) -> None:
    assert find_never_written_folder(resolve_path(text, SCOPE), SCOPE) == ""


def test_parents_of_never_written_folders_are_not_removed() -> None:
    removed = ["~", "/", "~/.config", "~/.local", "~/.con*", "/home"]
    assert all(find_never_written_inside(resolve_path(text, SCOPE), SCOPE) for text in removed)
    assert [find_never_written_inside(resolve_path(text, SCOPE), SCOPE) for text in ("build", "~/src", "~/*")] == [
        "",
        "",
        "",
    ]


@pytest.mark.parametrize(
    ("glob", "path", "is_fit"),
    [
        ("$CWD/**", f"{HOME}/src/a/b", True),
        ("$CWD/**", f"{HOME}/src", True),
        ("$CWD/**", f"{HOME}/srcs/a", False),
        ("$HOME/*.txt", f"{HOME}/a.txt", True),
        ("~/*.txt", f"{HOME}/a/b.txt", False),
        ("${HOME}/**/b", f"{HOME}/a/x/b", True),
        ("/etc/?osts", "/etc/hosts", True),
        ("/etc/host[s]", "/etc/hosts", False),
    ],
)
def test_star_stays_in_its_folder_and_double_star_does_not(glob: str, path: str, is_fit: bool) -> None:
    assert bool(find_matching_glob(path, (glob,), SCOPE)) is is_fit


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
