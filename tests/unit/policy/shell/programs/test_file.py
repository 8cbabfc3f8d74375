import pytest

from tests.unit.policy.policy_requests import HOME, analyze_text, find_classes

SRC = f"{HOME}/src"


@pytest.mark.parametrize(
    ("line", "writes"),
    [
        ("cp a b c", ("c",)),
        ("cp -t d a b", ("d",)),
        ("install -m 600 a b", ("b",)),
        ("ln -s a b", ("b",)),
        ("tee -a a b", ("a", "b")),
        ("touch a", ("a",)),
        ("dd if=a of=b", ("b",)),
        ("sed -i s/a/b/ f", ("f",)),
        ("mv a b", ("b",)),
        ("find . -fprint a", ("a",)),
        ("chmod 600 a", ("a",)),
        ("rm a", ("a",)),
        ("cat a >b 2>>c", ("b", "c")),
    ],
)
def test_written_paths_are_listed(line: str, writes: tuple[str, ...]) -> None:
    assert analyze_text(line).writes == tuple(f"{SRC}/{name}" for name in writes)


@pytest.mark.parametrize(
    ("line", "reads"), [("cat a b", "ab"), ("grep x a", "a"), ("grep -e x a", "a"), ("cp a b", "a"), ("wc < a", "a")]
)
def test_read_paths_are_listed(line: str, reads: str) -> None:
    assert analyze_text(line).reads == tuple(f"{SRC}/{name}" for name in reads)


def test_moved_and_removed_folders_are_listed() -> None:
    assert analyze_text("mv a b c").removes == (f"{SRC}/a", f"{SRC}/b")
    assert analyze_text("rm -r a").removes == (f"{SRC}/a",)
    assert analyze_text("find a b -delete").removes == (f"{SRC}/a", f"{SRC}/b")
    assert analyze_text("find a -name x -delete").removes == ()


def test_find_exec_gets_the_searched_folders() -> None:
    assert analyze_text("find a -exec rm {} +").lines == ("find a -exec rm {} +", "rm a/*")
    assert analyze_text("find -L a -exec rm {} ';'").lines[-1] == "rm a/*"
    assert find_classes("find $D -delete") == {"destructive_delete", "dynamic"}


@pytest.mark.parametrize("mode", ["777", "o+w", "a+rw", "u+s", "g+s", "2755", "1777", "-R 755"])
def test_wide_permissions_are_classified(mode: str) -> None:
    assert find_classes(f"chmod {mode} a") == {"permissions"}


@pytest.mark.parametrize("mode", ["+x", "755", "u+w", "-x", "go-rwx", "0644"])
def test_narrow_permissions_are_not_classified(mode: str) -> None:
    assert find_classes(f"chmod {mode} a") == set()
