# Builds, installs and checks the extension with PGXS:
#   make && sudo make install && make installcheck
# PG_CONFIG selects the PostgreSQL installation, and COPT adds compiler flags. In another folder,
#   make -f /path/to/snowdrift/Makefile
# builds there. CMakeLists.txt has the client library, the C++ tests and the benchmarks.

EXTENSION = snowdrift
MODULE_big = snowdrift
DATA = snowdrift--1.0.sql
OBJS = $(patsubst $(srcdir)/%.cpp,%.o,$(wildcard $(addprefix $(srcdir)/src/pg/,*.cpp */*.cpp)))
DEPENDENCIES = $(OBJS:.o=.d)
EXTRA_CLEAN = $(DEPENDENCIES)

# What the SQL edition has, too. Its server is not that of installcheck: ./dev test sql-edition.
REGRESS_BOTH = snowflake snowflake_errors snowflake_layout snowflake_text typeid uuidv7 range_predicates range_plans \
	snowflake_generators spread partition_jobs audit conversion_risks conversions conversion_script feeds seals
# Those that create roles and event triggers
REGRESS_BOTH_SUPERUSER = convert_column convert_keys conversion_rights
REGRESS = helpers $(REGRESS_BOTH) $(REGRESS_BOTH_SUPERUSER) snowflake_storage layout_type ulid_type ulid_generator uuidv7_fields sno_type id_index sno_generator \
	generators equal_ids generator_dependents watermark drawn_before feeds_extension generator_overflow snapshots advance time_units snowflake_at back_filling time_predicates time_plans \
	time_estimates uuidv7_plans generator_layout partitioning partition_layouts drop_partitions partition_rights audit_extension diagrams id_types_usage catalog \
	locks settings decoys privileges core_queries
# The tests whose results can change with preloading, which reserves shared memory, or with parallel workers. The suite
# preloaded of ./dev test runs the others with --long.
REGRESS_PRELOADED = helpers snowflake snowflake_generators snowflake_storage ulid_type ulid_generator uuidv7 sno_type sno_generator \
	generators watermark drawn_before generator_overflow snapshots advance time_units snowflake_at settings range_predicates \
	range_plans time_predicates time_plans time_estimates id_index core_queries
ISOLATION_PRELOADED = backfill block_transactions generator_create generator_drop renewed_extension snapshot_restore watch \
	watermark_readers watermark_statement
REGRESS_OPTS = --encoding=UTF8 --load-extension=snowdrift
ISOLATION = $(sort $(basename $(notdir $(wildcard $(srcdir)/specs/*.spec))))

PG_CONFIG ?= pg_config
SERVER_HEADERS = $(shell $(PG_CONFIG) --includedir-server)

# The version of this release, which is the library's version
RELEASE = $(shell sed -n 's/^    "version": "\(.*\)",/\1/p' $(srcdir)/META.json)

# The results of installcheck are here, or in new folders in /tmp if the user cannot write here.
EXTRA_REGRESS_OPTS ?= $(if $(UNWRITABLE),--outputdir=$(shell mktemp -d))
UNWRITABLE = $(shell for file in . results output_iso regression.out regression.diffs; do \
	test ! -e $$file || test -w $$file || echo $$file; done)

# -isystem: suppresses warnings in PostgreSQL's headers.
# Hidden symbols: backends load libraries with RTLD_GLOBAL. Without hidden symbols, an inline function of
# another C++ extension could replace one of this library.
# No exceptions, no RTTI, no guarded statics: the shared object depends only on libc.
# -Werror=switch: a new kind of generators must be in each switch without a default.
# -DNDEBUG: assert() of the core is active if PostgreSQL's Assert() is.
PG_CPPFLAGS = -isystem $(SERVER_HEADERS) -I$(srcdir)/include -I$(srcdir)/src -DSNOWDRIFT_VERSION=$(RELEASE) \
	$(shell grep -qs '^.define USE_ASSERT_CHECKING' $(SERVER_HEADERS)/pg_config*.h || echo -DNDEBUG)
PG_CXXFLAGS = -std=c++20 -Wall -Wextra -Werror=switch -Wno-deprecated-volatile -fvisibility=hidden -fvisibility-inlines-hidden \
	-fno-exceptions -fno-rtti -fno-threadsafe-statics

# No bitcode: code that JIT inlines from bitcode refers to this library's hidden functions, whose symbols
# are not exported.
override with_llvm = no

# Not the dependencies of --enable-depend, which confuse equally named files: see DEPENDENCIES.
override autodepend = no

PGXS := $(shell $(PG_CONFIG) --pgxs)
$(if $(PGXS),,$(error $(PG_CONFIG) does not work: install the server's development files, or set PG_CONFIG))
include $(PGXS)

# A build in another folder must not take the objects of an earlier build beside the sources. A PostgreSQL that was built
# in the folder of its sources sets srcdir, but not VPATH.
ifneq ($(srcdir),.)
srcdir := $(srcdir)
override VPATH :=
vpath %.cpp $(srcdir)
vpath %.sql $(srcdir)
vpath %.control $(srcdir)
endif

# The compiler lists the headers of each object in a file beside it. An object without this file is compiled again.
$(OBJS): override CXXFLAGS += -MMD -MP
$(OBJS): | folders
$(patsubst %.d,%.o,$(filter-out $(wildcard $(DEPENDENCIES)),$(DEPENDENCIES))): folders
-include $(DEPENDENCIES)
src/pg/module.o: $(srcdir)/META.json

.PHONY: folders
folders:
	@mkdir -p $(sort $(dir $(OBJS)))

# Before version 18, PostgreSQL passes these flags only to the C compiler and the linker.
ifneq ($(filter 15 16 17,$(MAJORVERSION)),)
override CXXFLAGS += $(COPT) $(PROFILE)
endif

# The scripts of both editions, from their parts in src/sql. They are committed, so that users need only psql.
.PHONY: scripts
scripts:
	$(srcdir)/tools/assemble.sh

# The sources of the last commit. Equal commits give equal files.
.PHONY: dist
dist:
	for format in tar.gz zip; do TZ=UTC git -C '$(srcdir)' archive --prefix=snowdrift-$(RELEASE)/ \
		--output='$(CURDIR)'/snowdrift-$(RELEASE).$$format HEAD || exit 1; done

# make print-NAME prints the value of a variable, for tools that compile with the same flags.
print-%:
	@echo '$($*)'
