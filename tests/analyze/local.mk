check_PROGRAMS += tests/analyze/test_schedule
tests_analyze_test_schedule_SOURCES = tests/analyze/test_schedule.c
tests_analyze_test_schedule_LDADD = $(ANALYZE_LIBS) $(CHECK_LIBS)
