check_PROGRAMS += \
	tests/count/test_counters \
	tests/count/test_figures \
	tests/count/test_pace \
	tests/count/test_rotation

tests_count_test_counters_SOURCES = tests/count/test_counters.c tests/software.c
tests_count_test_counters_LDADD = $(COUNT_LIBS) $(CHECK_LIBS)
tests_count_test_figures_LDADD = $(COUNT_LIBS) $(CHECK_LIBS)
tests_count_test_pace_LDADD = $(COUNT_LIBS) $(CHECK_LIBS)
tests_count_test_rotation_SOURCES = tests/count/test_rotation.c tests/software.c
tests_count_test_rotation_LDADD = $(COUNT_LIBS) $(CHECK_LIBS)
