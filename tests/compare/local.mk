check_PROGRAMS += tests/compare/test_statistics
tests_compare_test_statistics_SOURCES = tests/compare/test_statistics.c
tests_compare_test_statistics_LDADD = src/compare/libcompare.a $(BASE_LIBS) $(CHECK_LIBS)
