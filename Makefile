# make build | check | test | fuzz | worlds | soak | bench | tools
GO        ?= go
FUZZTIME  ?= 3s
WORLDS    ?= 24000
KILLS     ?= 1000
CUTS      ?= 1000

.PHONY: build check format vet lint race e2e test fuzz worlds soak bench postgresql chromium tools

build:
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/lastdrop ./cmd/lastdrop

check: format vet lint race fuzz

# everything, on a clean clone: installs what is missing first
test: check e2e

format:
	@out=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$out" ] || { echo "gofmt would change:"; echo "$$out"; exit 1; }

vet:
	$(GO) vet ./...
	$(GO) vet -tags e2e ./internal/e2e

lint:
	$(GO) tool -modfile=tools.mod staticcheck ./...
	$(GO) tool -modfile=tools.mod staticcheck -tags e2e ./internal/e2e

# SQLite's code, translated from C, is not watched: half of the time would go into it
race: tools
	$(GO) test -race -gcflags=modernc.org/sqlite/lib=-race=false ./...

# the tests of the PostgreSQL output run a real server, those of the pages a real browser, those of power cuts run under
# strace: they fail without
tools: postgresql chromium
	@bash internal/e2e/install.sh strace

postgresql:
	@bash internal/e2e/install.sh postgresql

chromium:
	@bash internal/e2e/install.sh chromium

e2e:
	$(GO) test -tags e2e -count=1 ./internal/e2e

# a short turn of every fuzz target
fuzz:
	@for pkg in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
	    echo "fuzz $$pkg $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x $$pkg || exit 1; \
	  done; done

# the one law over many random hostile worlds
worlds:
	$(GO) test ./fetcher -run '^TestLaw$$' -count=1 -timeout 60m -v -worlds $(WORLDS)

# SIGKILL at random instants, and power cuts (with strace); prints what was lost and doubled, and ends by itself
soak: build
	$(GO) test ./cmd/lastdrop -run '^(TestKilledAnywhere|TestPowerCut)$$' -count=1 -v -timeout 90m \
	  -kills $(KILLS) -kill-time 40m -power-cuts $(CUTS) -lastdrop $(CURDIR)/bin/lastdrop

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./internal/jsonscan ./fetcher ./store ./internal/sink ./internal/web ./judge
