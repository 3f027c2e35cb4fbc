# SPDX-License-Identifier: Apache-2.0
# fnet: one plain Makefile. `make help` lists the targets; V=1 shows the commands.

# The umbrella header alone states the version. (The dot stands for the hash sign.)
VERSION  := $(shell sed -n 's/^.define FNET_VERSION "\(.*\)"/\1/p' lib/include/fnet/fnet.h)
SOVERSION := 0
VARIANT  ?= release
BUILDROOT ?= build
BUILD    ?= $(BUILDROOT)/$(VARIANT)
# In one spelling, for the dependencies that the compiler noted are files by their names.
override BUILD := $(patsubst $(CURDIR)/%,%,$(abspath $(BUILD)))
SHARED   ?=
JOBS     ?= $(shell nproc 2>/dev/null || echo 2)

PREFIX       ?= /usr/local
BINDIR       ?= $(PREFIX)/bin
LIBDIR       ?= $(PREFIX)/lib
INCLUDEDIR   ?= $(PREFIX)/include
MANDIR       ?= $(PREFIX)/share/man
PKGCONFIGDIR ?= $(LIBDIR)/pkgconfig
BASHCOMPDIR  ?= $(PREFIX)/share/bash-completion/completions
ZSHCOMPDIR   ?= $(PREFIX)/share/zsh/site-functions
FISHCOMPDIR  ?= $(PREFIX)/share/fish/vendor_completions.d

CC         ?= cc
AR         ?= ar
INSTALL    ?= install
PKG_CONFIG ?= pkg-config
WERROR     ?=

# The codecs of compressed buffers: `yes`, `no`, or `auto`, where pkg-config finds the library.
# liblzo2 is under the GPL, which then holds for a whole program that is given away: a release has
# LZO only if that is asked for, builds for tests where it is found.
LZ4  ?= auto
ZSTD ?= auto
LZO  ?= $(if $(filter release,$(VARIANT)),no,auto)

# The rooms of the installed library, and those only the commands are made of.
LIB_ROOMS  := base wire event record
CORE_ROOMS := buffer compress capture partition gate stream session io
ROOMS      ?= $(LIB_ROOMS) $(CORE_ROOMS)
COMMANDS   := fnet-produce fnet-consume fnet-inspect
# The public headers of LIB_ROOMS that other programs may include.
LIB_HEADERS := fnet.h err.h bytes.h id.h data_type.h dialect.h throwable.h wire.h event.h record.h element.h value.h

WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes \
	-Wmissing-prototypes -Wpointer-arith -Wcast-align -Wwrite-strings -Wvla -Wundef \
	-Wswitch-enum -Wformat=2

OPT_release  := -O2 -D_FORTIFY_SOURCE=2 -DNDEBUG
OPT_debug    := -O1
OPT_asan     := -O1 -fsanitize=address -fno-omit-frame-pointer
OPT_ubsan    := -O1 -fsanitize=undefined -fno-sanitize-recover=all
OPT_tsan     := -O1 -fsanitize=thread
OPT_valgrind := -O1
OPT_coverage := -O0 --coverage
OPT_fuzz     := -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
OPT          := $(OPT_$(VARIANT))

# Asked for once, and only by a rule that compiles: a machine without pkg-config can still `make
# help`, and `make demo` can install it.
package_LZ4  := liblz4
package_ZSTD := libzstd
package_LZO  := lzo2
codec_found   = $(shell $(PKG_CONFIG) --exists $(package_$(1)) && echo yes)
CODECS        = $(eval CODECS := $(strip $(foreach c,LZ4 ZSTD LZO,$(if \
	$(filter yes,$($(c):auto=$(call codec_found,$(c)))),$(c)))))$(CODECS)
PKG_MODULES   = libsodium zlib $(foreach c,$(CODECS),$(package_$(c)))
PKG_CFLAGS    = $(eval PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PKG_MODULES)))$(PKG_CFLAGS)
PKG_LIBS      = $(eval PKG_LIBS := $(shell $(PKG_CONFIG) --libs $(PKG_MODULES)))$(PKG_LIBS)
PKG_LIBS_SO   = $(eval PKG_LIBS_SO := $(shell $(PKG_CONFIG) --libs libsodium))$(PKG_LIBS_SO)

ALL_CPPFLAGS  = -D_GNU_SOURCE -DFNET_VERSION='"$(VERSION)"' -Ilib/include -Icmd \
	$(PKG_CFLAGS) $(CPPFLAGS)
ALL_CFLAGS   := -std=c11 -g $(OPT) $(WARNINGS) $(WERROR) -fvisibility=hidden \
	-fstack-protector-strong -fPIE $(CFLAGS)
ALL_LDFLAGS  := $(OPT) -pie -Wl,-z,relro,-z,now $(LDFLAGS)
ALL_LDLIBS    = $(PKG_LIBS) $(LDLIBS)

Q := $(if $(V),,@)
silent := $(findstring s,$(firstword -$(MAKEFLAGS)))
say = $(if $(V)$(silent),,@printf '  %-7s %s\n' '$(1)' '$(2)')

cmd_folders   := $(patsubst cmd/%/,%,$(wildcard cmd/*/))
lib_sources   := $(foreach r,$(filter $(LIB_ROOMS),$(ROOMS)),$(wildcard lib/$(r)/*.c))
core_sources  := $(foreach r,$(filter $(CORE_ROOMS),$(ROOMS)),$(wildcard lib/$(r)/*.c))
cli_sources   := $(wildcard cmd/cli/*.c)
test_sources  := $(foreach r,$(ROOMS) $(cmd_folders),$(wildcard tests/unit/$(r)/test_*.c))
fuzz_sources  := $(wildcard tests/fuzz/fuzz_*.c)
bench_sources := $(wildcard tests/bench/*.c)
peer_sources  := $(wildcard tests/peer/*.c)
flink_sources := $(wildcard tests/flink/*.c)

object = $(patsubst %.c,$(BUILD)/%.o,$(1))
programs       := $(foreach c,$(COMMANDS),$(if $(wildcard cmd/$(c).c),$(BUILD)/$(c)))
test_programs  := $(patsubst %.c,$(BUILD)/%,$(test_sources))
bench_programs := $(patsubst %.c,$(BUILD)/%,$(bench_sources))
fake_peer      := $(BUILD)/tests/peer/fake_peer
flink_encoder  := $(BUILD)/tests/flink/encode
replays        := $(patsubst tests/fuzz/fuzz_%.c,$(BUILD)/tests/fuzz/replay_%,$(fuzz_sources))
fuzzers        := $(patsubst tests/fuzz/%.c,$(BUILD)/tests/fuzz/%,$(fuzz_sources))
shared_library := $(BUILD)/libfnet.so.$(VERSION)

.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:

## all: libfnet.a (libfnet.so too with SHARED=1) and the commands, in build/release (the default)
.PHONY: all
all: $(BUILD)/libfnet.a $(if $(SHARED),$(shared_library)) $(programs)

$(BUILD)/%.o: %.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# Which codecs there are shows in lib/compress alone, which is compiled anew when that changes.
$(BUILD)/lib/compress/%.o: ALL_CPPFLAGS += $(CODECS:%=-DHAVE_%)
$(call object,$(wildcard lib/compress/*.c)): $(BUILD)/codecs
.PHONY: codecs_may_have_changed
$(BUILD)/codecs: codecs_may_have_changed
	@mkdir -p $(@D)
	@echo '$(CODECS)' | cmp -s - $@ || echo '$(CODECS)' >$@

$(BUILD)/pic/%.o: %.c
	$(call say,CC,$< (pic))
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(filter-out -fPIE,$(ALL_CFLAGS)) -fPIC -MMD -MP -c -o $@ $<

$(BUILD)/libfnet.a: $(call object,$(lib_sources))
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# Not installed: the rooms above the library.
$(BUILD)/libfnet-core.a: $(call object,$(core_sources))
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/cmd/libcli.a: $(call object,$(cli_sources))
	$(call say,AR,$@)
	@mkdir -p $(@D)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(shared_library): $(patsubst %.c,$(BUILD)/pic/%.o,$(lib_sources))
	$(call say,LD,$@)
	$(Q)$(CC) $(OPT) $(LDFLAGS) -shared -Wl,-soname,libfnet.so.$(SOVERSION) \
		-Wl,-z,relro,-z,now -Wl,-z,defs -o $@ $^ $(PKG_LIBS_SO)

# A command is its own file, the objects of the folder that carries its name, and the libraries.
# A unit test may reach into such a folder the same way.
.SECONDEXPANSION:
folder_objects = $(call object,$(wildcard cmd/$(1)/*.c))

$(BUILD)/fnet-%: $(BUILD)/cmd/fnet-%.o $$(call folder_objects,$$*) \
		$(BUILD)/cmd/libcli.a $(BUILD)/libfnet-core.a $(BUILD)/libfnet.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(ALL_LDLIBS)

$(BUILD)/tests/unit/%: $(BUILD)/tests/unit/%.o $(BUILD)/tests/unit/failmalloc.o \
		$$(call folder_objects,$$(firstword $$(subst /, ,$$*))) \
		$(BUILD)/cmd/libcli.a $(BUILD)/libfnet-core.a $(BUILD)/libfnet.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(ALL_LDLIBS)

$(BUILD)/tests/fuzz/replay_%: $(BUILD)/tests/fuzz/fuzz_%.o $(BUILD)/tests/fuzz/replay_driver.o \
		$(BUILD)/cmd/libcli.a $(BUILD)/libfnet-core.a $(BUILD)/libfnet.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(ALL_LDLIBS)

$(BUILD)/tests/fuzz/fuzz_%: $(BUILD)/tests/fuzz/fuzz_%.o \
		$(BUILD)/cmd/libcli.a $(BUILD)/libfnet-core.a $(BUILD)/libfnet.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -fsanitize=fuzzer -o $@ $^ $(ALL_LDLIBS)

# The other side of a connection, for tests.
$(fake_peer): $(call object,$(peer_sources)) $(BUILD)/libfnet.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(ALL_LDLIBS)

# What Flink is to decode.
$(flink_encoder): $(call object,$(flink_sources)) $(BUILD)/libfnet-core.a $(BUILD)/libfnet.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(ALL_LDLIBS)

# Rivals and measuring tools stand alone.
$(BUILD)/tests/bench/%: $(BUILD)/tests/bench/%.o
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^

# ---- trying and testing ----------------------------------------------------------------------

# Targets below build by calling make again: packages that `deps` just installed are seen, and
# every variant has its own folder.
jobs    = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS))
variant = $(MAKE) --no-print-directory $(jobs) VARIANT=$(1) BUILD=$(BUILDROOT)/$(1)

## deps: install the Debian packages of .ci/packages that are missing (as root or by sudo)
.PHONY: deps
deps:
	$(Q).ci/deps

## demo: install what is missing, build, and show the main job at work
.PHONY: demo
demo:
	$(Q).ci/deps build
	+$(Q)$(call variant,release) all
	$(Q)BUILD=$(BUILDROOT)/release tests/demo.sh

## unit: build the unit test programs
.PHONY: unit
unit: $(test_programs)

## tools: build the corpus replays, the bench programs, the fake peer and the encoder of the tests
.PHONY: tools
tools: $(replays) $(bench_programs) $(fake_peer) $(flink_encoder)

## check: unit, command line and documentation tests and corpus replay; TESTS=FILES, LONG=1
.PHONY: check
check:
	$(Q).ci/deps build check
	+$(Q)$(call variant,debug) SHARED=1 all unit tools
	$(Q)BUILD=$(BUILDROOT)/debug tests/run.sh $(TESTS)

# A sanitizer's complaint is status 99, which no command uses. SLOWNESS stretches deadlines and
# shrinks the amounts of data of the tests.
define check_variant
	$(Q).ci/deps build check
	+$(Q)$(call variant,$(1)) all unit tools
	$(Q)BUILD=$(BUILDROOT)/$(1) SLOWNESS=$(2) tests/run.sh $(TESTS)
endef
export ASAN_OPTIONS  ?= exitcode=99:detect_stack_use_after_return=1
export LSAN_OPTIONS  ?= exitcode=99
export UBSAN_OPTIONS ?= exitcode=99:print_stacktrace=1
export TSAN_OPTIONS  ?= exitcode=99

## check-asan: the same under AddressSanitizer
.PHONY: check-asan
check-asan:
	$(call check_variant,asan,4)

## check-ubsan: the same under UndefinedBehaviorSanitizer
.PHONY: check-ubsan
check-ubsan:
	$(call check_variant,ubsan,2)

## check-tsan: the same under ThreadSanitizer
.PHONY: check-tsan
check-tsan:
	$(call check_variant,tsan,8)

## check-valgrind: the same with every program run by valgrind
.PHONY: check-valgrind
check-valgrind:
	$(Q).ci/deps
	+$(Q)$(call variant,valgrind) all unit tools
	$(Q)tests/valgrind.sh $(BUILDROOT)/valgrind
	$(Q)BUILD=$(BUILDROOT)/valgrind/wrapped SLOWNESS=30 tests/run.sh $(TESTS)

## check-flink: against Flink itself, out of Maven Central; VERSIONS='2.2.1 ...' only these
.PHONY: check-flink
check-flink:
	$(Q).ci/deps build check flink
	+$(Q)$(call variant,debug) all tools
	$(Q)BUILD=$(BUILDROOT)/debug tests/flink/check.sh $(VERSIONS)

## check-all: every variant, the long tests too, lint, and FUZZ_SECONDS of fuzzing per target
.PHONY: check-all
check-all:
	$(Q)LONG=1 SUITE_SECONDS=7200 FUZZ_SECONDS=$(FUZZ_SECONDS) .ci/run \
		check check-asan check-ubsan check-tsan check-valgrind lint fuzz dist check-flink

## fuzz: libFuzzer on every target, FUZZ_SECONDS (60) each; new inputs stay in build/fuzz/corpus
FUZZ_SECONDS ?= 60
.PHONY: fuzz fuzzers
fuzz:
	$(Q).ci/deps
	+$(Q)$(call variant,fuzz) CC=clang fuzzers
	$(Q)BUILD=$(BUILDROOT)/fuzz FUZZ_SECONDS=$(FUZZ_SECONDS) JOBS=$(JOBS) tests/fuzz/fuzz.sh $(TARGETS)
fuzzers: $(fuzzers)

## bench: measure it all (tests/bench/README); SECTIONS='grid ...', QUICK=1, BASELINE=FILE
.PHONY: bench
bench:
	$(Q).ci/deps build bench
	+$(Q)$(call variant,release) all tools
	$(Q)BUILD=$(BUILDROOT)/release tests/bench/bench.sh $(SECTIONS)

## coverage: the tests on an instrumented build, then a table of covered lines per room
.PHONY: coverage
coverage:
	$(Q).ci/deps build check
	$(Q)find $(BUILDROOT)/coverage -name '*.gcda' -delete 2>/dev/null || true
	+$(Q)$(call variant,coverage) all unit tools
	$(Q)BUILD=$(BUILDROOT)/coverage tests/run.sh $(TESTS)
	$(Q)tests/coverage.sh $(BUILDROOT)/coverage

## lint: every static check that is installed; CHECKS='layers style ...' only those
.PHONY: lint
lint:
	$(Q)BUILDROOT=$(BUILDROOT) JOBS=$(JOBS) tests/lint/lint.sh $(CHECKS)

## fmt: clang-format over all sources
.PHONY: fmt
fmt:
	$(Q)tests/lint/sources.sh c | xargs clang-format -i

## fmt-check: say which sources clang-format would change
.PHONY: fmt-check
fmt-check:
	$(Q)tests/lint/lint.sh format

# ---- installing ------------------------------------------------------------------------------

# What is installed, as MODE:FILE:WHERE. uninstall walks the same list.
manifest := \
	$(foreach p,$(programs),755:$(p):$(BINDIR)/$(notdir $(p))) \
	644:$(BUILD)/libfnet.a:$(LIBDIR)/libfnet.a \
	755:$(shared_library):$(LIBDIR)/$(notdir $(shared_library)) \
	644:$(BUILD)/fnet.pc:$(PKGCONFIGDIR)/fnet.pc \
	$(foreach h,$(LIB_HEADERS),644:lib/include/fnet/$(h):$(INCLUDEDIR)/fnet/$(h)) \
	$(foreach m,$(wildcard man/*.[1-9]),644:$(m):$(MANDIR)/man$(subst .,,$(suffix $(m)))/$(notdir $(m))) \
	$(foreach c,$(wildcard completions/bash/*),644:$(c):$(BASHCOMPDIR)/$(notdir $(c))) \
	$(foreach c,$(wildcard completions/zsh/*),644:$(c):$(ZSHCOMPDIR)/$(notdir $(c))) \
	$(foreach c,$(wildcard completions/fish/*),644:$(c):$(FISHCOMPDIR)/$(notdir $(c)))

# Made anew each time: PREFIX may be another one now.
.PHONY: $(BUILD)/fnet.pc
$(BUILD)/fnet.pc: fnet.pc.in
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
		-e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' -e 's|@VERSION@|$(VERSION)|' $< > $@

## install: the commands, library, pages and completions; PREFIX=/usr/local, DESTDIR, ...DIR
.PHONY: install
install: $(BUILD)/libfnet.a $(shared_library) $(programs) $(BUILD)/fnet.pc
	$(Q)set -e; for entry in $(manifest); do \
		mode=$${entry%%:*}; rest=$${entry#*:}; \
		$(INSTALL) -D -m "$$mode" "$${rest%%:*}" "$(DESTDIR)$${rest#*:}"; \
	done
	$(Q)ln -sf libfnet.so.$(VERSION) "$(DESTDIR)$(LIBDIR)/libfnet.so.$(SOVERSION)"
	$(Q)ln -sf libfnet.so.$(SOVERSION) "$(DESTDIR)$(LIBDIR)/libfnet.so"

## uninstall: remove what install put there (the same variables)
.PHONY: uninstall
uninstall:
	$(Q)for entry in $(manifest); do rm -f "$(DESTDIR)$${entry##*:}"; done
	$(Q)rm -f "$(DESTDIR)$(LIBDIR)/libfnet.so.$(SOVERSION)" "$(DESTDIR)$(LIBDIR)/libfnet.so"
	$(Q)if [ -d "$(DESTDIR)$(INCLUDEDIR)/fnet" ]; then rmdir "$(DESTDIR)$(INCLUDEDIR)/fnet"; fi

## dist: build/fnet-VERSION.tar.gz of the last commit, built and checked from the tar
.PHONY: dist
dist_name := fnet-$(VERSION)
dist:
	$(Q)mkdir -p $(BUILDROOT)/dist && rm -rf $(BUILDROOT)/dist/$(dist_name)
	$(Q)git archive --prefix=$(dist_name)/ -o $(BUILDROOT)/$(dist_name).tar.gz HEAD
	$(Q)tar -xzf $(BUILDROOT)/$(dist_name).tar.gz -C $(BUILDROOT)/dist
	+$(Q)$(MAKE) --no-print-directory -C $(BUILDROOT)/dist/$(dist_name) all
	+$(Q)$(MAKE) --no-print-directory -C $(BUILDROOT)/dist/$(dist_name) check

## clean: remove build/
.PHONY: clean
clean:
	$(Q)rm -rf $(BUILDROOT)

## help: this list
.PHONY: help
help:
	@sed -n 's/^## //p' Makefile | awk -F': ' '{printf "  %-16s %s\n", $$1, $$2}'

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
