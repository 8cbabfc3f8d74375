from termvisor.policy.shell import Examined, Finding


def test_classes_are_those_of_the_findings() -> None:
    found = Examined(findings=(Finding("delete", 0, 4, "rm a"), Finding("delete", 6, 10, "rm b")))
    assert found.classes == {"delete"}
    assert Examined().classes == set()
