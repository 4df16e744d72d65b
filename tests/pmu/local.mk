check_PROGRAMS += tests/pmu/test_parse tests/pmu/test_pfm tests/pmu/test_sysfs \
	tests/pmu/test_machine tests/pmu/test_partition tests/pmu/test_groups tests/pmu/test_ring

tests_pmu_test_pfm_LDADD = $(TEST_LIBS) $(PFM_LIBS)
dist_check_SCRIPTS += tests/pmu/open.test
helper_programs += tests/pmu/count_event
tests_pmu_count_event_LDADD = $(PMU_LIBS)
helper_programs += tests/pmu/without_perf
tests_pmu_without_perf_LDADD =
