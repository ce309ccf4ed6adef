# Everything a developer types. Each target first makes sure of its tools and of node_modules; both are quick when
# nothing changed. Variables and ports: infra/local/README.md.
SHELL := /bin/bash
.DEFAULT_GOAL := help
include infra/local/versions.env

export PARLEY_CACHE ?= $(HOME)/.cache/parley
export PARLEY_LOCAL_DIR ?= .local
RUST_VERSION := $(shell sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
# Outside the clone: the next one finds what this one compiled.
export CARGO_TARGET_DIR ?= $(PARLEY_CACHE)/target-$(RUST_VERSION)
# The fetched tools come first; where the system's own are right, nothing was fetched and these are empty places.
export PATH := $(PARLEY_CACHE)/tools/node-$(NODE_VERSION)/bin:$(PARLEY_CACHE)/tools/rust-$(RUST_VERSION)/bin:$(PATH)

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: up
up: build ## Run Parley on this machine and print its address; again: changes nothing
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
check: packages rust-tools chart-tools ## Formatting, lint, types, the chart's suites, and drift of generated files
	@npm run --silent check
	@npm run --silent chart
	@cargo fmt --check
	@cargo clippy --workspace --all-targets --quiet -- -D warnings

.PHONY: supply-chain
supply-chain: packages rust-tools ## What comes from npm and crates.io: sources, licences, versions; and what images are built on
	@infra/local/tools.sh deny
	@npm run --silent supply-chain
	@PATH=$(PARLEY_CACHE)/tools/cargo-deny-$(CARGO_DENY_VERSION):$$PATH cargo deny --locked check --hide-inclusion-graph bans licenses sources

.PHONY: pin-images
pin-images: packages ## Write the digests of base images into the Dockerfiles; skopeo or Docker, and a network that reaches the registries
	@node scripts/supply-chain/pin-images.ts

# The binaries carry the list of their crates. What was compiled before is not compiled again, but for Parley's own crates.
.PHONY: sbom
sbom: client/web/dist/index.html rust-tools ## Build the images and list what they contain: dist/sbom/<image>.spdx.json; root, and Go for syft
	@infra/local/tools.sh sbom
	@export PATH=$(PARLEY_CACHE)/tools/cargo-auditable-$(CARGO_AUDITABLE_VERSION):$$PATH && \
		cargo auditable build --locked --quiet -p parley-relay && cargo auditable build --locked --quiet -p parley-cli
	@node scripts/supply-chain/make-sbom.ts

.PHONY: test
test: test-tools rust-tools build wan-link ## Every test, browsers included
	@ulimit -n $$(ulimit -Hn) && cargo test --workspace --quiet
	@npm test --silent
	@npm run --silent fuzz

.PHONY: fuzz
fuzz: packages test-tools rust-tools ## Fuzz every decoder that reads strangers' bytes for MINUTES=60; SEED=7, ONLY=sdk/ for some of them
	@npm run --silent fuzz -- --minutes $(or $(MINUTES),60) $(if $(SEED),--seed $(SEED)) $(if $(ONLY),--only $(ONLY))

.PHONY: fmt
fmt: packages rust-tools ## Format everything
	@npm run --silent fmt
	@cargo fmt

.PHONY: bench-signaling
bench-signaling: packages ## CPU per join and per directed message, against the naive reference; BEFORE=<commit>: and that one's pod; PUBLISH=1 writes it down
	@npm run --silent bench-signaling -- $(if $(BEFORE),--before $(BEFORE)) $(if $(PUBLISH),--publish)

.PHONY: bench-streams
bench-streams: packages rust-tools ## CPU per GB and per message of the relay, beside three references; SMOKE=1: exactness alone; PUBLISH=1 writes it down
	@ulimit -n $$(ulimit -Hn) && npm run --silent bench-streams -- $(if $(SMOKE),--smoke) $(if $(PUBLISH),--publish)

.PHONY: bench-media
bench-media: packages test-tools rust-tools ## CPU and delay of relaying media, beside the stock relay; SMOKE=1: exactness alone; PUBLISH=1 writes it down
	@ulimit -n $$(ulimit -Hn) && npm run --silent bench-media -- $(if $(SMOKE),--smoke) $(if $(PUBLISH),--publish)

.PHONY: bench-calls
bench-calls: build test-tools wan-link ## From glass to glass between two browsers, near and far, each way that media goes; root; PUBLISH=1 writes it down
	@ulimit -n $$(ulimit -Hn) && npm run --silent bench-calls -w loadtest -- $(if $(PUBLISH),--publish)

.PHONY: bench-rooms
bench-rooms: build test-tools ## Rooms of 2 to 100 people on one limited relay and on two; root; SMOKE=1: exactness alone; PUBLISH=1 writes it down
	@ulimit -n $$(ulimit -Hn) && npm run --silent bench-rooms -w loadtest -- $(if $(SMOKE),--smoke) $(if $(PUBLISH),--publish)

.PHONY: bench-pages
bench-pages: build test-tools ## A page that twenty browsers want at once, and one that 880 hold; SMOKE=1: exactness alone; PUBLISH=1 writes it down
	@ulimit -n $$(ulimit -Hn) && npm run --silent bench-pages -w loadtest -- $(if $(SMOKE),--smoke) $(if $(PUBLISH),--publish)

.PHONY: herd
herd: build load-tools ## A herd of calls against a whole Parley of its own: PROFILE=smoke (or seed); PUBLISH=1 writes it down
	@PROFILE=$(or $(PROFILE),smoke) npm run --silent herd -w loadtest

.PHONY: hostile
hostile: build ## Attack a whole Parley of its own beside a call that must not notice; ATTACK=NAME: that one alone
	@ulimit -n $$(ulimit -Hn) && npm run --silent hostile -w infra/hostile -- $(if $(ATTACK),--only $(ATTACK))

.PHONY: siege
siege: build ## Floods of every kind at once, for a minute, while newcomers join; PUBLISH=1 writes it down
	@ulimit -n $$(ulimit -Hn) && npm run --silent siege -w infra/hostile -- $(if $(PUBLISH),--publish)

.PHONY: build
build: client/web/dist/index.html relay ## Build the web application and the relay, where their sources changed

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

.PHONY: cluster
cluster: build cluster-tools ## Run a Kubernetes of three nodes on this machine, with Parley's images; root is needed
	@node infra/cluster/src/up.ts

.PHONY: test-cluster
test-cluster: cluster test-tools ## Install the chart on it, and try what it promises
	@npm run --silent test-cluster -w infra/cluster

.PHONY: cluster-down
cluster-down: packages ## End that Kubernetes, and nothing else
	@node infra/cluster/src/down.ts

.PHONY: clean
clean: down ## Stop everything and forget secrets, stores and logs
	@rm -rf $(PARLEY_LOCAL_DIR)

.PHONY: tools
tools: ## Install what running needs (apt, and a cache outside the clone)
	@infra/local/tools.sh run

.PHONY: test-tools
test-tools: ## Install what testing needs besides: browsers, nftables, Xvfb, a sound server
	@infra/local/tools.sh test

.PHONY: rust-tools
rust-tools: ## Install Rust into the cache where it is missing
	@infra/local/tools.sh rust

.PHONY: chart-tools
chart-tools: tools ## Install what checks the chart besides: Helm, its suites, Kubernetes' schemas; Go is needed
	@infra/local/tools.sh chart

.PHONY: cluster-tools
cluster-tools: tools ## Install what the Kubernetes lab is made of; Go is needed unless prebuilt copies exist
	@infra/local/tools.sh cluster

.PHONY: load-tools
load-tools: tools ## Install what load tests need besides: k6, for which Go is needed
	@infra/local/tools.sh load

# The lock file's content decides, not its time: a checkout touches every file. `npm install --no-save` installs what the
# lock says and leaves it alone. `npm ci` would refuse it wherever a registry lacks an optional package of some other
# platform, and would pull node_modules away from under a stack that runs.
.PHONY: packages
packages: tools
	@if ! cmp -s package-lock.json node_modules/.parley-lock; then \
		echo 'packages: npm install' && npm install --no-save --no-audit --no-fund && \
		cp package-lock.json node_modules/.parley-lock; \
	fi
