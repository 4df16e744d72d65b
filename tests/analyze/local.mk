check_PROGRAMS += tests/analyze/test_schedule
tests_analyze_test_schedule_SOURCES = tests/analyze/test_schedule.c
tests_analyze_test_schedule_LDADD = $(ANALYZE_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/analyze/test_culprit
tests_analyze_test_culprit_SOURCES = tests/analyze/test_culprit.c
tests_analyze_test_culprit_LDADD = $(ANALYZE_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/analyze/test_frequency
tests_analyze_test_frequency_SOURCES = tests/analyze/test_frequency.c
tests_analyze_test_frequency_LDADD = $(ANALYZE_LIBS) $(CHECK_LIBS) -lm

check_PROGRAMS += tests/analyze/test_hostile
tests_analyze_test_hostile_SOURCES = tests/analyze/test_hostile.c
tests_analyze_test_hostile_LDADD = $(ANALYZE_LIBS) $(CHECK_LIBS) -lm

helper_programs += tests/analyze/show_schedule
tests_analyze_show_schedule_SOURCES = tests/analyze/show_schedule.c
tests_analyze_show_schedule_LDADD = $(ANALYZE_LIBS) $(CFG_LIBS) -lm

dist_check_SCRIPTS += tests/analyze/hostile.test
EXTRA_DIST += tests/analyze/programs
