"""The manifests name only what there is, and each other; the seccomp profile allows what Chromium needs and no more."""

from __future__ import annotations

import errno
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from services import settings as config
from services.cli import program
from services.domain.task.lane import LANE_QUEUE, LANES, shop_queue
from tests.support import seccomp

DEPLOY = Path(__file__).resolve().parents[3] / "resources" / "deploy"
KUBERNETES = DEPLOY / "kubernetes"
PROFILE = KUBERNETES / "nodes" / "chromium.json"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))


def read(path: Path) -> list[dict[str, Any]]:
    return [one for one in yaml.safe_load_all(path.read_text(encoding="utf-8")) if one]


FOLDERS = {
    folder: read(KUBERNETES / folder / "kustomization.yaml")[0] for folder in ("base", "keda", "nodes", "example")
}
OBJECTS = {
    (one["kind"], one["metadata"]["name"]): one
    for folder, customized in FOLDERS.items()
    for name in customized["resources"]
    if name.endswith(".yaml")
    for one in read(KUBERNETES / folder / name)
}
SERVING = ("fleetdeck-worker", "fleetdeck-leader")


def pod(name: str) -> dict[str, Any]:
    found = OBJECTS["Deployment", name]["spec"]["template"]["spec"]
    assert isinstance(found, dict)
    return found


def container(name: str) -> dict[str, Any]:
    (found,) = pod(name)["containers"]
    assert isinstance(found, dict)
    return found


def servers() -> dict[str, str]:
    """The addresses that the example puts into the Secret."""
    (made,) = FOLDERS["example"]["secretGenerator"]
    assert made["name"] == "fleetdeck-servers"
    return dict(line.split("=", 1) for line in made["literals"])


def named(node: Any, key: str) -> Iterator[str]:
    if isinstance(node, dict):
        yield from ([node[key]] if isinstance(node.get(key), str) else [])
        for value in node.values():
            yield from named(value, key)
    elif isinstance(node, list):
        for value in node:
            yield from named(value, key)


def test_each_file_is_part_of_a_folder_that_can_be_applied() -> None:
    told = {KUBERNETES / folder / name for folder, made in FOLDERS.items() for name in made["resources"]}
    files = {path for path in KUBERNETES.glob("*/*.yaml") if path.name != "kustomization.yaml"}
    assert files == {path for path in told if path.suffix == ".yaml"}
    assert all(path.exists() for path in told)


@pytest.mark.parametrize("folder", ["base", "nodes", "example"])
def test_kustomize_makes_manifests_of_it(folder: str) -> None:
    if shutil.which("kubectl") is None:
        pytest.skip("there is no kubectl here")
    done = subprocess.run(
        ["kubectl", "kustomize", str(KUBERNETES / folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    made = list(yaml.safe_load_all(done.stdout))
    if folder == "example":
        assert {(one["kind"], one["metadata"]["name"]) for one in made} >= OBJECTS.keys() - {
            ("DaemonSet", "fleetdeck-seccomp")
        }
        assert {one["metadata"].get("namespace") for one in made if one["kind"] != "Namespace"} == {"fleetdeck"}


@pytest.mark.parametrize("name", SERVING)
def test_what_a_pod_runs_are_words_of_the_program_and_its_ports_are_asked(name: str) -> None:
    own = container(name)
    found = program.grammar().parse_args(own["args"])
    host, port = found.metrics if own["args"][0] == "worker" else (found.host, found.port)
    assert host == "0.0.0.0", "others reach it: Prometheus, the kubelet"
    assert [one["containerPort"] for one in own["ports"]] == [port]
    path = "/healthz" if own["args"][0] == "worker" else "/"
    probes = [value["httpGet"] for key, value in own.items() if key.endswith("Probe")]
    assert probes
    assert all(probe == {"path": path, "port": own["ports"][0]["name"]} for probe in probes)
    (service,) = [
        one
        for (kind, _), one in OBJECTS.items()
        if kind == "Service" and one["spec"]["selector"]["app.kubernetes.io/name"] == name
    ]
    assert [(one["port"], one["targetPort"]) for one in service["spec"]["ports"]] == [(port, own["ports"][0]["name"])]


@pytest.mark.parametrize("name", SERVING)
def test_what_a_pod_is_given_are_settings(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lines = (KUBERNETES / "base" / "settings.env").read_text(encoding="utf-8").split()
    for variable, value in (dict(line.split("=", 1) for line in lines) | servers()).items():
        monkeypatch.setenv(variable, value)
    settings = config.load(home=tmp_path)
    assert not settings.embedded
    if name == "fleetdeck-worker":
        assert pod(name)["terminationGracePeriodSeconds"] > settings.worker.grace_seconds
        assert settings.worker.node, "pods share the profiles, so they are one node"
    mounts = [one["mountPath"] for one in container(name)["volumeMounts"]]
    for place in (settings.artifacts.place, settings.executors.browser.profiles):
        assert any(place.startswith(f"{mount}/") for mount in mounts if mount.endswith("/shared")), "seen by all"
    claims = set(named(pod(name), "claimName"))
    assert claims == {other for kind, other in OBJECTS if kind == "PersistentVolumeClaim"}
    given = [one.get("secretRef") or one["configMapRef"] for one in container(name)["envFrom"]]
    assert [one["name"] for one in given if not one.get("optional")] == ["fleetdeck", "fleetdeck-servers"]


def test_images_are_the_one_of_the_dockerfile_and_run_as_its_account() -> None:
    uid = int(re.findall(r"--uid (\d+)", (DEPLOY / "Dockerfile").read_text(encoding="utf-8"))[0])
    images = {image for one in OBJECTS.values() for image in named(one, "image")}
    assert images == {COMPOSE["services"]["worker-1"]["image"]}
    for name in SERVING:
        assert pod(name)["securityContext"]["runAsUser"] == uid
        assert container(name)["securityContext"]["capabilities"] == {"drop": ["ALL"]}


def test_who_stands_together_is_selected_and_one_leader_is_always_there() -> None:
    for (kind, name), one in OBJECTS.items():
        if kind in ("Deployment", "DaemonSet"):
            labels = one["spec"]["template"]["metadata"]["labels"]
            assert one["spec"]["selector"]["matchLabels"].items() <= labels.items(), name
        if kind == "PodDisruptionBudget":
            target = OBJECTS["Deployment", name]["spec"]["template"]["metadata"]["labels"]
            assert one["spec"]["selector"]["matchLabels"].items() <= target.items()
    assert OBJECTS["Deployment", "fleetdeck-leader"]["spec"]["replicas"] == 2
    assert OBJECTS["PodDisruptionBudget", "fleetdeck-leader"]["spec"]["minAvailable"] == 1


def test_the_scaler_watches_every_lane_and_the_queues_of_single_shops() -> None:
    spec = OBJECTS["ScaledObject", "fleetdeck-worker"]["spec"]
    assert ("Deployment", spec["scaleTargetRef"]["name"]) in OBJECTS
    rules = [trigger["metadata"] for trigger in spec["triggers"]]
    plain = [one["queueName"] for one in rules if one.get("useRegex") != "true"]
    assert sorted(plain) == sorted(f"{LANE_QUEUE}{lane}" for lane in LANES)
    (shops,) = [one for one in rules if one.get("useRegex") == "true"]
    assert re.search(shops["queueName"], shop_queue("s-1"))
    assert not any(re.search(shops["queueName"], queue) for queue in (*plain, "single_shop_", "x_single_shop_1"))
    assert {one["protocol"] for one in rules} == {"http"}, "depths of queues that match are told by the management"
    (host,) = OBJECTS["TriggerAuthentication", "fleetdeck-broker"]["spec"]["secretTargetRef"]
    assert host["name"] == "fleetdeck-servers"
    assert host["key"] in servers()
    assert {f"/{one['vhostName']}" for one in rules} == {re.findall(r"/\w+$", servers()["FLEETDECK_BROKER__URL"])[0]}


def test_no_password_is_written_down() -> None:
    for value in servers().values():
        assert ":CHANGE-ME@" in value


def test_prometheus_asks_the_services() -> None:
    (document,) = read(KUBERNETES / "prometheus.yaml")
    assert all((KUBERNETES / name).is_file() for name in document["rule_files"])
    workers, api = document["scrape_configs"]
    ports = {name: one["spec"]["ports"][0]["port"] for (kind, name), one in OBJECTS.items() if kind == "Service"}
    (found,) = workers["dns_sd_configs"]
    assert ports[found["names"][0]] == found["port"]
    name, _, port = api["static_configs"][0]["targets"][0].partition(":")
    assert ports[name] == int(port)


def test_workers_run_under_the_profile_that_is_put_on_the_nodes() -> None:
    profile = container("fleetdeck-worker")["securityContext"]["seccompProfile"]
    spec = OBJECTS["DaemonSet", "fleetdeck-seccomp"]["spec"]["template"]["spec"]
    (copy,) = spec["initContainers"]
    mount = next(one["mountPath"] for one in copy["volumeMounts"] if one["name"] == "seccomp")
    assert profile == {"type": "Localhost", "localhostProfile": copy["command"][-1].removeprefix(f"{mount}/")}
    assert FOLDERS["nodes"]["configMapGenerator"][0]["files"] == [PROFILE.name]
    for name in ("worker-1", "worker-2"):
        told = dict(option.split("=", 1) for option in COMPOSE["services"][name]["security_opt"])
        assert DEPLOY / told["seccomp"] == PROFILE


#: what is tried under the profile, and what the kernel says of it
TRIES = {
    "user, pid and net namespaces": ("c.unshare(0x10000000 | 0x20000000 | 0x40000000)", 0),
    "a mount namespace": ("c.unshare(0x20000)", errno.EPERM),
    "a mount namespace within a user namespace": ("c.unshare(0x10000000 | 0x20000)", errno.EPERM),
    "a time namespace": ("c.unshare(0x80)", errno.EPERM),
    "a mount": ('c.mount(b"none", b"/mnt", b"nothing", 0, None)', errno.EPERM),
    "joining a namespace": ("c.setns(0, 0)", errno.EPERM),
    "clone3, whose flags no filter sees": ("c.syscall(435, None, 0)", errno.ENOSYS),
    "a process": ("os.fork() and 0", 0),
}


@pytest.mark.skipif(sys.platform != "linux" or not seccomp.library(), reason="there is no libseccomp here")
@pytest.mark.parametrize("what", list(TRIES))
def test_the_profile_allows_what_the_sandbox_needs_and_no_more(what: str) -> None:
    call, wanted = TRIES[what]
    if wanted == 0 and _exits(call):
        pytest.skip("not allowed here anyhow, as in a chroot")
    assert _exits(call, "-m", "tests.support.seccomp", str(PROFILE), sys.executable) == wanted


def _exits(call: str, *under: str) -> int:
    """What the kernel says of a call in a process of its own: its exit code."""
    begin = "import ctypes, os, sys; c = ctypes.CDLL(None, use_errno=True)"
    code = f"{begin}; r = {call}; sys.exit(ctypes.get_errno() if r else 0)"
    words = [sys.executable, *under, "-S", "-E", "-c", code]
    return subprocess.run(words, cwd=DEPLOY.parents[1], check=False).returncode


def test_the_profile_is_one_for_containerd_too() -> None:
    """It reads no conditions of Docker's own: those would be taken for rules without any."""
    profile = json.loads(PROFILE.read_text(encoding="utf-8"))
    assert profile.keys() == {"defaultAction", "syscalls"}
    for rule in profile["syscalls"]:
        assert rule.keys() <= {"comment", "names", "action", "errnoRet", "args"}
