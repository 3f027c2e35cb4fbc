# SPDX-License-Identifier: Apache-2.0
# fnet: one plain Makefile. `make help` lists the targets; V=1 shows the commands.

VERSION  := 0.1.0
VARIANT  ?= release
BUILD    ?= build/$(VARIANT)

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
PKG_CONFIG ?= pkg-config
WERROR     ?=

# The rooms of the installed library, and those only the commands are made of.
LIB_ROOMS  := base wire event record
CORE_ROOMS := buffer capture partition gate stream session io
ROOMS      ?= $(LIB_ROOMS) $(CORE_ROOMS)
COMMANDS   := fnet-produce fnet-consume fnet-inspect

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
OPT          := $(OPT_$(VARIANT))

ALL_CPPFLAGS := -D_GNU_SOURCE -DFNET_VERSION='"$(VERSION)"' -Ilib/include -Icmd \
	$(shell $(PKG_CONFIG) --cflags libsodium zlib) $(CPPFLAGS)
ALL_CFLAGS   := -std=c11 -g $(OPT) $(WARNINGS) $(WERROR) -fvisibility=hidden \
	-fstack-protector-strong -fPIE $(CFLAGS)
ALL_LDFLAGS  := $(OPT) -pie -Wl,-z,relro,-z,now $(LDFLAGS)
ALL_LDLIBS   := $(shell $(PKG_CONFIG) --libs libsodium zlib) $(LDLIBS)

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' '$(1)' '$(2)')

lib_sources   := $(foreach r,$(filter $(LIB_ROOMS),$(ROOMS)),$(wildcard lib/$(r)/*.c))
core_sources  := $(foreach r,$(filter $(CORE_ROOMS),$(ROOMS)),$(wildcard lib/$(r)/*.c))
cli_sources   := $(wildcard cmd/cli/*.c)
test_sources  := $(foreach r,$(ROOMS) cli,$(wildcard tests/unit/$(r)/test_*.c))
fuzz_sources  := $(wildcard tests/fuzz/fuzz_*.c)
lib_headers   := $(wildcard lib/include/fnet/*.h)

object = $(patsubst %.c,$(BUILD)/%.o,$(1))
programs      := $(foreach c,$(COMMANDS),$(if $(wildcard cmd/$(c).c),$(BUILD)/$(c)))
test_programs := $(patsubst %.c,$(BUILD)/%,$(test_sources))
replays       := $(patsubst tests/fuzz/fuzz_%.c,$(BUILD)/tests/fuzz/replay_%,$(fuzz_sources))

.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:

## all: libfnet.a and the commands, in build/release (the default)
.PHONY: all
all: $(BUILD)/libfnet.a $(programs)

$(BUILD)/%.o: %.c
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

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
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/libfnet.so.$(VERSION): $(patsubst %.c,$(BUILD)/pic/%.o,$(lib_sources))
	$(call say,LD,$@)
	$(Q)$(CC) $(OPT) $(LDFLAGS) -shared -Wl,-soname,libfnet.so.0 -Wl,-z,relro,-z,now -o $@ $^ \
		$(shell $(PKG_CONFIG) --libs libsodium)

# A command is its own file, the objects of the folder that carries its name, and the libraries.
.SECONDEXPANSION:
$(BUILD)/fnet-%: $(BUILD)/cmd/fnet-%.o $$(call object,$$(wildcard cmd/$$*/*.c)) \
		$(BUILD)/cmd/libcli.a $(BUILD)/libfnet-core.a $(BUILD)/libfnet.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(ALL_LDLIBS)

$(BUILD)/tests/unit/%: $(BUILD)/tests/unit/%.o $(BUILD)/tests/unit/failmalloc.o \
		$(BUILD)/cmd/libcli.a $(BUILD)/libfnet-core.a $(BUILD)/libfnet.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(ALL_LDLIBS)

$(BUILD)/tests/fuzz/replay_%: $(BUILD)/tests/fuzz/fuzz_%.o $(BUILD)/tests/fuzz/replay_driver.o \
		$(BUILD)/cmd/libcli.a $(BUILD)/libfnet-core.a $(BUILD)/libfnet.a
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(ALL_LDLIBS)

## unit: build the unit test programs
.PHONY: unit
unit: $(test_programs)

## help: this list
.PHONY: help
help:
	@sed -n 's/^## //p' Makefile | awk -F': ' '{printf "  %-16s %s\n", $$1, $$2}'

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
