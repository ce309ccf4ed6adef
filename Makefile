# The commands of a developer. Each target first checks its tools and node_modules; both checks are quick when nothing
# changed. Variables and ports: infra/local/README.md.
SHELL := /bin/bash
.DEFAULT_GOAL := help
include infra/local/versions.env

export PARLEY_CACHE ?= $(HOME)/.cache/parley
export PARLEY_LOCAL_DIR ?= .local
RUST_VERSION := $(shell sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
# Outside the clone, so that another clone reuses the compiled crates.
export CARGO_TARGET_DIR ?= $(PARLEY_CACHE)/target-$(RUST_VERSION)
# The fetched tools come first. If the system's own tools have the right version, nothing was fetched and these do not exist.
export PATH := $(PARLEY_CACHE)/tools/node-$(NODE_VERSION)/bin:$(PARLEY_CACHE)/tools/rust-$(RUST_VERSION)/bin:$(PATH)

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: up
up: build ## Run Parley on this machine and print its address; changes nothing if it runs already
	@node infra/local/src/up.ts

.PHONY: down
down: packages ## Stop what `make up` started, and nothing else
	@node infra/local/src/down.ts

.PHONY: status
status: packages ## Show what runs, and where
	@node infra/local/src/status.ts || true

.PHONY: logs
logs: ## Follow the logs of everything that runs
	@tail -n 20 -F $(PARLEY_LOCAL_DIR)/logs/*.log

.PHONY: check
check: packages rust-tools chart-tools ## Formatting, lint, types, documentation, the chart's suites, and drift of generated files
	@npm run --silent check
	@npm run --silent chart
	@node --test scripts/release/*.test.ts
	@cargo fmt --check
	@cargo clippy --workspace --all-targets --quiet -- -D warnings

.PHONY: api-docs
api-docs: packages ## Write the reference of the SDK as HTML: client/api-docs/dist/index.html
	@npm run --silent build -w client/api-docs

.PHONY: supply-chain
supply-chain: packages rust-tools ## Check sources, licences and versions of npm packages and crates, and the base images
	@infra/local/tools.sh deny
	@npm run --silent supply-chain
	@PATH=$(PARLEY_CACHE)/tools/cargo-deny-$(CARGO_DENY_VERSION):$$PATH cargo deny --locked check --hide-inclusion-graph bans licenses sources

.PHONY: pin-images
pin-images: packages ## Write the digests of base images into the Dockerfiles; skopeo or Docker, and a network that reaches the registries
	@node scripts/supply-chain/pin-images.ts

# The binaries contain the list of their crates. Only Parley's own crates are compiled again.
.PHONY: sbom
sbom: client/web/dist/index.html rust-tools ## Build the images and list what they contain: dist/sbom/<image>.spdx.json; root, and Go for syft
	@infra/local/tools.sh sbom
	@export PATH=$(PARLEY_CACHE)/tools/cargo-auditable-$(CARGO_AUDITABLE_VERSION):$$PATH && \
		cargo auditable build --locked --quiet -p parley-relay && cargo auditable build --locked --quiet -p parley-cli
	@node infra/cluster/src/make-sbom.ts

# Variables of the command line reach the program through the environment, so that no shell reads them. COSIGN_KEY and COSIGN_PASSWORD sign without a workflow. The other variables are in docs/operations/releases.md.
.PHONY: release
release: packages rust-tools ## Build a release into dist/release/VERSION, and with PUSH=1 push and sign it: VERSION=1.2.3, REGISTRY=ghcr.io/parley; STAND_INS=1: on the lab's base images; root
	@STAND_INS=$(STAND_INS) infra/local/tools.sh release
	@$(if $(PREBUILT),:,infra/local/tools.sh programs)
	@npm run --silent build -w client/web
	@node scripts/release/main.ts

.PHONY: release-programs
release-programs: ## Build the parley command of a release alone, for macOS on a machine with macOS; VERSION=1.2.3
	@infra/local/tools.sh programs
	@node scripts/release/main.ts programs

# The page of a release at GitHub stays a draft until a maintainer publishes it. GH_TOKEN is read by gh.
.PHONY: release-upload
release-upload: ## Put the files of dist/release/VERSION into the draft of the release's page at GitHub, and make it if it is missing
	@[ "$$(gh release view "v$$VERSION" --json isDraft --jq .isDraft 2>/dev/null)" != false ] || { echo 'release: it is published already'; exit 1; }
	@gh release view "v$$VERSION" >/dev/null 2>&1 || gh release create "v$$VERSION" --draft --verify-tag --title "$$VERSION" \
		--notes 'CHANGELOG.md lists the changes.' $(if $(findstring -,$(VERSION)),--prerelease)
	@cd "dist/release/$$VERSION" && gh release upload "v$$VERSION" --clobber $$(ls -d *.tar.gz *.tgz SHA256SUMS* 2>/dev/null)

.PHONY: release-download
release-download: ## Take the programs for macOS from that draft
	@gh release download "v$$VERSION" --clobber --pattern '*-darwin-*.tar.gz' --dir "dist/release/$$VERSION"

.PHONY: test-release
test-release: build rust-tools ## Build, push and sign a release with a registry of its own, and verify it; root
	@STAND_INS=1 infra/local/tools.sh release
	@cargo build --quiet -p parley-cli
	@node --test scripts/release/test/*.test.ts

.PHONY: test
test: test-tools rust-tools build wan-link ## Unit, wire, contract and simulator tests, and a journey in browsers for each capability
	@ulimit -n $$(ulimit -Hn) && cargo test --workspace --quiet
	@npm test --silent
	@npm run --silent fuzz

.PHONY: test-all
test-all: test test-more ## Every test that needs no cluster: `make test`, and then `make test-more`

.PHONY: test-more
test-more: test-tools rust-tools build wan-link ## The tests of `make test-all` that `make test` leaves out
	@echo 'left out: make test-stock, which builds a client of others for minutes'
	@# The rules of media with clients whose version MoQ's library serves, and not the fan-out.
	@ulimit -n $$(ulimit -Hn) && PARLEY_TEST_MOQ_VERSION=moq-lite-04 cargo test --workspace --quiet --test server -- --skip fanout::
	@ulimit -n $$(ulimit -Hn) && for package in services/* client/* infra/* loadtest; do \
		[ ! -f $$package/package.json ] || npm run --silent --if-present test-more -w $$package || exit 1; done

.PHONY: mutants
mutants: packages rust-tools ## Break about a hundred rules on purpose, one at a time, and require that their tests fail; ONLY=ROOM-12,STR for some of them
	@ulimit -n $$(ulimit -Hn) && npm run --silent mutants -- $(if $(ONLY),--only $(ONLY))

.PHONY: fuzz
fuzz: packages test-tools rust-tools ## Fuzz every decoder of untrusted data for MINUTES=60; SEED=7, ONLY=sdk/ for some of them
	@npm run --silent fuzz -- --minutes $(or $(MINUTES),60) $(if $(SEED),--seed $(SEED)) $(if $(ONLY),--only $(ONLY))

.PHONY: test-regions
test-regions: build test-tools wan-link ## Cut three regions apart, and kill their NATS servers: FAULT=partition, partition-long, oneway, flap, gateway, nats, media, resume, region, region-media (ROUNDS=20 for figures), live, forget, cap, ban, mutes, promote, expel, skew, slow, pages, calls, alerts or doctor for one of them; root
	@cargo build --quiet -p parley-cli
	@ulimit -n $$(ulimit -Hn) && FAULT=$(FAULT) npm run --silent test-regions -w infra/regions

.PHONY: soak
soak: build test-tools ## A call of six through relays for MINUTES=60, with a line a minute: frozen tiles, sound beside its picture, resident memory of the tabs
	@cargo build --quiet -p parley-relay -p parley-cli
	@ulimit -n $$(ulimit -Hn) && SOAK_MINUTES=$(or $(MINUTES),60) npm run --silent soak -w infra/e2e

.PHONY: test-stock
test-stock: build test-tools ## Publish and watch live video with moq-cli, a client that others wrote; builds it first, which takes minutes
	@infra/local/tools.sh stock
	@cargo build --quiet -p parley-cli
	@ulimit -n $$(ulimit -Hn) && npm run --silent test-stock -w infra/e2e

.PHONY: screenshots
screenshots: build test-tools ## Take the screenshots of docs/screenshots from a complete stack of its own
	@npm run --silent screenshots -w infra/e2e

.PHONY: fmt
fmt: packages rust-tools ## Format everything
	@npm run --silent fmt
	@cargo fmt

.PHONY: bench-signaling
bench-signaling: packages ## CPU per join and per directed message, against three references; GATE=1: only the ratios that have a budget, fails above it; BEFORE=<commit>: also the pods of that commit; PUBLISH=1 saves the figures
	@npm run --silent bench-signaling -- $(if $(GATE),--gate) $(if $(BEFORE),--before $(BEFORE)) $(if $(PUBLISH),--publish)

.PHONY: bench-streams
bench-streams: packages rust-tools ## CPU per GB and per message of the relay and three references; SMOKE=1: correctness only; CROSSBAR=<file>: also that program; PUBLISH=1 saves the figures
	@ulimit -n $$(ulimit -Hn) && npm run --silent bench-streams -- $(if $(SMOKE),--smoke) $(if $(CROSSBAR),--crossbar $(abspath $(CROSSBAR))) $(if $(PUBLISH),--publish)

.PHONY: bench-media
bench-media: packages test-tools rust-tools ## CPU and delay of media relays, ours, the stock one and LiveKit; SMOKE=1: correctness only; PUBLISH=1 saves the figures
	@$(if $(SMOKE),:,infra/local/tools.sh livekit || echo "LiveKit is left out: see above")
	@ulimit -n $$(ulimit -Hn) && npm run --silent bench-media -- $(if $(SMOKE),--smoke) $(if $(PUBLISH),--publish)

.PHONY: bench-calls
bench-calls: build test-tools wan-link ## Glass-to-glass delay between two browsers, near and far, for each path; root; PUBLISH=1 saves the figures
	@ulimit -n $$(ulimit -Hn) && npm run --silent bench-calls -w loadtest -- $(if $(PUBLISH),--publish)

.PHONY: bench-rooms
bench-rooms: build test-tools ## Rooms of 2 to 100 participants on one limited relay and on two; root; SMOKE=1: correctness only; PUBLISH=1 saves the figures
	@ulimit -n $$(ulimit -Hn) && npm run --silent bench-rooms -w loadtest -- $(if $(SMOKE),--smoke) $(if $(PUBLISH),--publish)

.PHONY: bench-pages
bench-pages: build test-tools ## A page with twenty readers at once, and one with 880 holders; SMOKE=1: correctness only; PUBLISH=1 saves the figures
	@ulimit -n $$(ulimit -Hn) && npm run --silent bench-pages -w loadtest -- $(if $(SMOKE),--smoke) $(if $(PUBLISH),--publish)

.PHONY: bench-regions
bench-regions: packages test-tools rust-tools ## Copies over the ocean and delays between three regions, against one relay for all; THESIS=1: the thesis's figures 5.3 and 5.4 instead; root; SMOKE=1: short, for CI; PUBLISH=1 saves the figures
	@ulimit -n $$(ulimit -Hn) && npm run --silent bench-regions -w loadtest -- $(if $(THESIS),--thesis) $(if $(SMOKE),--smoke) $(if $(PUBLISH),--publish)

.PHONY: herd
herd: build load-tools ## A herd against a complete stack of its own: PROFILE=smoke, seed, reconnect, calm, deploy, region or doors; PUBLISH=1 saves the figures
	@ulimit -n $$(ulimit -Hn) && PROFILE=$(or $(PROFILE),smoke) npm run --silent herd -w loadtest

.PHONY: hostile
hostile: build ## Attack a complete stack of its own during a call that must not be disturbed; ATTACK=NAME: only this attack
	@ulimit -n $$(ulimit -Hn) && npm run --silent hostile -w infra/hostile -- $(if $(ATTACK),--only $(ATTACK))

.PHONY: siege
siege: build ## Floods of every kind at once, for a minute, while participants join; PUBLISH=1 saves the figures
	@ulimit -n $$(ulimit -Hn) && npm run --silent siege -w infra/hostile -- $(if $(PUBLISH),--publish)

.PHONY: build
build: client/web/dist/index.html relay ## Build the web application and the relay, if their sources changed

web_sources := $(shell find client/web client/sdk/src services/protocol/src -type f \
	-not -path '*/node_modules/*' -not -path 'client/web/dist/*' -not -path 'client/web/test/*')

client/web/dist/index.html: $(web_sources) package-lock.json | packages
	@npm run --silent build -w client/web
	@touch $@

.PHONY: relay
relay: rust-tools
	@[ -x $(CARGO_TARGET_DIR)/debug/parley-relay ] || echo 'relay: compiling, some minutes this first time'
	@cargo build --quiet -p parley-relay

.PHONY: wan-link
wan-link: rust-tools
	@cargo build --quiet -p parley-wan

.PHONY: cli
cli: rust-tools ## Build the parley command and install it into ~/.local/bin (PREFIX=/usr/local: into another bin)
	@cargo build --quiet -p parley-cli
	@install -D $(CARGO_TARGET_DIR)/debug/parley $(or $(PREFIX),$(HOME)/.local)/bin/parley
	@echo 'cli: installed $(or $(PREFIX),$(HOME)/.local)/bin/parley'
	@command -v parley >/dev/null || echo 'cli: that folder is not in PATH yet'

.PHONY: regions
regions: tools build wan-link ## Run three regions on this machine, with the delays of an ocean between them, and print their addresses; root
	@node infra/regions/src/up.ts

.PHONY: regions-down
regions-down: packages ## Stop what `make regions` started, and nothing else
	@node infra/regions/src/down.ts

.PHONY: cluster
cluster: build cluster-tools ## Run a Kubernetes cluster of three nodes on this machine, with Parley's images; root is needed
	@cargo build --quiet -p parley-cli
	@node infra/cluster/src/up.ts

.PHONY: test-cluster
test-cluster: cluster test-tools ## Install the chart on that cluster and test it; REGIONS=2: as two regions that are joined; RELEASE=1: two releases of it, signed, from the registry; MONITORING=1: autoscaler, dashboards and alerts; K6=1: a herd of k6 in two pods
	@$(if $(RELEASE),STAND_INS=1 infra/local/tools.sh release,$(if $(K6),infra/local/tools.sh load,:))
	@npm run --silent $(if $(RELEASE),test-release,$(if $(REGIONS),test-regions,$(if $(MONITORING),test-monitoring,$(if $(K6),test-load,test-cluster)))) -w infra/cluster

.PHONY: cluster-down
cluster-down: packages ## Stop that cluster, and nothing else
	@node infra/cluster/src/down.ts

.PHONY: clean
clean: down regions-down ## Stop everything and delete secrets, stores and logs
	@rm -rf $(PARLEY_LOCAL_DIR)

.PHONY: tools
tools: ## Install the tools that the stack needs (apt, and a cache outside the clone)
	@infra/local/tools.sh run

.PHONY: test-tools
test-tools: ## Install the additional tools of tests: browsers, nftables, Xvfb, a sound server, Prometheus
	@infra/local/tools.sh test

.PHONY: rust-tools
rust-tools: ## Install Rust into the cache if it is missing
	@infra/local/tools.sh rust

.PHONY: chart-tools
chart-tools: tools ## Install the tools that check the chart: Helm, helm-unittest, Kubernetes' schemas, promtool; Go is needed
	@infra/local/tools.sh chart

.PHONY: cluster-tools
cluster-tools: tools ## Install the programs of the Kubernetes lab; Go is needed unless prebuilt copies exist
	@infra/local/tools.sh cluster

.PHONY: load-tools
load-tools: tools ## Install the additional tool of load tests: k6, for which Go is needed
	@infra/local/tools.sh load

# Compares the lock file's content, not its time, as a checkout touches every file. `npm install --no-save` installs the
# locked versions and does not change the lock file. `npm ci` fails if a registry lacks an optional package of another
# platform, and would delete node_modules while a stack uses it.
.PHONY: packages
packages: tools
	@if ! cmp -s package-lock.json node_modules/.parley-lock; then \
		echo 'packages: npm install' && npm install --no-save --no-audit --no-fund && \
		cp package-lock.json node_modules/.parley-lock; \
	fi
