check_PROGRAMS += tests/compare/test_statistics
tests_compare_test_statistics_SOURCES = tests/compare/test_statistics.c
tests_compare_test_statistics_LDADD = src/compare/libcompare.a $(BASE_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/compare/test_compare
tests_compare_test_compare_SOURCES = tests/compare/test_compare.c \
	tests/compare_fixture.h tests/compare_fixture.c tests/db_fixture.c
tests_compare_test_compare_LDADD = $(COMPARE_LIBS) $(CHECK_LIBS)
