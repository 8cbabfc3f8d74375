from termvisor.policy.shell import CommandAnalysis, CommandFinding


def test_classes_are_those_of_the_findings() -> None:
    found = CommandAnalysis(findings=(CommandFinding("delete", 0, 4, "rm a"), CommandFinding("delete", 6, 10, "rm b")))
    assert found.classes == {"delete"}
    assert CommandAnalysis().classes == set()
