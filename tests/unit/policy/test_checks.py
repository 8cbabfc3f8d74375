import pytest

from termvisor.model.action.action import Attach, Notify, SendKeys, SendText, SetTitle, WriteFile
from termvisor.model.ids import PaneId
from termvisor.policy.checks import format_untrusted_text
from termvisor.policy.evaluator import collect_reasons
from termvisor.policy.policy_file import parse_policy
from termvisor.policy.request import LocalTime, PaneContext
from tests.unit.policy.policy_requests import HOME, make_command_request, make_request

PANE = PaneId(7)


def list_reasons(policy: str, request, check_name: str) -> list[tuple[str, str]]:
    return [(reason.answer, reason.id) for reason in collect_reasons(parse_policy(policy), request)[0][check_name]]


def test_denied_paths_are_neither_read_nor_written() -> None:
    policy = '[filesystem]\ndeny = ["$HOME/Documents/**"]'
    for text in ("cat ~/Documents/a", "cp a ~/Documents", "rm -r $HOME/Documents/x", "cd ~/Documents; cat a"):
        assert ("deny", "filesystem.deny") in list_reasons(policy, make_command_request(text), "deny list")
    assert list_reasons(policy, make_command_request("cat ~/Document"), "deny list") == []


def test_unlisted_path_requires_approval_and_listed_file_is_allowed() -> None:
    policy = '[filesystem]\nwrite = ["$CWD/**"]\nread = ["$CWD/**"]'
    assert list_reasons(policy, make_command_request("echo a > x"), "capabilities") == []
    assert list_reasons(policy, make_command_request("echo a > /tmp/x"), "capabilities") == [
        ("ask", "filesystem.write")
    ]
    assert list_reasons(policy, make_command_request("cat /tmp/x"), "capabilities") == [("ask", "filesystem.read")]
    assert list_reasons(policy, make_command_request("echo a > $F"), "capabilities") == [("ask", "filesystem")]
    assert list_reasons(policy, make_request(WriteFile(path="a", data=b"")), "capabilities") == [
        ("allow", "filesystem.write")
    ]
    assert list_reasons(policy, make_request(WriteFile(path="/a", data=b"")), "capabilities") == [
        ("ask", "filesystem.write")
    ]


@pytest.mark.parametrize(
    "text", ["git push -f --force", "sudo git 'push' --force", "ls\ngit push --force", "g\\it push --force"]
)
def test_a_denied_pattern_matches_through_quotes_and_wrappers(text: str) -> None:
    policy = "[shell]\ndeny_patterns = ['^git push .*--force']"
    spaced = policy.replace(".*--force", ".*--?f")
    assert list_reasons(spaced, make_command_request(text), "deny list") == [("deny", "shell.deny_patterns")]


def test_a_denied_pattern_is_not_found_in_other_text() -> None:
    policy = "[shell]\ndeny_patterns = ['^git push']"
    assert list_reasons(policy, make_command_request("echo git push"), "deny list") == []
    assert list_reasons(policy, make_request(SendText(pane=PANE, text="git push")), "deny list") == []


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("curl https://a.example.org/x", "allow"),
        ("curl https://b.example", "deny"),
        ("curl https://a.example.org https://b.example", "deny"),
        ("curl https://$HOST", "deny"),
        ("ssh me@a.example.org ls", "allow"),
    ],
)
def test_listed_hosts_are_allowed_and_others_get_the_network_mode(text: str, answer: str) -> None:
    policy = '[network]\nmode = "deny"\nallow_hosts = ["*.example.org"]'
    assert list_reasons(policy, make_command_request(text), "commands") == [(answer, "network")]


def test_webhook_counts_as_network_access() -> None:
    policy = '[network]\nmode = "deny"'
    assert list_reasons(policy, make_request(Notify(title="", text="", way="webhook")), "capabilities") == [
        ("deny", "network.mode")
    ]
    assert list_reasons(policy, make_request(Notify(title="", text="")), "capabilities") == []


def test_robot_typing_requires_approval_while_a_person_types_or_without_proof() -> None:
    typing, unclear = PaneContext(is_human_typing=True, is_proven=True), PaneContext(activity="prompt")
    assert list_reasons("", make_command_request("ls", place=typing), "capabilities") == [
        ("ask", "human_typing_override")
    ]
    assert list_reasons("human_typing_override = true", make_command_request("ls", place=typing), "capabilities") == []
    assert list_reasons("", make_command_request("ls", place=unclear), "capabilities") == [("ask", "unproven_prompt")]
    assert list_reasons("unproven_prompt = true", make_command_request("ls", place=unclear), "capabilities") == []
    assert list_reasons("", make_command_request("ls", "human", place=unclear), "capabilities") == []
    assert (
        list_reasons(
            "", make_request(SendText(pane=PANE, text="x"), place=PaneContext(agent="claude_code")), "capabilities"
        )
        == []
    )


def test_protected_pane_asks_people_and_denies_others_except_reading() -> None:
    policy = 'protected = ["session:work"]'
    assert list_reasons(policy, make_command_request("ls", "human"), "protected panes") == [("ask", "session:work")]
    assert list_reasons(policy, make_command_request("ls"), "protected panes") == [("deny", "session:work")]
    assert list_reasons(policy, make_request(Attach(pane=PANE)), "protected panes") == []


def test_quiet_hours_apply_to_robots_and_not_to_people() -> None:
    policy = '[[quiet_hours]]\nfrom = "22:00"\nto = "07:00"\nanswer = "deny"'
    night = LocalTime(0, 23 * 60)
    assert list_reasons(policy, make_command_request("ls", local=night), "quiet hours") == [("deny", "22:00-07:00")]
    assert list_reasons(policy, make_command_request("ls", "human", local=night), "quiet hours") == []
    assert list_reasons(policy, make_command_request("ls", local=LocalTime(0, 12 * 60)), "quiet hours") == []
    assert list_reasons(policy, make_request(Attach(pane=PANE), local=night), "quiet hours") == []


def test_untrusted_text_is_short_printable_and_redacted() -> None:
    assert format_untrusted_text("a\x1b[31m\u202eb") == "a·[31m·b"
    assert len(format_untrusted_text("x" * 1000)) == 80
    assert "hunter2hunter2" not in format_untrusted_text("curl -u me:hunter2hunter2 https://x.example")
    assert format_untrusted_text(f"{HOME}/x") == f"{HOME}/x"


def test_an_action_that_types_nothing_is_not_asked_while_a_person_types() -> None:
    typing = PaneContext(is_human_typing=True, is_proven=True)
    for action, reasons in ((SetTitle(pane=PANE, title="x"), []), (SendKeys(pane=PANE, keys=("x",)), ["ask"])):
        found = list_reasons("", make_request(action, place=typing), "capabilities")
        assert [answer for answer, name in found if name == "human_typing_override"] == reasons
