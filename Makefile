# A bare Debian 12 is enough: every target brings what it needs, and asks for it again at the price of a few file tests.
#
#   make run               open the console                        make run ARGS="worker --slots 8"
#   make test              all tests                               make test JOBS=2 ARGS="tests/unit -k retry"
#   make readme            starts every block of the READMEs and of resources/docs as it stands there
#   make again             what failed the last time, alone
#   make lint              style, types, import contracts
#   make bench             all figures                        make bench ARGS="console --shops 10000"
#   make faults            the tests that break services, also those too slow for make test
#   make harsh             of those too slow for make test the ones that .ci/run waits for
#   make chaos MINUTES=30  random faults under load, then what was lost (TASKS=10000 SEED=7
#                          PAIR=fleet|embedded|both|cluster: three nodes of which one is killed every minute)
#   make soak HOURS=72     steady work with restarts, then whether anything grew or was lost (PAIR=embedded|fleet|both;
#                          a shorter one lets kept things go the sooner: HOURS=2 at 36 times the pace)
#   make situations         makes each kind of trouble and photographs the window (ARGS="held_task --language zh_CN")
#   make reader             the window as a screen reader's library sees it (AT-SPI; needs python3-pyatspi, at-spi2-core)
#   make screenshots        every page, panel and dialog × dark, light × English, Chinese × 1280×720, 1600×1000, 150 %
#                           below build/screenshots, and each text in them that is cut off or covered
#   make looks              the same of what is named: ARGS="--pages shops --sizes 1366x768 --text 130"
#   make starts COUNT=500  opens the window again and again under load; each start has to end as it should
#   make windows-test      the program under a CPython for Windows, in wine (ARGS="worker window"; --write: into resources/docs)
#   make windows-installer a setup.exe with Python in it; installed, run and removed by make windows-test ARGS="installer"
#   make linux-package     a .deb with an environment of its own in it (PYTHON_OF=3.13 for Debian 13); tried by make linux-test
#                          (ARGS="--bare bookworm": in a Debian with nothing else in it)
#   make image-rehearsal   the steps of the Dockerfile in a bare root, as root; then a worker and its Chromium in it
#   make debian-13         make run, make test and what servers of today offer, in a bare Debian 13, as root
#                          (ARGS="window nodes chaos" JOBS=2; --write: into resources/docs)
#   make pictures           those of the READMEs and the guide, below resources/images
#   make demo setup translations lock clean

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup run test readme again lint lint-style lint-types lint-types-windows format bench faults harsh chaos chaos-fleet chaos-embedded soak starts demo situations looks reader screenshots pictures translations lock clean system-run system-test \
	image-rehearsal windows-test windows-installer system-windows debian-13 system-debian linux-package linux-test

ARGS ?=
# A file that counts flaky tests over several targets.
FLAKY ?=
# A folder that `make test` leaves out, because it is tried by itself.
LATER ?=
# Test processes; each starts servers of its own when a test asks for them. Most of them wait most of the time (for a
# broker, a child, a lease), so there are more of them than processors of a small machine.
JOBS ?= 5
# Minutes after which `make test` begins nothing that is deep any more (tests/within.py); empty: all is tried.
WITHIN ?=
# Of a chaos run; seed 0 draws one and prints it.
MINUTES ?= 30
TASKS ?= 10000
SEED ?= 0
PAIR ?= both
# Of `make soak`; how much sooner than in days things are let go, 0 for 72 / HOURS.
HOURS ?= 72
HURRY ?= 0
# Of a setup: a command that signs the file that is its last word, in place (resources/deploy/windows/sign).
SIGN ?=
# Whose Python a package for Debian runs on: that of Debian 12.
PYTHON_OF ?= 3.11
# Of `make starts`.
COUNT ?= 500
CHAOS = $(PYTHON) -m tests.faults.chaos --minutes $(MINUTES) --tasks $(TASKS) --seed $(SEED)
# What `make harsh` runs.
HARSH := tests/faults/test_broker.py tests/faults/test_leader_fit.py --deselect \
	tests/faults/test_broker.py::test_a_restart_with_ten_thousand_in_the_queue
BIN := .venv/bin
PYTHON := $(BIN)/python
# Set on some machines; each start would compile every module again and take 2 s instead of 0.6 s.
unexport PYTHONDONTWRITEBYTECODE

# What Qt needs, off screen and on X11 (proven on an empty Debian 12 and 13).
SYSTEM_RUN := libgl1 libegl1 libglib2.0-0 libxkbcommon0 libfontconfig1 libdbus-1-3 \
	libxkbcommon-x11-0 libxcb-cursor0 libxcb-icccm4 libxcb-keysyms1 libxcb-shape0 libgssapi-krb5-2
# What tests talk to: real servers, a real browser with Chinese glyphs, an X server and a window manager with frames.
SYSTEM_TEST := $(SYSTEM_RUN) rabbitmq-server redis-server chromium fonts-wqy-microhei xvfb xauth twm
# A Windows to try it on: wine, mingw's assembler and linker for what wine lacks, a screen.
SYSTEM_WINDOWS := wine wine64 binutils-mingw-w64-x86-64 nsis osslsigncode openssl xvfb xauth

# A Debian 13 to try it in.
SYSTEM_DEBIAN := debootstrap

# A stamp carries the hash of the pinned list, so that a switch of branches installs only when the list differs.
hash = $(shell cat $(1) 2>/dev/null | sha256sum | cut -c1-16)
STAMP_RUN := .venv/.run-$(call hash,requirements.txt)
STAMP_DEV := .venv/.dev-$(call hash,requirements.txt requirements-dev.txt)
STAMP_BENCH := .venv/.bench-$(call hash,requirements.txt requirements-dev.txt requirements-bench.txt)

# Five test processes would each prepare the same modules, 16 s of processor apiece: in a fresh copy two do so before.
COLLECT := $(PYTHON) -m pytest --collect-only -qq -p no:cacheprovider
define prepare_modules
@[ -d tests/__pycache__ ] || [ -n "$(ARGS)" -a -z "$(LATER)" ] || \
	{ $(COLLECT) tests/unit >/dev/null 2>&1 & $(COLLECT) tests/[!u_]*/ >/dev/null 2>&1 || true; wait; }
endef

PARALLEL = $(if $(JOBS),-n $(JOBS) --dist worksteal)
AGAIN = $(PYTHON) -m pytest --last-failed --last-failed-no-failures=none --maxfail=1 -v
# What needed a second, lone run is printed as FLAKY; more than two (ALLOW) of a whole judgement fail it.
JUDGED = $(PYTHON) -m tests.flaky $(if $(FLAKY),--ledger $(FLAKY)) $(if $(ALLOW),--allow $(ALLOW)) --

PO := $(wildcard resources/translations/*/LC_MESSAGES/*.po)

help: ## list the targets
	@sed -n 's/^#   //p' Makefile

setup: system-test $(STAMP_DEV) translations ## everything for development
	@echo "ready: make run, make test, make lint"

run: system-run $(STAMP_RUN) translations
	@$(PYTHON) main.py $(ARGS)

demo: system-run $(STAMP_RUN) translations
	@$(PYTHON) main.py demo $(ARGS)

test: system-test $(STAMP_DEV) translations
	$(prepare_modules)
	$(JUDGED) $(PARALLEL) $(if $(LATER),--ignore=$(LATER)) $(if $(WITHIN),--within $(WITHIN)) $(ARGS)

# Part of `make test`, unless that is told to leave it for LATER.
readme: system-test $(STAMP_DEV) translations
	$(JUDGED) $(PARALLEL) -v tests/e2e/readme $(ARGS)

again: $(STAMP_DEV) translations
	$(AGAIN)

lint: lint-types lint-types-windows lint-style

lint-style: $(STAMP_DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

lint-types: $(STAMP_DEV)
	$(BIN)/mypy

lint-types-windows: $(STAMP_DEV)
	$(BIN)/mypy --platform win32 --no-warn-unreachable --cache-dir .mypy_cache/win32 main.py fleetdeck.py services console

format: $(STAMP_DEV)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: system-test $(STAMP_BENCH) translations
	$(PYTHON) -m tests.bench $(ARGS)

faults: system-test $(STAMP_DEV) translations
	$(PYTHON) -m pytest -m fault $(ARGS)

# Believed the first time. What a slow machine could fail by its time is left to `make faults`: ten thousand in the queue,
# latencies, clusters of three nodes.
harsh: system-test $(STAMP_DEV) translations
	$(PYTHON) -m pytest -n 2 --dist worksteal -m harsh $(HARSH) $(ARGS)

chaos: system-test $(STAMP_DEV) translations
	$(CHAOS) --pair $(PAIR) $(ARGS)

# Each pair as a target of its own, for who lets them go on side by side.
chaos-fleet chaos-embedded: chaos-%: system-test $(STAMP_DEV) translations
	$(CHAOS) --pair $* $(ARGS)

soak: system-test $(STAMP_DEV) translations
	$(PYTHON) -m tests.soak --hours $(HOURS) --hurry $(HURRY) --seed $(SEED) --pair $(PAIR) $(ARGS)

starts: system-test $(STAMP_DEV) translations
	$(PYTHON) -m tests.faults.starts --count $(COUNT) $(ARGS)

pictures: system-test $(STAMP_DEV) translations
	$(PYTHON) -m tests.gui.pictures $(ARGS)

situations: system-test $(STAMP_DEV) translations
	$(PYTHON) -m tests.situations $(ARGS)

reader: setup
	/usr/bin/python3 tests/looks/reader.py

looks: system-test $(STAMP_DEV) translations
	$(PYTHON) -m tests.looks $(ARGS)

# One after another, whatever the one before found.
SHOTS := build/screenshots
screenshots: system-test $(STAMP_DEV) translations
	bad=0; for dialogs in "" --dialogs; do \
		$(PYTHON) -m tests.looks $$dialogs --sizes 1280x720,1600x1000 --out $(SHOTS) $(ARGS) || bad=1; \
		QT_SCALE_FACTOR=1.5 $(PYTHON) -m tests.looks $$dialogs --sizes 1280x720 --out $(SHOTS)/150 $(ARGS) || bad=1; \
	done; exit $$bad

windows-test: system-windows $(STAMP_DEV) translations
	$(PYTHON) -m tests.windows $(ARGS)

linux-package: system-run $(STAMP_DEV) translations
	$(PYTHON) -m tests.linux.package --python $(PYTHON_OF) $(ARGS)

# As root: installs it over a copy of this machine that is gone afterwards.
linux-test: system-test $(STAMP_DEV) translations
	$(PYTHON) -m tests.linux $(ARGS)

# What needs Docker, without it: the steps of the Dockerfile in a bare root, a worker and its Chromium confined as there.
image-rehearsal: translations
	$(PYTHON) -m tests.image.rehearse $(ARGS)

# Its own make, Python and servers are in the root.
debian-13: system-debian $(STAMP_DEV)
	JOBS=$(JOBS) $(PYTHON) -m tests.debian $(ARGS)

windows-installer: system-windows $(STAMP_RUN) translations
	$(PYTHON) -m tests.windows.installer $(if $(SIGN),--sign '$(SIGN)') $(ARGS)

translations: $(PO:.po=.mo)

%.mo: %.po | $(STAMP_RUN)
	@$(BIN)/pybabel --quiet compile -i $< -o $@

clean:
	rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache build *.egg-info
	find . -path ./.venv -prune -o \( -name __pycache__ -o -name '*.mo' \) -print0 | xargs -0 rm -rf

# ------------------------------------------------------------------------------------------------ system packages
system-run: ; @$(call need_packages,$(SYSTEM_RUN))
system-windows: ; @$(call need_packages,$(SYSTEM_WINDOWS))
system-debian: ; @$(call need_packages,$(SYSTEM_DEBIAN))
system-test: ; @$(call need_packages,$(SYSTEM_TEST))

# Say nothing when all are there. Install when root or sudo allows; else name what is missing and go on: much works
# without. A policy file keeps the servers from starting now and `disable` at the next boot: tests start their own.
define need_packages
command -v dpkg-query >/dev/null || exit 0; \
has() { [ "$$(dpkg-query -Wf '$${db:Status-Status}' "$$1" 2>/dev/null)" = installed ]; }; \
missing=(); for name in $(1); do has $$name || has $${name}t64 || missing+=($$name); done; \
[ $${#missing[@]} -gt 0 ] || exit 0; \
if [ "$$(id -u)" = 0 ]; then as_root() { "$$@"; }; \
elif sudo -n true 2>/dev/null; then as_root() { sudo -n "$$@"; }; \
else echo "missing system packages; with the rights: apt-get install $${missing[*]}" >&2; exit 0; fi; \
policy=/usr/sbin/policy-rc.d; \
if [ ! -e $$policy ]; then \
	printf '#!/bin/sh\nexit 101\n' | as_root tee $$policy >/dev/null; as_root chmod 755 $$policy; \
	trap 'as_root rm -f /usr/sbin/policy-rc.d' EXIT; \
fi; \
echo "installing system packages: $${missing[*]}"; \
printed=$$(mktemp); \
{ as_root apt-get update -qq || true; \
	as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$${missing[@]}"; } \
	>"$$printed" 2>&1 || { tail -20 "$$printed" >&2; echo "apt-get could not install: $${missing[*]}" >&2; }; \
rm -f "$$printed"; \
for service in rabbitmq-server redis-server; do \
	if [[ " $${missing[*]} " == *" $$service "* ]] && command -v systemctl >/dev/null; then \
		as_root systemctl disable --quiet $$service 2>/dev/null || true; \
	fi; \
done
endef

# ------------------------------------------------------------------------------------------------ Python packages
# The first Python that runs and is new and old enough; `command -v` alone is fooled by version managers.
define find_python
for python in $${FLEETDECK_PYTHON:-} python3.11 python3.12 python3.13 python3 python /usr/bin/python3; do \
	"$$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null && break; \
	python=; \
done; \
[ -n "$$python" ] || { echo "Fleetdeck needs Python 3.11, 3.12 or 3.13" >&2; exit 1; }
endef

.venv/bin/python:
	@$(find_python); \
	if ! "$$python" -c 'import ensurepip' 2>/dev/null; then $(call need_packages_in_shell,python3-venv); fi; \
	echo "making .venv with $$("$$python" --version)"; \
	trap 'rm -rf .venv' EXIT; trap 'exit 130' HUP INT TERM; \
	"$$python" -m venv --clear .venv && $(WHOLE) || { echo "no .venv could be made with $$python:" \
		"install its module venv with pip (on Debian python3-venv), then run make again" >&2; exit 1; }; \
	trap - EXIT

# The same as above without leaving the recipe.
need_packages_in_shell = ( $(call need_packages,$(1)) )

# One that was left half made, by a kill or a full disk, is made anew; so is one whose last installation was cut off.
WHOLE = $(PYTHON) -m pip --version >/dev/null 2>&1

define install
@{ [ ! -e .venv/.unfinished ] && $(WHOLE); } || { rm -rf .venv; $(MAKE) --no-print-directory $(PYTHON); }
@echo "installing $(1)"; touch .venv/.unfinished
@$(PYTHON) -m pip install --quiet --disable-pip-version-check --only-binary=:all: --require-hashes -r $(1) \
	|| { rm -f .venv/.unfinished; exit 1; }
@rm -f .venv/.unfinished $(firstword $(subst -, ,$@))-*; touch $@ $(2)
endef

$(STAMP_RUN): | $(PYTHON)
	$(call install,requirements.txt)

$(STAMP_DEV): | $(PYTHON)
	$(call install,requirements-dev.txt,$(STAMP_RUN))

$(STAMP_BENCH): | $(STAMP_DEV)
	$(call install,requirements-bench.txt)

# Resolve anew what pyproject.toml asks for. The resolver lives in a throw-away environment; no address is written.
lock:
	@tools=$$(mktemp -d); trap 'rm -rf "$$tools"' EXIT; $(find_python); \
	"$$python" -m venv "$$tools/venv"; "$$tools/venv/bin/pip" install --quiet --disable-pip-version-check uv; \
	compile() { "$$tools/venv/bin/uv" pip compile pyproject.toml --quiet --upgrade --universal --generate-hashes \
		--python-version 3.11 --no-emit-index-url --no-annotate --no-header "$$@"; }; \
	pinned() { sed -n 's/^\([a-z0-9._-]*\)[=[].*/--no-emit-package \1/p' "$$@" | sort -u; }; \
	compile -o requirements.txt; \
	for extra in dev bench; do \
		compile --extra $$extra -c requirements.txt $$(pinned requirements.txt) -o "$$tools/$$extra.txt"; \
		{ echo "-r requirements.txt"; cat "$$tools/$$extra.txt"; } > requirements-$$extra.txt; \
	done
