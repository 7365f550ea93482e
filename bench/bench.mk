# The one harness for measuring speed and for the counts that `make check` gates.
# Paths are relative to the root of the repository, whose Makefile includes this.
#
#   make bench RUN='path|web'             rows whose suite/row matches
#   make bench-save NAME=before RUN=path  measure longer and keep the run
#   make bench-compare A=before B=after   old, new, change, verdict
#   make bench-report NAME=after          put a saved run into docs/benchmarks/
#   make bench-contract-notes             the mix of contract notes, beside other libraries
#   make bench-heavyread                  examples/heavyread by wrk, beside nginx and others

BENCH     := .build/bench
BENCHARGS ?=

# Where `make tools` unpacks nginx.
bench bench-save bench-test: export PATH := $(PATH):$(CURDIR)/.tools/proxies/root/usr/sbin

.PHONY: bench bench-save bench-compare bench-selfcheck bench-report bench-list bench-gate bench-gate-update bench-test bench-lint bench-build bench-heavyread bench-contract-notes

bench-build:
	@mkdir -p .build
	@cd bench && $(GO) build -trimpath -buildvcs=false -o ../$(BENCH) ./cmd/bench

bench: bench-build ## measure; RUN=regexp selects suite/row; goes on where an interrupted run ended
	@$(BENCH) run -run '$(RUN)' $(BENCHARGS)

bench-save: bench-build ## measure longer and keep the run as NAME (default: time and commit)
	@$(BENCH) save -name '$(NAME)' -run '$(RUN)' $(BENCHARGS)

bench-contract-notes: bench-build ## contract notes, per kind and mixed, plain, compliant and signed, by one and two workers, and documents of one shape, beside other libraries
	@$(BENCH) run -run '^(contract-notes|documents|pdfops)/' $(BENCHARGS)

bench-compare: bench-build ## compare the saved runs A and B
	@$(BENCH) compare $(BENCHARGS) '$(A)' '$(B)'

bench-selfcheck: bench-build ## the harness tells a tenth apart and calls equal things equal
	@$(BENCH) selfcheck $(BENCHARGS)

bench-report: bench-build ## write docs/benchmarks/ from the kept runs; NAME=x first keeps saved run x
	@$(BENCH) report $(BENCHARGS) '$(NAME)'

bench-list: bench-build ## list suites, rows, contestants and saved runs
	@$(BENCH) list $(BENCHARGS)

bench-gate: bench-build ## allocations, bytes, instructions, output hashes and program size against bench/baseline/
	@$(BENCH) gate $(BENCHARGS)

bench-gate-update: bench-build ## measure the gate's baselines anew, RUN=regexp only those of some kernels, and print what changed
	@$(BENCH) gate-update -only '$(RUN)' $(BENCHARGS)

WRK_THREADS     ?= 4
WRK_CONNECTIONS ?= 400
WRK_DURATION    ?= 10s

bench-heavyread: ## measure examples/heavyread, 12 minutes; writes docs/benchmarks/heavyread.md (needs `make tools`)
	@mkdir -p .build
	@cd bench && $(GO) build -trimpath -buildvcs=false -o ../.build/bench-heavyread ./cmd/heavyread
	@.build/bench-heavyread -threads $(WRK_THREADS) -connections $(WRK_CONNECTIONS) -duration $(WRK_DURATION) $(BENCHARGS)

bench-test:
	cd bench && $(GO) vet ./... && $(GO) test ./...

bench-lint: $(LINT)
	cd bench && ../$(LINT) run -c ../.golangci.yml ./...
	cd bench && ../$(LINT) fmt -c ../.golangci.yml --diff ./...
