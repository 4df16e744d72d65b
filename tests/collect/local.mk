check_PROGRAMS += \
	tests/collect/test_attribute \
	tests/collect/test_file_identity \
	tests/collect/test_jit \
	tests/collect/test_kept \
	tests/collect/test_names \
	tests/collect/test_outcomes \
	tests/collect/test_perf_map \
	tests/collect/test_proc_maps \
	tests/collect/test_process \
	tests/collect/test_sample_table \
	tests/collect/test_sampled_names \
	tests/collect/test_space \
	tests/collect/test_windows

tests_collect_test_attribute_SOURCES = tests/collect/test_attribute.c tests/scratch.c
tests_collect_test_attribute_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)
tests_collect_test_file_identity_SOURCES = tests/collect/test_file_identity.c tests/scratch.c
tests_collect_test_file_identity_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)
tests_collect_test_jit_SOURCES = tests/collect/test_jit.c tests/scratch.c
tests_collect_test_jit_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)
tests_collect_test_kept_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)
tests_collect_test_names_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)
tests_collect_test_outcomes_SOURCES = tests/collect/test_outcomes.c tests/db_fixture.c
tests_collect_test_outcomes_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)
tests_collect_test_perf_map_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)
tests_collect_test_proc_maps_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)
tests_collect_test_process_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)
tests_collect_test_sample_table_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)
tests_collect_test_sampled_names_SOURCES = tests/collect/test_sampled_names.c tests/db_fixture.c
tests_collect_test_sampled_names_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)
tests_collect_test_space_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)
tests_collect_test_windows_SOURCES = tests/collect/test_windows.c tests/scratch.c
tests_collect_test_windows_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)

helper_programs += tests/collect/replay_records
tests_collect_replay_records_SOURCES = tests/collect/replay_records.c tests/db_fixture.c
tests_collect_replay_records_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)
