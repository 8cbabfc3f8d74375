"""Markdown report of a period."""

from termvisor.clock import NS
from termvisor.model.event import Event
from termvisor.model.ids import EpochId, PaneId
from termvisor.model.terminal.command import ShellCommand
from termvisor.model.terminal.output import Gap
from termvisor.ops.history._report import ReportData, TimeRange, render_report
from termvisor.testing.fake_clock import NOON
from termvisor.testing.fake_services import FakeServices, build_shell_facts

KEY = "ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
PANE = PaneId(1)
HOUR = TimeRange(since=NOON, until=NOON + 3600 * NS)


def build_command(line: str, at: int = NOON, code: int | None = 0) -> ShellCommand:
    return ShellCommand(
        pane=PANE, epoch=EpochId(1), line=line, started_at=at, ended_at=at + NS, exit_code=code, start=0, first_line=1
    )


def render_sample(**data: object) -> str:
    known = {"panes": [], "commands": [], "events": [], "gaps": []}
    return render_report(ReportData(**(known | data)), HOUR, NOON)


def test_every_kind_of_data_has_its_table():
    services = FakeServices()
    text = render_sample(
        panes=[services.add_pane(build_shell_facts(command="vim"))],
        commands=[build_command("make test", code=2)],
        events=[Event(at=NOON, kind="pane_appeared", pane=PANE, data={"session": "work"})],
        gaps=[Gap(pane=PANE, cause="link_down", start_at=NOON, detail="ssh")],
    )
    assert text.startswith("# Report from 2026-01-01T12:00:00.000Z to 2026-01-01T13:00:00.000Z")
    assert "1 pane, 1 command (1 failed), 1 event, 1 gap." in text
    assert "| 1 | work | vim |" in text
    assert "| 1 | 2 | 1.0 |  | make test |" in text
    assert "pane\\_appeared session=work" in text
    assert "| open | 1 | link\\_down | ssh |" in text


def test_data_outside_the_period_is_omitted():
    early, late = build_command("early", NOON - 60 * NS), build_command("late", NOON + 7200 * NS)
    text = render_sample(commands=[early, build_command("now"), late], events=[Event(at=NOON - NS, kind="alert")])
    assert "now" in text
    assert "early" not in text
    assert "late" not in text
    assert "alert" not in text


def test_an_empty_section_is_marked_as_none():
    assert render_sample().count("None.") == 4


def test_pane_text_is_escaped_in_its_table_cell():
    text = render_sample(commands=[build_command("a | b\n# title\n<script> \x1b[31m`x` [l](u)")])
    row = next(line for line in text.splitlines() if "script" in line)
    assert row.endswith("| a \\| b # title \\<script\\> \\`x\\` \\[l\\](u) |")


def test_secrets_are_redacted_in_the_report():
    event = Event(at=NOON, kind="alert", data={"what": f"token {KEY}"})
    gap = Gap(pane=PANE, cause="link_down", start_at=NOON, detail=f"by {KEY}")
    text = render_sample(commands=[build_command(f"curl {KEY}")], events=[event], gaps=[gap])
    assert KEY not in text
    assert KEY.replace("_", "\\_") not in text
