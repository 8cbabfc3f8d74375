import pytest

from tests.unit.policy.policy_requests import analyze_text, find_classes


@pytest.mark.parametrize(
    "line",
    [
        "push -fu o b",
        "push --force-with-lease=x",
        "push o :b",
        "rebase --onto a b",
        "branch -M a",
        "update-ref -d x",
        "-c color.ui=never push -f",
        "--git-dir=x push -f",
        "tag --delete x",
        "push o --prune",
        "reflog delete x",
    ],
)
def test_history_rewrites_are_classified(line: str) -> None:
    assert find_classes(f"git {line}") == {"history_rewrite"}


@pytest.mark.parametrize(
    "line",
    ["reset --hard", "clean -xdf", "checkout a -- b", "checkout -- .", "restore -SW a", "switch -C a", "stash drop"],
)
def test_discarded_work_is_classified(line: str) -> None:
    assert find_classes(f"git {line}") == {"git_discard"}


@pytest.mark.parametrize(
    "line",
    [
        "push -u o b",
        "push o a:b",
        "rebase --abort",
        "branch -d a",
        "reset a",
        "clean -nfd",
        "checkout -b a o/a",
        "stash",
        "stash list",
        "restore --staged .",
        "reflog",
        "gc",
        "worktree remove a",
        "log -p --",
        "rm --cached a",
    ],
)
def test_everyday_git_commands_have_no_class(line: str) -> None:
    assert find_classes(f"git {line}") == set()


def test_commands_run_by_git_are_analyzed() -> None:
    assert find_classes("git rebase -x 'rm -rf /' main") == {"history_rewrite", "destructive_delete", "system_delete"}
    assert find_classes("git submodule foreach 'rm -rf /'") == {"destructive_delete", "system_delete"}
    assert find_classes("git bisect run rm -rf /") == {"destructive_delete", "system_delete"}
    assert find_classes("git -c core.sshCommand=x fetch") == {"dynamic"}
    assert find_classes("git -c alias.x=status x") == {"unknown_effect"}


def test_hosts_of_git_remotes_are_listed() -> None:
    assert analyze_text("git clone git@a.example:b/c").hosts == ("a.example",)
    assert analyze_text("git fetch https://me:pw@a.example:8443/b").hosts == ("a.example",)
    assert analyze_text("git clone ../other").hosts == ()
