check_PROGRAMS += tests/pmu/test_parse
tests_pmu_test_parse_SOURCES = tests/pmu/test_parse.c tests/pmu/tree.c tests/pmu/tree.h
tests_pmu_test_parse_LDADD = $(PMU_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/pmu/test_sysfs
tests_pmu_test_sysfs_SOURCES = tests/pmu/test_sysfs.c tests/pmu/tree.c tests/pmu/tree.h
tests_pmu_test_sysfs_LDADD = $(PMU_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/pmu/test_machine
tests_pmu_test_machine_SOURCES = tests/pmu/test_machine.c tests/pmu/tree.c tests/pmu/tree.h
tests_pmu_test_machine_LDADD = $(PMU_LIBS) $(CHECK_LIBS)

dist_check_SCRIPTS += tests/pmu/open.test
helper_programs += tests/pmu/count_event
tests_pmu_count_event_LDADD = $(PMU_LIBS)
helper_programs += tests/pmu/without_perf
tests_pmu_without_perf_LDADD =
