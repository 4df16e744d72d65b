# Every test speaks TAP: unit tests through Check, live tests through tests/support.sh.
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
TEST_LOG_DRIVER = $(LOG_DRIVER)
TEST_EXTENSIONS = .test
AM_TESTS_ENVIRONMENT = \
	top_srcdir='$(abs_top_srcdir)'; export top_srcdir; \
	top_builddir='$(abs_top_builddir)'; export top_builddir;

noinst_HEADERS += tests/support.h
TESTS += $(check_PROGRAMS)

include tests/base/local.mk
include tests/model/local.mk
include tests/pmu/local.mk
include tests/isa/local.mk
include tests/image/local.mk
include tests/db/local.mk
include tests/collect/local.mk
include tests/report/local.mk
include tests/cli/local.mk
include tests/live/local.mk
include tests/fuzz/local.mk
