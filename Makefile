# Trivance in a few commands, over CMake. `make help` lists them.

BUILD  ?= build
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc)

.PHONY: all demo check bench install uninstall clean help
.DEFAULT_GOAL := all

all: $(BUILD)/build.ninja
	@cmake --build $(BUILD) -j $(JOBS)

# The main job on 9 MPI ranks of this machine, then the plan of it as a picture.
demo:
	@scripts/dependencies.sh build
	@$(MAKE) --no-print-directory all
	@scripts/demo.sh $(BUILD)

# Every test: normal build, sanitizers, valgrind, both MPIs, fuzzers.
check:
	@scripts/dependencies.sh build check
	@JOBS=$(JOBS) scripts/check.sh $(BUILD)

bench: all
	@scripts/bench.sh $(BUILD)

install: all
	@cmake -S . -B $(BUILD) -DCMAKE_INSTALL_PREFIX=$(PREFIX) > /dev/null
	@cmake --install $(BUILD)

uninstall:
	@test -f $(BUILD)/install_manifest.txt || { echo "nothing to remove: no 'make install' was done from $(BUILD)"; exit 1; }
	@xargs -a $(BUILD)/install_manifest.txt -d '\n' rm -fv

clean:
	@rm -rf build build-address build-thread

help:
	@echo "make demo               AllReduce on 9 MPI ranks by every algorithm, then a drawn plan"
	@echo "make check              every test: both MPIs, sanitizers, valgrind, fuzzers"
	@echo "make                    build everything into $(BUILD)/"
	@echo "make install PREFIX=…   install to PREFIX (default $(PREFIX)); DESTDIR works"
	@echo "make uninstall          remove what the last 'make install' put there"
	@echo "make bench              the benchmarks: plans, reductions, overhead"
	@echo "make clean              remove the build folders"

$(BUILD)/build.ninja: CMakeLists.txt
	@scripts/dependencies.sh build
	@cmake -S . -B $(BUILD) -G Ninja
