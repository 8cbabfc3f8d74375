import pytest

from termvisor.model.action.action import (
    AnswerAgent,
    Attach,
    Interrupt,
    Notify,
    RunProgram,
    SendKeys,
    SendText,
    SetTitle,
    WriteFile,
)
from termvisor.model.action.approval import VerdictReason
from termvisor.model.ids import PaneId
from termvisor.policy.checks import format_untrusted_text
from termvisor.policy.evaluator import collect_reasons
from termvisor.policy.policy_file import parse_policy
from termvisor.policy.request import HookAnswer, LocalTime, PaneContext
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


def collect(policy: str, request, check_name: str) -> list[VerdictReason]:
    return list(collect_reasons(parse_policy(policy), request)[0][check_name])


def test_each_reason_says_where_it_comes_from_and_why() -> None:
    deny = '[filesystem]\ndeny = ["~/a/**"]\n[shell]\ndeny_patterns = ["^cp "]'
    assert collect(deny, make_command_request("cp ~/a/x ~/.ssh/y"), "deny list") == [
        VerdictReason(
            "deny_list", "never_written", "deny", f"writing to {HOME}/.ssh/y is never allowed (~/.ssh is protected)"
        ),
        VerdictReason("deny_list", "filesystem.deny", "deny", f"{HOME}/a/x is denied: it matches ~/a/**"),
        VerdictReason("deny_list", "shell.deny_patterns", "deny", "the command matches ^cp "),
    ]
    rule = '[[rule]]\nid = "r"\nanswer = "ask"\ntext = "why"'
    assert collect(rule, make_command_request("ls"), "rules") == [VerdictReason("rule", "r", "ask", "why")]
    (delete,) = collect("", make_command_request("rm a"), "commands")
    assert (delete.source, delete.id, delete.answer, delete.text.rpartition(": ")[2]) == (
        ("command", "delete", "ask", "rm a")
    )
    read = '[filesystem]\nread = ["/tmp/**"]'
    assert collect(read, make_command_request("cat a"), "capabilities") == [
        VerdictReason("capability", "filesystem.read", "ask", f"{HOME}/src/a is not in the list")
    ]


@pytest.mark.parametrize(
    ("decision", "answer", "text"),
    [
        ("allow", "allow", "why"),
        ("deny", "deny", "why"),
        ("modify", "deny", "the hook wants another action: why"),
        ("failed", "deny", "the hook gave no answer: why"),
    ],
)
def test_each_answer_of_a_hook_is_a_reason(decision: str, answer: str, text: str) -> None:
    policy = '[[hook]]\nid = "h"\nprogram = ["x"]'
    request = make_command_request("ls", hooks=(HookAnswer("h", decision, "why"),))
    assert collect(policy, request, "hooks") == [VerdictReason("hook", "h", answer, text)]


def test_a_hook_counts_where_it_has_to_run_and_an_answer_counts_anywhere() -> None:
    missing = VerdictReason("hook", "h", "deny", "the hook gave no answer: the hook was not run")
    request = make_command_request("ls")
    for fields, reasons in (("", [missing]), ('kinds = ["send_text"]', [missing]), ('kinds = ["kill"]', [])):
        assert collect(f'[[hook]]\nid = "h"\nprogram = ["x"]\n{fields}', request, "hooks") == reasons
    assert collect('[[hook]]\nid = "h"\nprogram = ["x"]\nruns = "after"', request, "hooks") == []
    answered = make_command_request("ls", hooks=(HookAnswer("other", "deny", "no"),))
    assert collect("", answered, "hooks") == [VerdictReason("hook", "other", "deny", "no")]


@pytest.mark.parametrize(
    ("place", "is_asked"),
    [
        (PaneContext(), True),
        (PaneContext(is_proven=True), False),
        (PaneContext(activity="prompt"), True),
        (PaneContext(activity="prompt", is_shell=True), True),
        (PaneContext(activity="prompt", is_shell=True, is_proven=True), False),
        (PaneContext(activity="command", is_shell=True, is_proven=True), True),
        (PaneContext(activity="alt_screen", is_shell=True), True),
        (PaneContext(activity="alt_screen"), False),
        (PaneContext(activity="command"), False),
        (PaneContext(agent="codex"), False),
    ],
)
def test_what_a_pane_is_doing_must_be_known(place: PaneContext, is_asked: bool) -> None:
    request = make_request(SendText(pane=PANE, text="x"), place=place)
    expected = [("ask", "unproven_prompt")] if is_asked else []
    assert list_reasons("", request, "capabilities") == expected


CODE = ("ast-grep", "run", "--json=compact", "--pattern", "parse_rule", "--", "/home/me/project")
USAGE = ("caut", "refresh", "--service", "openai", "--format", "json")


@pytest.mark.parametrize(
    ("action", "reasons"),
    [
        (RunProgram(argv=USAGE), [("deny", "network.mode")]),
        (RunProgram(argv=CODE), []),
        (RunProgram(argv=("frob",)), []),
        (Notify(title="", text="", way="webhook"), [("deny", "network.mode")]),
        (Interrupt(pane=PANE, agent="codex"), []),
    ],
    ids=["read-only with network", "read-only", "other program", "webhook", "other action"],
)
def test_the_network_mode_applies_to_actions_that_reach_other_machines(action, reasons) -> None:
    place = PaneContext(is_proven=True)
    assert list_reasons('[network]\nmode = "deny"', make_request(action, place=place), "capabilities") == reasons


@pytest.mark.parametrize(
    ("policy", "text", "answer"),
    [
        ("", "curl x.example", "ask"),
        ('[network]\nallow_hosts = ["x.example"]', "curl x.example", "allow"),
        ('[network]\nallow_hosts = ["x.example"]', "curl x.example; ssh", "allow"),
        ('[network]\nallow_hosts = ["y.example"]', "curl x.example", "ask"),
        ('[network]\nmode = "allow"', "curl x.example", "allow"),
        ('[network]\nallow_hosts = ["*"]\n[commands]\nnetwork = "deny"', "curl x.example", "deny"),
        ('[network]\nallow_hosts = ["*"]\n[commands]\nnetwork = "deny"', "sudo ls", "ask"),
    ],
)
def test_the_answer_for_the_network_depends_on_hosts_mode_and_class(policy: str, text: str, answer: str) -> None:
    ((found, _),) = list_reasons(policy, make_command_request(text), "commands")[:1]
    assert found == answer


@pytest.mark.parametrize(
    ("fields", "text", "reasons"),
    [
        ('mode = "allow"', "touch /srv/x", []),
        ('mode = "deny"', "touch /srv/x", [("deny", "filesystem.write")]),
        ('mode = "deny"', "ls", []),
        ('mode = "deny"\nwrite = ["/srv/**"]', "touch /srv/x", []),
        ('mode = "allow"\nwrite = ["/tmp/**"]', "touch /srv/x", []),
        ('deny = ["/x"]', "touch $X", [("ask", "filesystem")]),
        ('write = ["**"]', "touch $X", [("ask", "filesystem")]),
        ('read = ["**"]', "touch $X", []),
    ],
)
def test_the_filesystem_table_applies_to_paths(fields: str, text: str, reasons) -> None:
    assert list_reasons(f"[filesystem]\n{fields}", make_command_request(text), "capabilities") == reasons


def test_the_shell_mode_applies_to_command_lines_only() -> None:
    policy = '[shell]\nmode = "deny"'
    assert list_reasons(policy, make_command_request("ls"), "capabilities") == [("deny", "shell.mode")]
    assert list_reasons(policy, make_request(SendText(pane=PANE, text="ls")), "capabilities") == []


def test_the_files_of_a_permission_request_are_checked() -> None:
    write = AnswerAgent(agent="codex", tool="Edit", request="r", writes=("a", "~/.ssh/x"))
    assert list_reasons("", make_request(write, "agent"), "deny list") == [("deny", "never_written")]
    policy = '[filesystem]\nwrite = ["~/**"]'
    assert list_reasons(policy, make_request(write, "agent"), "capabilities") == []


def test_text_that_cannot_be_encoded_is_compared_with_denied_patterns() -> None:
    policy = "[shell]\ndeny_patterns = ['^git push']"
    assert list_reasons(policy, make_command_request("git push \ud800"), "deny list") == [
        ("deny", "shell.deny_patterns")
    ]
