check_PROGRAMS += tests/compare/test_statistics
tests_compare_test_statistics_SOURCES = tests/compare/test_statistics.c \
	tests/compare/made_up.h tests/compare/made_up.c
tests_compare_test_statistics_LDADD = $(COMPARE_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/compare/test_promises
tests_compare_test_promises_SOURCES = tests/compare/test_promises.c \
	tests/compare/made_up.h tests/compare/made_up.c
tests_compare_test_promises_LDADD = $(COMPARE_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/compare/test_history
tests_compare_test_history_SOURCES = tests/compare/test_history.c \
	tests/compare/made_up.h tests/compare/made_up.c \
	tests/compare_fixture.h tests/compare_fixture.c tests/db_fixture.c
tests_compare_test_history_LDADD = $(COMPARE_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/compare/test_compare
tests_compare_test_compare_SOURCES = tests/compare/test_compare.c \
	tests/compare_fixture.h tests/compare_fixture.c tests/db_fixture.c
tests_compare_test_compare_LDADD = $(COMPARE_LIBS) $(CHECK_LIBS)

# One source, built twice.
helper_programs += tests/compare/pair_old tests/compare/pair_new
tests_compare_pair_old_SOURCES = tests/compare/pair.c
tests_compare_pair_old_CFLAGS = -std=gnu11 -O2 -g
tests_compare_pair_old_LDADD =
tests_compare_pair_new_SOURCES = tests/compare/pair.c
tests_compare_pair_new_CFLAGS = -std=gnu11 -O2 -g -DNEW
tests_compare_pair_new_LDADD =

check_PROGRAMS += tests/compare/test_moved
tests_compare_test_moved_SOURCES = tests/compare/test_moved.c \
	tests/compare/builds.h tests/compare/builds.c tests/db_fixture.c
tests_compare_test_moved_LDADD = $(COMPARE_LIBS) $(CHECK_LIBS)

helper_programs += tests/compare/branches_old tests/compare/branches_new
tests_compare_branches_old_SOURCES = tests/compare/branches.c
tests_compare_branches_old_CFLAGS = -std=gnu11 -O2 -g
tests_compare_branches_old_LDADD =
tests_compare_branches_new_SOURCES = tests/compare/branches.c
tests_compare_branches_new_CFLAGS = -std=gnu11 -O2 -g -DNEW
tests_compare_branches_new_LDADD =

check_PROGRAMS += tests/compare/test_inside
tests_compare_test_inside_SOURCES = tests/compare/test_inside.c \
	tests/compare/builds.h tests/compare/builds.c tests/db_fixture.c
tests_compare_test_inside_LDADD = $(COMPARE_LIBS) $(CHECK_LIBS)
