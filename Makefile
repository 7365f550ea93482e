# Two commands come first: `make run` shows the product, `make test` proves it.
# Everything below needs Go; what needs more says so and names the install line.

GO        ?= go
TOOLS     := .tools
LINT      := $(TOOLS)/golangci-lint
BUILD     := .build
# One platform for each system and each processor; `make cross-all` takes all that are left.
CROSS     ?= linux/arm64 darwin/arm64 windows/amd64
CROSS_ALL := $(CROSS) darwin/amd64 windows/arm64
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS   := -s -w -X main.version=$(VERSION)

.DEFAULT_GOAL := help
.PHONY: help run build test testreport check check-rest lint fmt vet cross cross-all cover status tools tools-go assets judges-cache judges-fetch judges-pdf judges-psrp judges-web soak-cache soak-simulation soak-psrp soak-crash soak-restart soak-overload soak-images soak-shaping soak-pages soak-rows heavyread vulncheck clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z][a-zA-Z-]*:.*## /{printf "  %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# What is compiled to be tested or checked takes a quarter less of the processor this way, and is the
# same code: no tables for debuggers, which test binaries do not have anyway, and a heap of the
# compiler that is collected when it has grown to 256 MiB. tools/testreport repeats the flags.
# Without the checkout's path in what is compiled, one checkout's build cache serves the next.
test lint vet cover bench-test bench-gate: export GOFLAGS := $(GOFLAGS) -trimpath '-gcflags=all=-dwarf=false -d=gcstart=256'
# What is compiled for other platforms is never run, so it is not optimised: a third less again.
cross: export GOFLAGS := $(GOFLAGS) -trimpath '-gcflags=all=-N -l -dwarf=false -d=gcstart=256'

run: ## build and start the demo; prints one URL (ARGS=--reset empties it first)
	@echo 'building quire (the first build compiles everything and takes a minute or two)' >&2
	@$(GO) run ./cmd/quire demo $(ARGS)

build: ## one static binary in bin/
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/quire ./cmd/quire

test: testreport ## the whole suite; says at its end which outside judges were missing
	@$(BUILD)/testreport -dir $(BUILD)/test run

testreport:
	@mkdir -p $(BUILD)
	@$(GO) -C tools build -trimpath -buildvcs=false -o ../$(BUILD)/testreport ./testreport

check: lint test check-rest ## everything that must hold before a change lands

check-rest: vet cross cover status assets bench-test bench-gate ## what check adds to lint and test

lint: $(LINT) ## golangci-lint, 0 findings
	$(LINT) run ./...
	$(LINT) fmt --diff ./...
	cd tools && ../$(LINT) run -c ../.golangci.yml ./...
	cd tools && ../$(LINT) fmt -c ../.golangci.yml --diff ./...
	@$(MAKE) --no-print-directory bench-lint

fmt: $(LINT) ## format as lint wants it
	$(LINT) fmt ./...

vet: ## go vet, tests included
	$(GO) vet ./...

cross-all: ## vet and build for every supported platform
	@$(MAKE) cross CROSS='$(CROSS_ALL)'

cross: ## vet and build for the other systems and processors, tests included
	@set -e; for p in $(CROSS); do \
		echo "vet $$p"; export GOOS=$${p%/*} GOARCH=$${p#*/} CGO_ENABLED=0; \
		$(GO) vet ./...; $(GO) build -ldflags '$(LDFLAGS)' -o /dev/null ./cmd/quire; \
	done

cover: testreport ## coverage of the libraries by package; fails one below its threshold
	@$(BUILD)/testreport -dir $(BUILD)/test cover

status: testreport ## every row that docs/*-status.md calls done was proved by the last `make test`
	@$(BUILD)/testreport -dir $(BUILD)/test status

tools: tools-go ## install the judges and developer tools (Debian packages by apt-get)
	./tools/install-judges

tools-go: $(LINT)

$(LINT): tools/go.mod
	@mkdir -p $(TOOLS)
	cd tools && $(GO) build -trimpath -o ../$(LINT) github.com/golangci/golangci-lint/v2/cmd/golangci-lint

assets: ## rebuild the embedded third-party assets and compare
	./tools/build-assets

judges-psrp: ## all judges of psrp: recordings of real PowerShell and Windows servers, psrpcore, OpenSSL, fuzzing (needs `make tools`)
	@./tools/judges-psrp

soak-psrp: ## the judges of psrp with ten minutes for each fuzz target
	@FUZZTIME=10m ./tools/judges-psrp

judges-web: ## all judges of web: Autobahn, h2spec, spectral, Schemathesis, httplint, REDbot, slowhttptest, Wycheproof, clients of others, Chromium, promtool, Redis, fuzzing; then planted faults (needs `make tools`)
	@./tools/judges-web

soak-crash: ## 200 kills of a server that makes documents under load
	@QUIRE_KILLS=200 $(GO) test ./internal/app -run '^TestCrash$$' -count=1 -v -timeout 20m

soak-restart: ## 100 restarts of a server under load over kept connections
	@QUIRE_RESTARTS=100 $(GO) test ./cmd/quire -run '^TestRestartUnderLoadLosesNoRequest$$' -count=1 -v -timeout 20m

soak-overload: ## five times the capacity of one processor for a minute, with the time that refusals take
	@QUIRE_OVERLOAD=60s $(GO) test ./cmd/quire -run '^TestUnderOverloadEveryRequestIsMadeOrRefused$$' -count=1 -v -timeout 20m

soak-images: build ## ten large images at once, given to the whole program: its memory
	@QUIRE_PROGRAM=$(CURDIR)/bin/quire $(GO) test ./internal/api/internal/memory -count=1 -v -timeout 20m

soak-shaping: ## a million words in each embedded face: the fast path of shaping gives the glyphs of the slow one
	@QUIRE_WORDS=1000000 $(GO) test ./pdf/internal/text/gotext -run '^TestFastPathEqualsTheSlowOne$$' -count=1 -v -timeout 60m

soak-pages: ## documents of 100,000 pages, plain and tagged, keep so little that a process takes less than 64 MiB
	@QUIRE_PAGES=100000 $(GO) test ./pdf -run '^TestPagesTakeLittleMemory$$' -count=1 -v -timeout 20m

soak-rows: ## a tagged table of 1,000,000 streamed rows: ten times the work, time and bytes of 100,000, and little memory
	@QUIRE_ROWS=1000000 $(GO) test ./pdf -run '^TestRowsTakeLinearWork$$' -count=1 -v -timeout 60m

judges-cache: ## all judges of cache: one suite on Redis 7.0, Redis 6.2 and Valkey, a million calls of processes that are cut, stopped and killed, promtool, fuzzing; then planted faults (needs `make tools`)
	@./tools/judges-cache

soak-cache: ## the processes over each server for ten minutes in all (SOAK=1h), with all that goes wrong
	@REQUIRE_JUDGES=1 QUIRE_CALLS=1500 QUIRE_SOAK=$(or $(SOAK),10m) $(GO) test ./cache/cacheredis/processes -run '^TestProcessesOverARealServer$$' -count=1 -v -timeout 24h

soak-simulation: ## 100,000 simulated runs (RUNS=n) of six caches between which everything goes wrong; a failure names the number that runs it again (SEED=n is the first)
	@QUIRE_RUNS=$(or $(RUNS),100000) QUIRE_SEED=$(or $(SEED),1) $(GO) test ./cache -run '^TestSimulatedFaults$$' -count=1 -v -timeout 24h

judges-fetch: ## all judges of fetch: http-cache-tests beside nginx, squid and varnish, differential checks, faults over TCP, fuzzing; then planted faults
	@./tools/judges-fetch

judges-pdf: ## judges of pdf: every sample and a matrix by veraPDF, qpdf and pdftotext, 60 forbidden documents; then planted faults (needs `make tools`)
	@./tools/judges-pdf

heavyread: ## start redis-server, one writer and two readers of examples/heavyread (needs `make tools`)
	@$(GO) build -o $(BUILD)/heavyread ./examples/heavyread
	@$(BUILD)/heavyread all -data $(BUILD)/heavyread-posts

vulncheck: ## known vulnerabilities in what is linked; needs the network
	cd tools && $(GO) build -o ../$(TOOLS)/govulncheck golang.org/x/vuln/cmd/govulncheck
	$(TOOLS)/govulncheck ./...

clean: ## remove what was built here
	rm -rf $(BUILD) bin .quire-demo

include bench/bench.mk
