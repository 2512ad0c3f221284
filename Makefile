# Short commands on top of CMake; `make help` lists them.

BUILD  ?= build
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc)

# Validate the variables here; otherwise the first consumer reports a confusing error.
ifeq ($(shell printf '%s' '$(JOBS)' | grep -xE '[1-9][0-9]{0,3}'),)
$(error JOBS=$(JOBS) is not a number of jobs from 1 to 9999, for example JOBS=4)
endif
ifneq ($(words $(BUILD)),1)
$(error BUILD='$(BUILD)' is not one folder without spaces, for example BUILD=build)
endif
ifneq ($(shell test -e '$(BUILD)' && ! test -d '$(BUILD)' && echo a file),)
$(error BUILD=$(BUILD) is a file; expected a folder for the build, for example BUILD=build)
endif

.PHONY: all demo explorer docs check check-fresh check-all check-programs check-torch soak bench fuzz install uninstall dist clean help
.DEFAULT_GOAL := all

all: $(BUILD)/build.ninja
	@cmake --build $(BUILD) -j $(JOBS)

# AllReduce on 9 MPI ranks, simulated times, the drop-in and a schedule; builds only the programs required for these.
demo:
	@scripts/dependencies.sh build
	@cmake -S . -B $(BUILD) -G Ninja > /dev/null
	@build() { cmake --build $(BUILD) -j $(JOBS) --target \
	    trivance trivance-mpi.openmpi trivance_pmpi_openmpi conjugate_gradient.openmpi; }; \
	if [ -t 1 ]; then build; else echo "Building"; build > $(BUILD)/demo.log || { cat $(BUILD)/demo.log; exit 1; }; fi
	@scripts/demo.sh $(BUILD)

# The explorer, one HTML file: build/bin/explorer.html, which `trivance explore` copies.
explorer:
	@scripts/dependencies.sh build explorer
	@cmake -S . -B $(BUILD) -G Ninja > /dev/null
	@cmake --build $(BUILD) -j $(JOBS) --target explorer trivance
	@$(BUILD)/bin/trivance explore -o trivance-explorer.html

# The documentation as a site, build/docs/html, and the man pages of the C interface, build/docs/man3.
docs:
	@scripts/dependencies.sh docs
	@scripts/docs.sh $(BUILD)
	@echo "Man pages: man -M $(BUILD)/docs trv_planner_best"
	@echo "Site: $(BUILD)/docs/html/index.html, or, with the search, python3 -m http.server -d $(BUILD)/docs/html"

# A sample of every component's tests, in minutes: both MPIs, libfabric, the tool, the simulator, the documents.
check:
	@scripts/dependencies.sh build check
	@JOBS=$(JOBS) scripts/check.sh quick $(BUILD)

# The two commands of README.md on a fresh machine: a minimal Debian root in a folder. Needs root, mmdebstrap and apt.
check-fresh:
	@scripts/fresh.sh

# The tests that `make check` does not run: all sizes and ranks, sanitizers, valgrind, models, packages, browser, testbed,
# soak.
check-all:
	@scripts/dependencies.sh build check check-all docs testbed
	@scripts/dependencies.sh explorer browser || echo "Without these packages the tests of the explorer are skipped."
	@JOBS=$(JOBS) scripts/check.sh exhaustive $(BUILD)

# Runs programs from Debian without and with the preload libraries.
check-programs: all
	@scripts/dependencies.sh build check netpipe programs
	@scripts/programs.sh $(BUILD)

# The backend of torch.distributed: PyTorch is a large download, so `make check-all` tests it only where it is installed.
check-torch:
	@scripts/dependencies.sh build check torch
	@cmake -S . -B $(BUILD) -G Ninja > /dev/null
	@cmake --build $(BUILD) -j $(JOBS)
	@ctest --test-dir $(BUILD) -L torch -j $(JOBS) --output-on-failure

# Random programs with both MPIs and without MPI, CALLS for each; every result is compared. `make check-all` runs a
# tenth.
CALLS ?= 200000
soak: all
	@CALLS=$(CALLS) scripts/soak.sh $(BUILD)

bench:
	@cmake -S . -B $(BUILD) -G Ninja -DTRIVANCE_BENCH=ON > /dev/null
	@cmake --build $(BUILD) -j $(JOBS)
	@scripts/bench.sh $(BUILD)

# libFuzzer on user input and on schedule files, SECONDS for each target.
SECONDS ?= 60
fuzz:
	@scripts/dependencies.sh build clang
	@cmake -S . -B build-fuzz -G Ninja -DCMAKE_C_COMPILER=clang -DTRIVANCE_SANITIZE=address -DTRIVANCE_FUZZ=ON \
	    -DTRIVANCE_MPI=OFF > /dev/null
	@cmake --build build-fuzz -j $(JOBS) --target libfuzzer_torus libfuzzer_parse libfuzzer_schedule libfuzzer_goal
	@for target in torus parse schedule goal; do \
	    mkdir -p build-fuzz/corpus/$$target && \
	    build-fuzz/tests/fuzz/libfuzzer_$$target -max_total_time=$(SECONDS) -print_final_stats=1 \
	        build-fuzz/corpus/$$target tests/fuzz/corpus/$$target || exit 1; \
	done

install: all
	@cmake -S . -B $(BUILD) -DCMAKE_INSTALL_PREFIX=$(PREFIX) > /dev/null
	@cmake --install $(BUILD)

uninstall:
	@test -f $(BUILD)/install_manifest.txt || \
	    { echo "nothing to remove: $(BUILD) has no record of a 'make install'"; exit 1; }
	@xargs -a $(BUILD)/install_manifest.txt -d '\n' rm -fv
	@sed -n ':up; s|/[^/]*$$||; /\/trivance/ { p; b up }' $(BUILD)/install_manifest.txt | sort -ru | \
	    xargs -r -d '\n' rmdir --ignore-fail-on-non-empty

# An archive of the sources of the last commit, without the research (.gitattributes). The same versions of git and gzip
# make the same bytes: the times in it are that of the commit, gzip stores neither a name nor a time, and settings of the
# user are overridden.
dist:
	@version=$$(sed -n 's/^project(trivance VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt) && \
	    git -c tar.umask=0022 -c core.autocrlf=false archive --format=tar --prefix=trivance-$$version/ HEAD \
	        -o trivance-$$version.tar && gzip -9 -n -f trivance-$$version.tar && sha256sum trivance-$$version.tar.gz

clean:
	@rm -rf build build-address build-thread build-fuzz

help:
	@echo "make demo               results on 9 MPI ranks, simulated times, the drop-in, a drawn schedule"
	@echo "make explorer           trivance-explorer.html: look at networks, schedules and times in a browser"
	@echo "make docs               the documentation as a site, and man pages of the C interface"
	@echo "make check              the quick tests: every component, both MPIs"
	@echo "make check-fresh        'make demo' and 'make check' in a minimal Debian root, as root"
	@echo "make check-all          all other tests: every size, sanitizers, valgrind, models, packages, browser"
	@echo "make check-programs     mpi4py, NetPIPE, HPCC, LAMMPS and MUMPS without and with Trivance"
	@echo "make check-torch        installs PyTorch, tests the backend of torch.distributed"
	@echo "make soak CALLS=200000  random programs with Trivance, every result compared"
	@echo "make                    build everything into $(BUILD)/"
	@echo "make install PREFIX=…   install to PREFIX (default $(PREFIX)); DESTDIR works"
	@echo "make uninstall          remove the files of the last 'make install'"
	@echo "make dist               trivance-VERSION.tar.gz, the sources of the last commit, reproducible"
	@echo "make bench              the benchmarks: plans, reductions, overhead"
	@echo "make fuzz SECONDS=60    libFuzzer on every reader of text"
	@echo "make clean              remove the build folders"

$(BUILD)/build.ninja: CMakeLists.txt
	@scripts/dependencies.sh build
	@cmake -S . -B $(BUILD) -G Ninja
