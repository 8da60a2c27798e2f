# Builds, installs and checks the extension with PGXS:
#   make && sudo make install && make installcheck
# PG_CONFIG selects the PostgreSQL installation. CMakeLists.txt has the client library, the C++ tests and the benchmarks.

EXTENSION = snowdrift
MODULE_big = snowdrift
DATA = snowdrift--1.0.sql
OBJS = $(patsubst $(srcdir)/%.cpp,%.o,$(wildcard $(addprefix $(srcdir)/src/pg/,*.cpp */*.cpp)))

REGRESS = helpers snowflake snowflake_errors snowflake_storage snowflake_layout \
	snowflake_text typeid ulid_type ulid_index ulid_generator uuidv7 sno_type sno_index sno_generator \
	generators generator_overflow snapshots advance time_units snowflake_at back_filling time_predicates time_plans \
	uuidv7_plans partitioning drop_partitions convert_column audit diagrams id_types_usage catalog settings decoys \
	privileges core_queries
REGRESS_OPTS = --encoding=UTF8
ISOLATION = block_transactions generator_create generator_drop partitions partition_expiry convert_column_locks \
	renewed_extension backfill

PG_CONFIG ?= pg_config

# -isystem: suppresses warnings in PostgreSQL's headers.
# Hidden symbols: backends load libraries with RTLD_GLOBAL. Without hidden symbols, an inline function of
# another C++ extension could replace one of this library.
# No exceptions, no RTTI, no guarded statics: so the shared object depends only on libc.
PG_CPPFLAGS = -isystem $(shell $(PG_CONFIG) --includedir-server) -I$(srcdir)/include -I$(srcdir)/src
PG_CXXFLAGS = -std=c++20 -Wall -Wextra -Wno-deprecated-volatile -fvisibility=hidden -fvisibility-inlines-hidden \
	-fno-exceptions -fno-rtti -fno-threadsafe-statics

# No bitcode: code that JIT inlines from bitcode refers to this library's hidden functions, whose symbols
# are not exported.
override with_llvm = no

PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

HEADERS_OF_OURS = $(wildcard $(addprefix $(srcdir)/,include/snowdrift/*.hpp include/snowdrift/core/*.hpp \
	src/core/*.hpp src/pg/*/*.hpp))
$(OBJS): $(HEADERS_OF_OURS)

# make print-NAME prints the value of a variable, for tools that compile with the same flags.
print-%:
	@echo '$($*)'
