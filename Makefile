# What a person types. Each target's comment is its help.

.DEFAULT_GOAL := help
.PHONY: help setup build run test test-core test-spec test-server test-matrix test-heavy fuzz-smoke \
	bench bench-core bench-server bench-questions performance lint docs clean

PORT ?= 6379
SERVER ?=
FUZZ_SECONDS ?= 20
FILTER ?=
ARGS ?=

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-12s %s\n", $$1, $$2 }'

setup: ## Install what is missing (libclang, redis-server), or print how to
	@SERVER='$(SERVER)' scripts/setup

build: setup ## Build the release library, target/release/libroarbits.so
	cargo build --release

run: setup ## Run a server with the module on 127.0.0.1; PORT=6379 SERVER=/path/to/redis-server DATA=.data
	@PORT='$(PORT)' SERVER='$(SERVER)' scripts/run

test: setup ## Run the core, spec and server rings
	@scripts/rings

test-core: setup ## Run the core ring: the structures, no server
	@scripts/rings core

test-spec: setup ## Run the spec ring: the table of commands
	@scripts/rings spec

test-server: setup ## Run the server ring against redis-server; ROARBITS_SERVER=/path for another
	@scripts/rings server

test-heavy: setup ## Run every command of the table on 100M ids; takes minutes
	@ROARBITS_HEAVY=1 scripts/rings server -- load::

test-matrix: setup ## Run the server ring on all five servers, fetched into .servers/
	@scripts/matrix

fuzz-smoke: setup ## Fuzz the decoders and the bitmap, 20 seconds each; FUZZ_SECONDS=180 for longer
	@scripts/fuzz '$(FUZZ_SECONDS)'

bench: ## Time the core by operation and shape beside the roaring crate; FILTER=and for some
	cargo bench -p roarbits-core --bench core -- $(FILTER)

bench-core: ## Measure what the core needs against its goals and by size; ARGS=--help for more
	@bench/core $(ARGS)

bench-server: build ## Measure RB.* beside its peers in live servers; ARGS=--help for more
	@bench/server $(ARGS)

bench-questions: build ## Measure RB.EXPR beside the chains it replaces, and PING meanwhile; ARGS=--help for more
	@bench/questions $(ARGS)

performance: ## Render docs/performance.md and its plots from bench/results
	@bench/render $(ARGS)

lint: setup ## Check formatting, clippy, the rooms' rules, rendered pages, scripts
	@scripts/lint

docs: ## Render docs/commands/*.md and docs/commands.json from the command table
	cargo run --quiet -p roarbits-spec --features render --bin render -- docs

clean: ## Remove what was built; fetched servers (.servers/) and data (.data/) stay
	cargo clean
	rm -rf fuzz/target
