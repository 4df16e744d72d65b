check_PROGRAMS += tests/analyze/test_schedule tests/analyze/test_culprit tests/analyze/test_witness tests/analyze/test_joint \
	tests/analyze/test_sheet tests/analyze/test_frequency tests/analyze/test_flow \
	tests/analyze/test_hostile tests/analyze/test_penalties tests/analyze/test_extent
stalls = tests/analyze/stalls.c tests/analyze/stalls.h
tests_analyze_test_culprit_SOURCES = tests/analyze/test_culprit.c $(stalls)
tests_analyze_test_witness_SOURCES = tests/analyze/test_witness.c $(stalls)
tests_analyze_test_extent_SOURCES = tests/analyze/test_extent.c $(stalls)
tests_analyze_test_sheet_SOURCES = tests/analyze/test_sheet.c $(stalls)

helper_programs += tests/analyze/show_schedule
tests_analyze_show_schedule_SOURCES = tests/analyze/show_schedule.c
tests_analyze_show_schedule_LDADD = $(ANALYZE_LIBS) $(CFG_LIBS) -lm

dist_check_SCRIPTS += tests/analyze/hostile.test
EXTRA_DIST += tests/analyze/programs
