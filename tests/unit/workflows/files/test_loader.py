"""Loading workflow files, and errors with line numbers."""

import pytest

from termvisor.errors import ConfigError
from termvisor.workflows.files.loader import WorkflowFileParser, load_workflow_file
from termvisor.workflows.files.source_file import parse_source
from termvisor.workflows.workflow import Trigger

EXAMPLE = """\
name: custom_compaction_prompt
trigger: {event: session.compaction, agent: claude_code}
steps: [{wait_stable: 2s}, {send: "Please re-read AGENTS.md …"}, {wait_for: "❯"}]
"""
FULL = """\
name: full
summary: Everything once.
mode: off
priority: 7
timeout: 10m
recheck: false
trigger:
  event: [usage.reached, usage.warning]
  agent: codex
  rule: codex.*
  severity: warning
  fresh_for: 1h
steps:
  - wait_stable: {for: 2s, timeout: 1m}
  - wait_for: {state: [idle, completed], timeout: 5m}
  - wait_for: {pattern: "^ok", timeout: 90}
  - wait_for: {signal: go}
  - wait_for: {prompt: true}
  - send: {text: "/compact", enter: false}
  - keys: Escape C-c
  - ask: {question: "Go on until {{ resets_at }}?", choices: [go, stop], expires: 1h, goes_on: true}
  - branch:
      if: {answer: go}
      then: [{notify: {title: hi, text: "{{ resets_at }}"}}]
      else:
        - run: make -C "my dir" test
  - run: {command: [make, test], cwd: /tmp}
  - sleep: 5s
  - note: done
"""
TOML = """\
name = "other"
[[steps]]
send = "make"
[[steps]]
wait_for = { text = "done" }
"""


def read(text: str, file: str = "w.yaml"):
    return WorkflowFileParser(parse_source(file, text)).parse_workflow()


def test_the_example_of_the_guide_is_parsed():
    found = read(EXAMPLE)
    assert (found.name, found.mode, found.trigger.events) == (
        "custom_compaction_prompt",
        "ask",
        ("session.compaction",),
    )
    assert found.trigger.agents == ("claude_code",)
    assert [step.split()[0] for step in found.steps] == ["wait_stable", "send", "wait_for"]


def test_every_key_of_a_file_is_parsed():
    found = read(FULL)
    assert (found.mode, found.priority, found.timeout) == ("off", 7, 600.0)
    assert found.trigger == Trigger(
        events=("usage.reached", "usage.warning"),
        agents=("codex",),
        rules=("codex.*",),
        severity="warning",
        fresh_for=3600.0,
    )
    assert [(one.kind, one.word, one.place) for one in found.names] == [
        ("event", "usage.reached", "w.yaml:8"),
        ("event", "usage.warning", "w.yaml:8"),
        ("agent", "codex", "w.yaml:9"),
        ("rule", "codex.*", "w.yaml:10"),
    ]
    assert len(found.steps) == 12
    assert '"command":["make","-C","my dir","test"]' in found.steps[8]


def test_toml_gives_the_same_workflow():
    assert [step.split()[0] for step in read(TOML, "w.toml").steps] == ["send", "wait_for"]


def test_the_version_depends_on_the_content_only():
    assert read(EXAMPLE).version == read(EXAMPLE + "# a comment\n").version
    assert read(EXAMPLE).version != read(EXAMPLE.replace("2s", "3s")).version


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "name: x\nsteps:\n  - send: a\n  - wait_stabel: 2s\n",
            "w.yaml:4: unknown step 'wait_stabel'; did you",
        ),
        ("name: x\nsteps:\n  - zzz: 2s\n", "w.yaml:3: unknown step 'zzz'; expected one of: wait_stable"),
        ("name: x\n", "w.yaml:1: `steps` is missing"),
        ("steps: [{send: a}]\n", "w.yaml:1: `name` is missing"),
        ("name: X Y\nsteps: [{send: a}]\n", "w.yaml:1: a name has lower-case letters"),
        ("name: x\nsteps: []\n", "w.yaml:2: a list of steps is required here"),
        ("name: x\nsteps:\n  - send: a\n    keys: b\n", "w.yaml:3: a step is one name"),
        ("name: x\ntriger: {}\nsteps: [{send: a}]\n", "w.yaml:2: unknown name 'triger'; did you mean trigger?"),
        ("name: x\ntrigger: {agent: a}\nsteps: [{send: a}]\n", "w.yaml:2: `event` is missing"),
        ("name: x\nsteps:\n  - wait_stable: soon\n", "w.yaml:3: not a duration: 'soon'"),
        ("name: x\nsteps:\n  - wait_stable: 99d\n", "w.yaml:3: a duration must be more than 0 and at most a week"),
        ("name: x\nsteps:\n  - wait_for: {text: a, prompt: true}\n", "w.yaml:3: wait for exactly one of"),
        ("name: x\nsteps:\n  - wait_for: {state: idel}\n", "w.yaml:3: unknown state 'idel'; did you mean idle?"),
        ("name: x\nsteps:\n  - wait_for: {pattern: '(?=a)'}\n", "w.yaml:3: pattern expression is not supported"),
        ("name: x\nsteps:\n  - send: 'rm {{ file }}'\n", "w.yaml:3: captures are allowed in ask, notify and note"),
        ("name: x\nsteps:\n  - run: 'a \"'\n", "w.yaml:3: not a command line"),
        ("name: x\nsteps:\n  - branch: {then: [{send: a}]}\n", "w.yaml:3: a branch has `if` and `then`"),
        ("name: x\nsteps:\n  - branch: {if: {}, then: [{send: a}]}\n", "w.yaml:3: a condition needs at least one of"),
        (
            "name: x\nsteps:\n  - ask: {question: a, choices: [b]}\n",
            "w.yaml:3: at least two different choices are required",
        ),
        (
            "name: x\nmode: maybe\nsteps: [{send: a}]\n",
            "w.yaml:2: unknown value 'maybe'; expected one of: off, ask, on",
        ),
        ("name: x\nsteps:\n  - send: [a]\n", "w.yaml:3: a text is required here"),
        ("name: x\npriority: high\nsteps: [{send: a}]\n", "w.yaml:2: a number is required here"),
        ("", "w.yaml:1: the file is empty; allowed names: name, summary"),
        ("name: x\nsteps:\n  - keys: Ctrl-C\n", "w.yaml:3: unknown key 'Ctrl-C'; did you mean C-c?"),
        ("name: x\nsteps:\n  - keys: [Up, Entr]\n", "w.yaml:3: unknown key 'Entr'; did you mean Enter?"),
        ("name: x\nsteps:\n  - keys: escape\n", "w.yaml:3: unknown key 'escape'; did you mean Escape?"),
        ("name: x\nsteps:\n  - keys: '  '\n", "w.yaml:3: name at least one key"),
        ("name: x\nsteps:\n  - keys: []\n", "w.yaml:3: name at least one key"),
        ("name: x\nsteps:\n  - run: []\n", "w.yaml:3: a command is required here"),
        ("name: x\nsteps:\n  - run: {command: ls, cwd: src}\n", "w.yaml:3: an absolute path is required"),
        ("name: x\nsteps:\n  - wait_for: {prompt: false}\n", "w.yaml:3: `prompt: true` waits for a shell prompt"),
        (
            "name: x\nsteps:\n  - ask: {question: a, choices: [yes, no]}\n",
            "w.yaml:3: a text is required here: quote it",
        ),
        ("name: x\nsteps:\n  - note:\n", "w.yaml:3: a text is required here"),
        (
            "name: x\nsteps:\n  - ask: ok?\n  - branch:\n      if: {answer: yse}\n      then: [{note: a}]\n",
            "w.yaml:5: unknown choice 'yse'; did you mean yes?",
        ),
        (
            "name: x\nsteps:\n  - branch: {if: {answer: maybe}, then: [{note: a}]}\n  - ask: ok?\n",
            "w.yaml:3: there is no `ask` before it",
        ),
        ("- a\n", "w.yaml:1: a mapping is required here"),
        ("name: x\nsteps: [{send: a\n", "w.yaml:3: invalid YAML: while parsing a flow mapping"),
        ("name: &a x\nsteps: [{send: *a}]\n", "w.yaml:1: aliases and deep nesting are not supported"),
        ("name: x\nname: y\n", "w.yaml:2: duplicate name name"),
    ],
)
def test_an_error_names_file_and_line(text, expected):
    with pytest.raises(ConfigError) as error:
        read(text)
    assert expected in error.value.message


def test_an_error_in_toml_names_the_line_of_the_step():
    with pytest.raises(ConfigError, match=r"w.toml:5: unknown step 'sned'"):
        read(TOML.replace("wait_for = ", "sned = "), "w.toml")


def test_an_unreadable_file_is_an_error(tmp_path):
    with pytest.raises(ConfigError, match="No such file"):
        load_workflow_file(str(tmp_path / "none.yaml"))


def test_a_file_with_too_many_steps_is_rejected():
    with pytest.raises(ConfigError, match="at most 200 steps"):
        read("name: x\nsteps:\n" + "  - send: a\n" * 201)


def test_references_of_a_file_have_their_location():
    text = "name: x\ntrigger:\n  event: [a.b, c.d]\n  agent: codex\nsteps:\n  - wait_for: {rule: e.f}\n"
    found = read(f"{text}  - branch: {{if: {{agent: toy}}, then: [{{note: a}}]}}\n")
    assert [(one.kind, one.word, one.place) for one in found.names] == [
        ("rule", "e.f", "w.yaml:6"),
        ("agent", "toy", "w.yaml:7"),
        ("event", "a.b", "w.yaml:3"),
        ("event", "c.d", "w.yaml:3"),
        ("agent", "codex", "w.yaml:4"),
    ]


def test_the_default_summary_lists_the_steps():
    assert read(EXAMPLE).summary == "wait_stable, send, wait_for"


def test_every_step_of_a_file_is_parsed_completely():
    assert (read(FULL).name, read(FULL).summary, read(FULL).origin) == ("full", "Everything once.", "w.yaml")
    assert read(FULL).steps == (
        'wait_stable {"seconds":2.0,"timeout":60.0}',
        'wait_for {"what":{"type":"wait_for","state":["completed","idle"],"timeout":300.0}}',
        'wait_for {"what":{"type":"wait_for","pattern":"^ok","timeout":90.0}}',
        'wait_for {"what":{"type":"wait_for","signal":"go","timeout":30.0}}',
        'wait_for {"what":{"type":"wait_for","prompt":true,"timeout":30.0}}',
        'send {"text":"/compact","enter":false}',
        'keys {"keys":["Escape","C-c"]}',
        'ask {"question":"Go on until {{ resets_at }}?","choices":["go","stop"],"expires":3600.0,"goes_on":true}',
        'branch {"condition":{"answer":"go"},"then":[{"type":"notify","text":"{{ resets_at }}","title":"hi"}],'
        '"otherwise":[{"type":"run","command":["make","-C","my dir","test"]}]}',
        'run {"command":["make","test"],"cwd":"/tmp"}',
        'sleep {"seconds":5.0}',
        'note {"text":"done"}',
    )


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ("wait_stable: 2s", 'wait_stable {"seconds":2.0}'),
        ("wait_stable: {for: 2s}", 'wait_stable {"seconds":2.0,"timeout":600.0}'),
        ("wait_for: ready", 'wait_for {"what":{"type":"wait_for","text":"ready"}}'),
        ("wait_for: {quiet: 5s}", 'wait_for {"what":{"type":"wait_for","quiet":5.0,"timeout":30.0}}'),
        ("wait_for: {rule: a.b}", 'wait_for {"what":{"type":"wait_for","rule":"a.b","timeout":30.0}}'),
        ("wait_for: {text: a, timeout: 5}", 'wait_for {"what":{"type":"wait_for","text":"a","timeout":5.0}}'),
        ("send: {text: a}", 'send {"text":"a"}'),
        ("keys: [Up, C-c Enter]", 'keys {"keys":["Up","C-c","Enter"]}'),
        ("ask: ok?", 'ask {"question":"ok?"}'),
        ("ask: {question: ok}", 'ask {"question":"ok","choices":["yes","no"],"expires":600.0}'),
        ("ask: {question: ok, goes_on: false}", 'ask {"question":"ok","choices":["yes","no"],"expires":600.0}'),
        ("notify: a", 'notify {"text":"a"}'),
        ("notify: {text: a}", 'notify {"text":"a"}'),
        ("run: ls -l", 'run {"command":["ls","-l"]}'),
        ("run: {command: ls}", 'run {"command":["ls"]}'),
        (
            "branch: {if: {text: a, pattern: b, state: idle, agent: c}, then: [{note: d}]}",
            'branch {"condition":{"text":"a","pattern":"b","state":["idle"],"agent":"c"},'
            '"then":[{"type":"note","text":"d"}]}',
        ),
    ],
)
def test_a_step_has_its_defaults(step, expected):
    assert read(f"name: x\nsteps:\n  - {step}\n").steps == (expected,)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("steps:\n  - wait_stable: {timeout: 2s}\n", "w.yaml:3: `for` is missing"),
        ("steps:\n  - send: {enter: true}\n", "w.yaml:3: `text` is missing"),
        ("steps:\n  - ask: {expires: 1s}\n", "w.yaml:3: `question` is missing"),
        ("steps:\n  - notify: {title: a}\n", "w.yaml:3: `text` is missing"),
        ("steps:\n  - run: {cwd: /tmp}\n", "w.yaml:3: `command` is missing"),
        ("steps:\n  - run: {command: [ls, 3]}\n", "w.yaml:3: a text is required here: quote it"),
        ("steps:\n  - run: {command: 'a {{ b }}'}\n", "w.yaml:3: captures are allowed"),
        ("steps:\n  - run: {command: ls, cwd: '/{{ b }}'}\n", "w.yaml:3: captures are allowed"),
        ("steps:\n  - run:\n      command: ls\n      cwd: src\n", "w.yaml:5: an absolute path is required"),
        ("steps:\n  - run: ''\n", "w.yaml:3: a text is required here"),
        ("steps:\n  - run: ' '\n", "w.yaml:3: a command is required here"),
        ("steps:\n  - ask: {question: a, choices: [b, c, b]}\n", "w.yaml:3: at least two different choices"),
        ("steps:\n  - ask: {question: a, goes_on: 1}\n", "w.yaml:3: true or false is required here, not 1"),
        ("steps:\n  - branch: {if: {text: a}}\n", "w.yaml:3: a branch has `if` and `then`"),
        ("steps:\n  - branch: {if: {text: a}, then: []}\n", "w.yaml:3: a list of steps is required here"),
        ("steps:\n  - branch: {if: {rule: a}, then: [{note: a}]}\n", "w.yaml:3: unknown name 'rule'"),
        ("steps: {send: a}\n", "w.yaml:2: a list of steps is required here"),
        ("steps: [a]\n", "w.yaml:2: a step is one name with its value"),
        ("steps:\n  - wait_for: {}\n", "w.yaml:3: wait for exactly one of text, pattern, state, rule, prompt,"),
        ("steps:\n  - wait_stable: 0\n", "w.yaml:3: a duration must be more than 0 and at most a week"),
        ("steps:\n  - wait_stable: true\n", "w.yaml:3: "),
        ("steps:\n  - wait_stable: []\n", "w.yaml:3: "),
        ("steps: [{note: a}]\nrecheck: 1\n", "w.yaml:3: true or false is required here, not 1"),
        ("steps: [{note: a}]\npriority: true\n", "w.yaml:3: a number is required here, not True"),
        ("steps: [{note: a}]\ntrigger: a\n", "w.yaml:3: a mapping is required here: event, agent, rule"),
        ("steps: [{note: a}]\ntrigger: {event: a, severity: on}\n", "w.yaml:3: unknown value 'True'"),
        ("steps: [{note: a}]\ntrigger: {event: a, severity: off}\n", "w.yaml:3: unknown value 'False'"),
        ("steps: [{note: a}]\ntrigger: {event: a, severity: bad}\n", "w.yaml:3: unknown value 'bad'"),
    ],
)
def test_a_mistake_in_a_step_or_option_names_its_line(text, expected):
    with pytest.raises(ConfigError) as error:
        read(f"name: x\n{text}")
    assert expected in error.value.message
    assert error.value.hint.startswith("`visor workflow list` shows the errors")


@pytest.mark.parametrize(("word", "mode"), [("on", "on"), ("off", "off"), ("ask", "ask"), ("'off'", "off")])
def test_a_mode_may_be_a_yaml_truth_value(word, mode):
    assert read(f"name: x\nmode: {word}\nsteps: [{{note: a}}]\n").mode == mode


def test_a_file_without_options_has_the_defaults():
    found = read("name: x\nsteps: [{note: a}]\n")
    assert (found.mode, found.priority, found.timeout, found.trigger) == ("ask", 50, 3600.0, Trigger())
    assert read("name: x\ntrigger: {event: a}\nsteps: [{note: a}]\n").trigger == Trigger(events=("a",))


def test_a_file_may_have_200_steps():
    assert len(read("name: x\nsteps:\n" + "  - note: a\n" * 200).steps) == 200
