"""Containers, clusters and clouds: what runs inside them, and what removes or changes them."""

import re

from msgspec.structs import replace

from termvisor.policy.shell import getopt as options
from termvisor.policy.shell.call import Call
from termvisor.policy.shell.effect import NOTHING, Effect, Look, plus
from termvisor.policy.shell.word import Word

_CHANGE = Effect(classes=("infrastructure",))
_ENGINE = "-H -c -l --host --context --config --log-level -f --file -p --project-name --project-directory --env-file"
_RUN = "-e -v -w -u -p -h -l -m -a --env --env-file --volume --workdir --user --publish --name --network --net --mount"
_RUN += " --entrypoint --cpus --memory --label --device --add-host --hostname --platform --restart --pull --detach-keys"
_RUN += " --cap-add --security-opt --gpus --shm-size --ulimit --dns --index --tmpfs --pid --ipc"
_CLUSTER = "-n -c --namespace --context --kubeconfig --container -f --filename -l --selector -o --output --cluster"
_REMOVES = ("rm", "rmi", "prune", "kill", "remove", "stop", "restart", "pause", "down")
_KUBE = "delete apply drain cordon scale replace patch edit create rollout set taint label annotate uncordon expose"
_VERBS: dict[str, str] = {
    "terraform": "destroy apply import taint untaint state force-unlock",
    "tofu": "destroy apply import taint untaint state force-unlock",
    "terragrunt": "destroy apply run-all",
    "pulumi": "destroy up refresh cancel",
    "helm": "uninstall delete install upgrade rollback",
    "ansible-playbook": "",
    "vagrant": "destroy halt up",
    "heroku": "apps:destroy pg:reset ps:scale",
    "fly": "destroy deploy apps",
    "vercel": "rm remove deploy",
    "virsh": "destroy undefine shutdown",
}
_CLOUD = re.compile(r"^(?:delete|terminate|remove|rm|rb|destroy|purge|stop|deregister|detach|revoke|put|update)(?:-|$)")
_NARROW = ("-v", "--volume", "--mount")


def _engine(call: Call) -> Effect:
    """docker, podman: what stands behind the container or image is the program that runs inside."""
    found = options.read(call.arguments, _ENGINE, is_prefix=True)
    words = list(found.rest)
    if words and words[0].text in (
        "compose",
        "container",
        "image",
        "volume",
        "network",
        "system",
        "builder",
        "machine",
    ):
        words = list(options.read(words[1:], _ENGINE, is_prefix=True).rest)
    if not words:
        return NOTHING
    if not words[0].is_known:
        return Effect(classes=("dynamic",))
    verb, rest = words[0].text, tuple(words[1:])
    if verb in ("exec", "run"):
        return _inside(call, rest)
    return _CHANGE if verb in _REMOVES else NOTHING


def _inside(call: Call, words: tuple[Word, ...]) -> Effect:
    found = options.read(words, _RUN, is_prefix=True)
    inner = found.rest[1:]
    entry = found.value("--entrypoint")
    inner = (entry, *inner) if entry else inner
    opens = found.has("--privileged", "--cap-add") or any(
        one.text.startswith(("/:", "/var/run/docker.sock", "type=bind,source=/,", "~:", "/etc:", "/root:"))
        for one in found.every(*_NARROW)
    )
    opens = opens or any(one.text == "host" for one in found.every("--pid", "--ipc"))
    classes = ("privilege",) if opens else ()
    return Effect(classes=classes, calls=(replace(call, words=inner),) if inner else ())


def _cluster(call: Call) -> Effect:
    texts = [word.text for word in call.arguments]
    found = options.read(call.arguments, _CLUSTER, is_prefix=True)
    verb = found.rest[0].text if found.rest else ""
    if found.rest and not found.rest[0].is_known:
        return Effect(classes=("dynamic",))
    secret = Effect(classes=("credential_read",)) if verb == "get" and _names_secret(texts) else NOTHING
    if verb in ("exec", "run", "debug"):
        cut = texts.index("--") + 1 if "--" in texts else len(texts)
        inner = call.arguments[cut:] or _behind_pod(found.rest[1:])
        return Effect(calls=(replace(call, words=tuple(inner)),) if inner else ())
    return plus(secret, _CHANGE if verb in _KUBE.split() and "--dry-run=client" not in texts else NOTHING)


def _behind_pod(words: tuple[Word, ...]) -> tuple[Word, ...]:
    return options.read(words, _CLUSTER, is_prefix=True).rest[1:]


def _names_secret(texts: list[str]) -> bool:
    return any(text.partition("/")[0] in ("secret", "secrets") for text in texts)


def _verbs(call: Call) -> Effect:
    words = options.read(call.arguments, "-chdir -n -s --namespace --stack").operands
    verb = words[0].text if words else ""
    if call.name == "ansible-playbook":
        return _CHANGE if "--check" not in [word.text for word in call.arguments] else NOTHING
    is_flag = call.name in ("terraform", "tofu") and any("destroy" in word.text for word in call.arguments)
    return _CHANGE if verb in _VERBS[call.name].split() or is_flag else NOTHING


def _cloud(call: Call) -> Effect:
    """aws, gcloud, az, gh, doctl: a verb that removes or changes stands among the first words."""
    words = [word.text for word in options.read(call.arguments, "--profile --region --project -R --repo").operands]
    secret = Effect(classes=("credential_read",)) if _TOKENS.search(" ".join(words[:4])) else NOTHING
    is_gist = call.name == "gh" and words[:2] == ["gist", "create"]
    away = Effect(classes=("network_exfiltration",)) if is_gist else NOTHING
    return plus(secret, away, _CHANGE if any(_CLOUD.match(word) for word in words[:5]) else NOTHING)


_TOKENS = re.compile(
    r"^(?:auth token|auth print-|auth application-default print-|secrets? (?:versions )?access|account get-access-token"
    r"|secretsmanager get-secret|ssm get-parameter|configure get|keyvault secret show|sts get-session)"
)

LOOKS: dict[str, Look] = {}
LOOKS |= dict.fromkeys(("docker", "podman", "nerdctl", "docker-compose", "lxc"), _engine)
LOOKS |= dict.fromkeys(("kubectl", "oc", "k", "k3s", "microk8s"), _cluster) | dict.fromkeys(_VERBS, _verbs)
LOOKS |= dict.fromkeys(("aws", "gcloud", "az", "gh", "glab", "doctl", "hcloud", "linode-cli", "oci"), _cloud)
