# Every test speaks TAP: unit tests through Check, scripts through tests/support.sh.
#
#	check_PROGRAMS += tests/FOLDER/test_UNIT      a unit test
#	dist_check_SCRIPTS += tests/FOLDER/NAME.test  a script (executable)
#	helper_programs += tests/FOLDER/NAME          a program that scripts run; NAME_LDADD =
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
TEST_LOG_DRIVER = $(LOG_DRIVER)
TEST_EXTENSIONS = .test
# Sanitizers: a malloc that cannot be had gives NULL, as without them; tests ask for such.
AM_TESTS_ENVIRONMENT = \
	top_srcdir='$(abs_top_srcdir)'; export top_srcdir; \
	top_builddir='$(abs_top_builddir)'; export top_builddir; \
	CC='$(CC)'; export CC; \
	SANITIZE_FLAGS='$(SANITIZE_FLAGS)'; export SANITIZE_FLAGS; \
	ASAN_OPTIONS="allocator_may_return_null=1:$$ASAN_OPTIONS"; export ASAN_OPTIONS; \
	TSAN_OPTIONS="allocator_may_return_null=1:$$TSAN_OPTIONS"; export TSAN_OPTIONS;

# What tests share. Linked with what they test, in TEST_LIBS: what programs without an LDADD of their
# own are linked with.
check_LIBRARIES += tests/libsupport.a
tests_libsupport_a_SOURCES = tests/support.h tests/support.c tests/scratch.h tests/scratch.c \
	tests/json.h tests/json.c tests/software.h tests/software.c \
	tests/db_fixture.h tests/db_fixture.c \
	tests/compare_fixture.h tests/compare_fixture.c tests/cfg/dump.h tests/cfg/dump.c \
	tests/analyze/frequencies.h tests/analyze/frequencies.c \
	tests/cfg/graphs.h tests/cfg/graphs.c \
	tests/collect/bench.h tests/collect/bench.c \
	tests/compare/builds.h tests/compare/builds.c tests/compare/made_up.h \
	tests/compare/made_up.c tests/image/workshop.h tests/image/workshop.c tests/pmu/tree.h \
	tests/pmu/tree.c tests/report/fixture.h tests/report/fixture.c tests/sample/raw.h \
	tests/sample/raw.c
if X86_64
tests_libsupport_a_SOURCES += tests/shadow/copied.h tests/shadow/copied.c tests/shadow/puppet.h \
	tests/shadow/puppet.c tests/shadow/states.h tests/shadow/states.c tests/shadow/tracee.h \
	tests/shadow/tracee.c
endif
TEST_LIBS = tests/libsupport.a $(REPORT_LIBS) $(COLLECT_LIBS) $(STACK_LIBS) $(CYCLE_LIBS) $(COUNT_LIBS) $(SHADOW_LIBS) $(UARCH_LIBS) \
	$(CHECK_LIBS)
LDADD = $(TEST_LIBS)
noinst_HEADERS += tests/program.h tests/compare/notes.h tests/cli/run.h tests/db/windows_section.h
EXTRA_DIST += tests/support.sh tests/units.awk tests/units.mk
TESTS += $(check_PROGRAMS) $(dist_check_SCRIPTS)

helper_programs = tests/can_sample
EXTRA_PROGRAMS += $(helper_programs)
check_DATA += $(helper_programs)
CLEANFILES += $(helper_programs)
tests_can_sample_LDADD =

# Everything that `make check` runs, not run; and what accuracy scripts run, so that it stays buildable.
.PHONY: check-build
check-build: all-am $(check_PROGRAMS) $(check_LIBRARIES) $(check_DATA) $(mux_programs) \
	scripts/causes/follow_lackey scripts/stack/one_pass

# Names of all tests; scripts/test.sh runs those that watch a clock by themselves.
.PHONY: list-tests
list-tests:
	@echo $(TESTS)

# Programs that tests run.
.PHONY: list-helpers
list-helpers:
	@echo $(helper_programs)

include tests/base/local.mk
include tests/model/local.mk
include tests/pmu/local.mk
include tests/isa/local.mk
include tests/image/local.mk
include tests/unwind/local.mk
include tests/db/local.mk
include tests/mux/local.mk
include tests/uarch/local.mk
include tests/cfg/local.mk
include tests/analyze/local.mk
include tests/compare/local.mk
include tests/target/local.mk
include tests/sample/local.mk
include tests/count/local.mk
include tests/stack/local.mk
include tests/cycle/local.mk
include tests/calibrate/local.mk
include tests/collect/local.mk
include tests/shadow/local.mk
include tests/culprits/local.mk
include tests/profile/local.mk
include tests/infer/local.mk
include tests/report/local.mk
include tests/cli/local.mk
include tests/live/local.mk
include tests/guest/local.mk
include tests/scripts/local.mk
include tests/fuzz/local.mk
