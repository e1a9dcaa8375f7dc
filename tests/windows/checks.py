"""What is tried on it: each a function that answers with what it saw, or fails."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path, PureWindowsPath
from typing import Any

from tests.support.listed import Check, Failed
from tests.windows import installer, laid, shims
from tests.windows.machine import Machine

_PYTHON = r"C:\python\python.exe"
#: where the setup puts the program of the only person in the prefix
_PROGRAM = PureWindowsPath("C:/users/root/AppData/Local/Programs/Fleetdeck")
_SIGN = laid.ROOT / "resources" / "deploy" / "windows" / "sign"
_LINKS = r"Software\Classes\fleetdeck\shell\open\command"
_OPENSSL = (
    *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=Fleetdeck test"),
    *("-addext", "extendedKeyUsage=codeSigning"),
)
_DESKTOP = """
from services.desktop.registration import NOTHING, WINDOW, WORKER, Registered, Registration
from services.settings import default_home
desktop = Registration(default_home(), "local")
for kind in (WINDOW, WORKER):
    desktop.start_at_login(kind)
    assert desktop.look().login == kind, desktop.look()
desktop.open_links(True)
assert desktop.look().links, desktop.look()
desktop.open_links(False)
desktop.start_at_login(NOTHING)
assert desktop.look() == Registered(), desktop.look()
print("written, read and taken back")
"""
_HOME, _NAME = r"C:\fleet", "旗舰店"
#: a flow that tells what it was given, and how it is written in a worker's configuration
_FLOW = "import json, sys; print(json.dumps({'result': json.loads(sys.argv[1])}))"
_CONFIG = f"""
[executors.rpa]
command = ['C:\\python\\python.exe', '-c', "{_FLOW}", '{{param}}']
"""
_ORDER = ("--type", "sync_order", "--shop", "pdd:s1", "--payload", '{"since": "2026-11-20"}')
_KEYRING = """
import keyring
from services.vault import SERVICE, Vault
print(type(keyring.get_keyring()).__name__)
keyring.set_password(SERVICE, "pdd:s1/password", "旗舰店 ✓")
assert Vault({}).find("pdd", "s1", "password") == "旗舰店 ✓"
keyring.delete_password(SERVICE, "pdd:s1/password")
"""


def _main(machine: Machine, *words: str, **options: Any) -> str:
    return _run(machine, _PYTHON, "main.py", *words, **options)


def _run(machine: Machine, *words: str, home: str = _HOME, **options: Any) -> str:
    answer = machine.run(*words, environment={"FLEETDECK_HOME": home}, **options)
    if answer.code:
        raise Failed(f"{' '.join(words)} ended with {answer.code}:\n{answer.text[-2000:]}")
    return answer.text


def _json(text: str) -> Any:
    try:
        return json.loads(text[text.index("{") :])
    except ValueError as exc:
        raise Failed(f"no JSON: {text[-500:]}") from exc


def _help(machine: Machine, _out: Path) -> str:
    told = _main(machine, "--help")
    if "COMMAND" not in told or "worker" not in told:
        raise Failed(told[-500:])
    return _main(machine, "--version").strip()


def _worker(machine: Machine, _out: Path) -> str:
    _fresh_home(machine, "fleet")
    payload = json.dumps({"name": _NAME}, ensure_ascii=False)
    for number in range(3):
        words = ("--type", "sync_order", "--shop", f"pdd:s{number}", "--payload", payload)
        _main(machine, "task", "create", *words)
    _main(machine, "worker", "--drain", "--slots", "2")
    tasks = _json(_main(machine, "task", "list", "--json"))["tasks"]
    if [task["status"] for task in tasks] != ["succeeded"] * 3:
        raise Failed(str(tasks)[:2000])
    shown = _main(machine, "task", "show", tasks[0]["task_id"], "--json")
    if _NAME not in shown:
        raise Failed(f"{_NAME} is not in {shown[:2000]}")
    return "3 tasks succeeded; the name of a shop came back as it went"


def _fresh_home(machine: Machine, name: str) -> Path:
    home = machine.drive / name
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    (home / "config.toml").write_text(_CONFIG, encoding="utf-8")
    return home


def _demo(machine: Machine, _out: Path) -> str:
    told = _main(machine, "demo", "--json", "--seconds", "30", "--shops", "10", home=r"C:\demo", timeout_s=420)
    report = _json(told)
    if not report["ok"]:
        raise Failed(told[-2000:])
    return f"{report['created']} tasks, {report['processes']} processes; records, events and orders agree"


def _tests(*paths: str) -> Callable[[Machine, Path], str]:
    def run(machine: Machine, _out: Path) -> str:
        words = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--timeout=300", *paths)
        answer = machine.python(*words, "-k", "not redis and not rabbit", timeout_s=1200)
        if answer.code:
            raise Failed("\n".join(line for line in answer.text.splitlines() if line.startswith(("FAILED", "E  "))))
        return answer.text.strip().splitlines()[-1].partition(" in ")[0]

    return run


def _keyring(machine: Machine, _out: Path) -> str:
    answer = machine.python("-X", "utf8", "-c", _KEYRING)
    if answer.code:
        raise Failed(answer.text[-2000:])
    return answer.text.strip()


def _window(machine: Machine, out: Path) -> str:
    for words, home, file in (
        ((), r"C:\new", "windows-welcome.png"),
        (("--profile", "local", "--page", "tasks"), _HOME, "windows-tasks.png"),
    ):
        picture = machine.drive / file
        picture.unlink(missing_ok=True)
        told = _main(machine, *words, "--screenshot", f"C:\\{file}", home=home, screen=True)
        if not picture.exists():
            raise Failed(told[-2000:])
        shutil.copy(picture, out)
    return "two pictures"


def _desktop(machine: Machine, _out: Path) -> str:
    answer = machine.python("-X", "utf8", "-c", _DESKTOP)
    if answer.code:
        raise Failed(answer.text[-2000:])
    return answer.text.strip()


def _again(machine: Machine, _out: Path) -> str:
    home = _fresh_home(machine, "again")
    around = {"FLEETDECK_HOME": rf"C:\{home.name}", "QT_QPA_PLATFORM": "offscreen"}
    words = (_PYTHON, "main.py", "--profile", "local")

    def places() -> set[str]:
        return {file.read_text("ascii") for file in (home / "windows").glob("*.json")}

    known: set[str] = set()
    for number in range(2):  # the second one comes after one that was killed
        first = threading.Thread(target=machine.run, args=words, kwargs={"environment": around, "timeout_s": 120})
        first.start()
        try:
            end = time.monotonic() + 60
            while not places() - known:
                if time.monotonic() > end:
                    raise Failed(f"window {number + 1} never said where it listens")
                time.sleep(0.2)
            known |= places()
            answer = machine.run(*words, "--page", "tasks", environment=around)
            if answer.code or "is open already" not in answer.text:
                raise Failed(f"the second start ended with {answer.code}:\n{answer.text[-2000:]}")
        finally:
            machine.run("taskkill", "/f", "/im", "python.exe")
            first.join()
    return "a second start found the window, and a new one came after it was killed"


def _installer(machine: Machine, out: Path) -> str:
    setup = next((out / "installer").glob("*-setup.exe"), None) or installer.build(out.absolute() / "installer")
    size = setup.stat().st_size >> 20
    folder, home = machine.drive / _PROGRAM.as_posix()[3:], _fresh_home(machine, "installed")
    words = {"home": rf"C:\{home.name}"}
    for _ in range(2):  # the second one is an update in place
        _run(machine, str(setup.absolute()), "/S", timeout_s=900)
    # its numpy wants what wine 8 has not, and Windows has
    shims.make(machine.drive / "windows" / "system32", folder / "program" / "python" / "Lib" / "site-packages")
    program = (str(_PROGRAM / "program/python/python.exe"), str(_PROGRAM / "program/app/main.py"))
    _run(machine, *program, "task", "create", *_ORDER, **words)
    _run(machine, *program, "worker", "--drain", **words)
    (task,) = _json(_run(machine, *program, "task", "list", "--json", **words))["tasks"]
    if task["status"] != "succeeded":
        raise Failed(str(task)[:2000])
    picture = ("--profile", "local", "--page", "tasks", "--screenshot", r"C:\installed.png")
    _run(machine, *program, *picture, screen=True, **words)
    shutil.copy(machine.drive / "installed.png", out / "windows-installed.png")
    if not (folder / "fleetdeck.ico").is_file():
        raise Failed("there is no icon for the start menu")
    opens = _registered(machine, _LINKS)
    if not opens.endswith(' "%1"') or str(_PROGRAM).lower() not in opens.lower():
        raise Failed(f"links are opened by {opens!r}")
    # told where it is, it works from there and is waited for, but cannot remove itself
    _run(machine, str(_PROGRAM / "uninstall.exe"), "/S", f"_?={_PROGRAM}", timeout_s=600)
    left = sorted(path.name for path in folder.rglob("*"))
    if left not in ([], ["uninstall.exe"]) or not (home / "local.sqlite").exists():
        raise Failed(f"the removal left {left[:20]}, or took data with it")
    if opens := _registered(machine, _LINKS):
        raise Failed(f"the removal left {opens!r}, which opens links")
    return f"{size} MiB; installed twice, a task run, the window painted, removed; its data stayed"


def _registered(machine: Machine, key: str) -> str:
    """The standard value of a key of the person, "" for none."""
    answer = machine.run("reg", "query", rf"HKCU\{key}", "/ve")
    return answer.text.rpartition("REG_SZ")[2].strip() if not answer.code and "REG_SZ" in answer.text else ""


def _signed(machine: Machine, out: Path) -> str:
    """A setup of next to nothing, by the same script, signed by a certificate of its own making."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        stage, key = folder / "stage", folder / "key.pem"
        (stage / "program" / "app").mkdir(parents=True)
        (stage / "program" / "app" / "main.py").touch()
        (stage / "fleetdeck.cmd").touch()
        certificate = folder / "certificate.pem"
        _do(*_OPENSSL, "-keyout", str(key), "-out", str(certificate))
        around = f"env SIGN_KEY={key} SIGN_CERTIFICATE={certificate}"
        setup = installer.pack(stage, folder / "setup.exe", "zlib", f"{around} {_SIGN}")
        _run(machine, str(setup), "/S", timeout_s=300)
        removal = machine.drive / _PROGRAM.as_posix()[3:] / "uninstall.exe"
        for file in (setup, removal):
            told = _do("osslsigncode", "verify", "-CAfile", str(certificate), "-in", str(file))
            if "Signature verification: ok" not in told:
                raise Failed(told[-2000:])
        _run(machine, str(_PROGRAM / "uninstall.exe"), "/S", f"_?={_PROGRAM}", timeout_s=300)
        removal.unlink(missing_ok=True)
    return "setup and removal signed, both signatures hold"


def _do(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed(f"{words[0]} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


_UNIT = "tests/unit/services"
CHECKS: tuple[Check[Machine], ...] = (
    Check("help", "the command line: help, version", "命令行：帮助、版本", _help),
    Check(
        "worker",
        "`task create`, `worker --drain`, `task show`",
        "`task create`、`worker --drain`、`task show`",
        _worker,
    ),
    Check(
        "demo", "`demo`: engine, worker, storefront, real processes", "`demo`：引擎、执行节点、店铺和真实进程", _demo
    ),
    Check(
        "flows",
        "tests of flows: time-out, cancellation, whole trees, a killed worker",
        "流程的测试：超时、取消、整个进程树、被杀死的执行节点",
        _tests(*(f"{_UNIT}/executors/{name}.py" for name in ("test_rpa", "test_windows", "test_orphans"))),
    ),
    Check(
        "handlers",
        "tests of Python handlers, of programs and of what they print",
        "Python 处理函数、程序及其输出的测试",
        _tests(
            f"{_UNIT}/test_event_loop.py",
            *(f"{_UNIT}/executors/{name}.py" for name in ("test_python", "test_program", "test_stdout")),
        ),
    ),
    Check(
        "files",
        "tests of files: held by another program, private, named by people; where Chrome is; signals; output",
        "文件的测试：被其他程序占用、私有、由人命名；Chrome 的位置；信号；输出",
        _tests(
            *(
                f"{_UNIT}/{name}.py"
                for name in ("test_whole_file", "test_audit_witness", "executors/browser/test_installation")
            ),
            *(f"{_UNIT}/entrypoints/{name}.py" for name in ("test_signals", "test_output")),
        ),
    ),
    Check(
        "store",
        "SQLite by four processes at once",
        "四个进程同时使用 SQLite",
        _tests("tests/contract/test_store_processes.py", "tests/contract/test_broker_processes.py"),
    ),
    Check(
        "installer",
        "the setup: installs, updates in place, runs a task, paints the window, is removed",
        "安装程序：安装、原地升级、运行任务、绘制窗口、卸载",
        _installer,
    ),
    Check(
        "signed",
        "the setup and its removal signed by `SIGN=…`, with a certificate made for the test",
        "用 `SIGN=…` 为安装程序和卸载程序签名（测试用证书）",
        _signed,
    ),
    Check(
        "again",
        "a second start finds the first window; one that was killed is in nobody's way",
        "第二次启动找到已打开的窗口；被强行结束的不会挡住下一次",
        _again,
    ),
    Check("desktop", "log-in and links in the registry", "注册表中的登录启动和链接", _desktop),
    Check("keyring", "secrets in the credential store of Windows", "Windows 凭据管理器中的密钥", _keyring),
    Check("window", "the window on an X server, with pictures", "在 X 服务器上打开窗口并截图", _window),
)
