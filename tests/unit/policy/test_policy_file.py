from pathlib import Path

import pytest

from termvisor.errors import ConfigError
from termvisor.model.action.policy import EXAMPLE_POLICY, Policy
from termvisor.policy.policy_file import MAX_POLICY_CHARS, PathStep, check_policy_file, find_key_line, parse_policy

RULE = '[[rule]]\nid = "a"\nanswer = "ask"\n'


def parse_and_catch_error(text: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        parse_policy(text)
    return caught.value


def test_without_a_file_the_default_policy_is_loaded() -> None:
    assert parse_policy("") == Policy()
    assert (parse_policy("").approval.default, parse_policy("").rates.per_minute, parse_policy("").unproven_prompt) == (
        "ask",
        30,
        False,
    )


def test_the_example_of_the_reference_is_a_valid_policy() -> None:
    policy = parse_policy(EXAMPLE_POLICY)
    assert [rule.id for rule in policy.rules] == ["ci_may_build", "ask_for_production"]
    assert policy.quiet_hours[0].since == "22:00"
    assert policy.hooks[0].timeout == 2.0


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("[aproval]", "policy.toml, line 1: aproval: unknown key 'aproval'", "Did you mean approval?"),
        (f"\n{RULE}{RULE.replace('answer', 'answr')}", "line 7: rule[1].answr: unknown key", "Did you mean answer"),
        (f"{RULE}when = {{ actors = [] }}", "line 4: rule[0].when.actors: unknown key", "Did you mean actor?"),
        ('[approval]\ndefault = "maybe"', "line 2: approval.default: Invalid enum value", "allow | ask | deny"),
        ('[[rule]]\nid = "a"', "line 1: rule[0]: Table missing required field `answer`", "policy.md"),
        (f'{RULE}when = {{ actor = ["x"] }}', "line 4: rule[0].when.actor[0]: Invalid enum value 'x'", "human | robot"),
        ("[rates]\nactors = { robo = 3 }", "line 2: rates.actors: Invalid enum value 'robo'", "per minute"),
        ("[rates]\nactors = { robot = 0 }", "line 2: rates.actors: Expected `int` >= 1", "per minute"),
        ('[commands]\n\ndelet = "ask"', "line 3: commands.delet: unknown command class", "delete"),
        ('[commands]\nunparsed = "allow"', "line 2: commands.unparsed: this class cannot be allowed", "ask or deny"),
        (f'{RULE}when = {{ command = ["x"] }}', "line 4: rule[0].when.command[0]: unknown command class", "policy"),
        (f'{RULE}when = {{ kind = ["send_txt"] }}', "unknown kind of action 'send_txt'", "send_text"),
        ('[[hook]]\nid = "a"\nprogram = ["x"]\nkinds = ["kil"]', "line 4: hook[0].kinds[0]: unknown kind", "kill"),
        ('[[hook]]\nid = "a"\nprogram = []', "line 3: hook[0].program: Expected", "program"),
        (RULE + RULE, "line 5: rule[1].id: 'a' is already the id of another rule", "policy.md"),
        (
            RULE.replace("ask", "deny") + "two_person = true",
            "line 4: rule[0].two_person: requires the answer ask",
            "policy",
        ),
        ('protected = ["sesion:x"]', "line 1: protected[0]: unknown kind of reference 'sesion'", "session"),
        ('protected = ["prod"]', "line 1: protected[0]: 'prod' is neither a pane number nor a glob", "policy.md"),
        ('[shell]\ndeny_patterns = [\n  "(?=x)"\n]', "line 2: shell.deny_patterns[0]: pattern (?=x)", "policy.md"),
        ('[[quiet_hours]]\nfrom = "25:00"\nto = "07:00"', "line 2: quiet_hours[0].from:", "as 22:00"),
        ("[vision]\nmode = 3", "line 2: vision.mode: Expected `str`, got `int`", "allow | ask | deny"),
        ("approval = 3", "line 1: approval: Expected `object`, got `int`", "policy.md"),
        ("a = [", "policy.toml: Invalid value (at end of document)", "policy.md"),
        ("a = " + "[" * 5000, "nested too deeply", "policy.md"),
        ("#" * (MAX_POLICY_CHARS + 1), "more than", "policy.md"),
    ],
)
def test_error_names_line_key_and_hint(text: str, message: str, hint: str) -> None:
    error = parse_and_catch_error(text)
    assert message in error.message
    assert hint in error.hint


def test_error_details_have_key_and_line() -> None:
    assert parse_and_catch_error("\n[shel]").details == {"key": "shel", "line": 2}


def test_valid_file_passes(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text("unproven_prompt = true\n")
    check_policy_file(str(tmp_path / "p.toml"))


@pytest.mark.parametrize("data", [b"nonsense", b"\xff", b"nope = 1"])
def test_invalid_file_is_named_in_the_error(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "p.toml").write_bytes(data)
    with pytest.raises(ConfigError, match=r"p\.toml"):
        check_policy_file(str(tmp_path / "p.toml"))


def test_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        check_policy_file(str(tmp_path / "none.toml"))


TEXT = """\
# a comment
top = 1

[table]
  quoted."key" = '''
not = this
'''
list = [
  "a",
]
[[many]]
id = 1
[[many]]
id = 2
inner = { x = 1, y = { z = 2 } }
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("top",), 2),
        (("table",), 4),
        (("table", "quoted", "key"), 5),
        (("table", "list"), 8),
        (("table", "list", 0), 8),
        (("many",), 11),
        (("many", 1, "id"), 14),
        (("many", 1, "inner", "y", "z"), 15),
        (("not",), None),
        (("many", 2), None),
        (("top", "deeper"), None),
    ],
)
def test_the_line_on_which_a_statement_begins_is_found(path: tuple[PathStep, ...], line: int | None) -> None:
    assert find_key_line(TEXT, path) == line


def test_a_key_on_the_first_line_is_found() -> None:
    assert find_key_line("a = 1", ("a",)) == 1


USERS_FILE = """
[approval]
default = "ask"
[approval.shell]
mode = "ask"
deny_patterns = ["rm -rf /"]
[approval.filesystem]
mode = "ask"
read = ["$CWD/**"]
write = ["$CWD/**", "/tmp/**"]
deny = ["~/.ssh/**"]
[approval.vision]
screenshot = "ask"
ui_tree = "allow"
[approval.audio]
microphone = "deny"
system_audio = "deny"
speech_to_text = "ask"
[approval.ui]
mode = "ask"
allow_apps = ["firefox"]
[approval.network]
mode = "ask"
allow_hosts = ["*.example.org"]
"""


def test_category_tables_may_be_written_below_approval() -> None:
    policy = parse_policy(USERS_FILE)
    assert (policy.shell.deny_patterns, policy.filesystem.mode) == (("rm -rf /",), "ask")
    assert (policy.vision.ui_tree, policy.audio.microphone) == ("allow", "deny")
    assert (policy.ui.allow_apps, policy.network.allow_hosts) == (("firefox",), ("*.example.org",))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[approval.audio]\nmicrophone = 'maybe'\n", "line 2: audio.microphone"),
        ("[approval.shell]\nmod = 'ask'\n", "line 2: shell.mod: unknown key"),
        ("[shell]\nmode = 'ask'\n[approval.shell]\nmode = 'ask'\n", "shell: is also written as [approval.shell]"),
    ],
)
def test_errors_in_category_tables_name_their_line(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse_policy(text)
    assert message in error.value.message
