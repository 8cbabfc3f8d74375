import pytest

from tests.unit.policy.policy_requests import find_classes

DELETES = {"destructive_delete", "system_delete"}


@pytest.mark.parametrize(
    "line",
    [
        "docker exec -it -u 0 -w /x c rm -rf /",
        "docker run --rm -e A=b --name n image rm -rf /",
        "podman run i sh -c 'rm -rf /'",
        "docker --context x exec c rm -rf /",
        "docker compose -f f exec s rm -rf /",
        "kubectl -n x exec p -c c -- rm -rf /",
        "kubectl exec p rm -rf /",
        "docker run --entrypoint rm image -rf /",
        "docker exec -i c sh <<X\nrm -rf /\nX",
    ],
)
def test_command_inside_a_container_is_analyzed(line: str) -> None:
    assert find_classes(line) == DELETES


@pytest.mark.parametrize(
    "option", ["--privileged", "-v /:/x", "--pid=host", "-v /var/run/docker.sock:/s", "--cap-add ALL"]
)
def test_container_escapes_are_classified_as_privilege(option: str) -> None:
    assert find_classes(f"docker run {option} image ls") == {"privilege"}


@pytest.mark.parametrize(
    "line",
    [
        "docker rm c",
        "docker image prune",
        "docker compose down",
        "kubectl delete ns x",
        "kubectl -n x scale d --replicas 0",
        "terraform -chdir=x apply",
        "terraform apply -destroy",
        "helm delete x",
        "ansible-playbook p",
        "aws s3 rb s3://b",
        "aws ec2 stop-instances",
        "az group delete",
        "gh release delete v1",
    ],
)
def test_infrastructure_changes_are_classified(line: str) -> None:
    assert find_classes(line) == {"infrastructure"}


@pytest.mark.parametrize(
    "line",
    [
        "docker ps -a",
        "docker compose logs",
        "kubectl describe p",
        "kubectl apply -f x --dry-run=client",
        "terraform plan",
        "helm list",
        "ansible-playbook --check p",
        "aws s3 ls",
        "gh pr view",
        "docker run image ls",
    ],
)
def test_read_only_and_build_commands_have_no_class(line: str) -> None:
    assert find_classes(line) == set()


def test_secrets_of_a_cluster_or_cloud_are_credentials() -> None:
    for line in ("kubectl get secrets", "kubectl get secret/x", "gh auth token", "aws secretsmanager get-secret-value"):
        assert find_classes(line) == {"credential_read"}


@pytest.mark.parametrize(
    "line",
    [
        "aws lambda invoke list",
        "gh workflow run list",
        "gcloud functions call list",
        "npm audit fix",
        "npm version patch",
    ],
)
def test_operand_named_like_a_reading_verb_hides_nothing(line: str) -> None:
    assert find_classes(line) & {"infrastructure", "unknown_effect"} != set()


def test_an_unknown_verb_is_dynamic() -> None:
    assert find_classes("docker $X c") == find_classes("kubectl $X") == {"dynamic"}
