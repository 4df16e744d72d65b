noinst_HEADERS += tests/collect/raw.h tests/collect/scratch.h tests/collect/software.h

check_PROGRAMS += \
	tests/collect/test_attribute \
	tests/collect/test_clock \
	tests/collect/test_counters \
	tests/collect/test_cpu_times \
	tests/collect/test_figures \
	tests/collect/test_file_identity \
	tests/collect/test_jit \
	tests/collect/test_kept \
	tests/collect/test_names \
	tests/collect/test_pace \
	tests/collect/test_perf_map \
	tests/collect/test_proc_maps \
	tests/collect/test_process \
	tests/collect/test_rate \
	tests/collect/test_record \
	tests/collect/test_ring_set \
	tests/collect/test_reference \
	tests/collect/test_rotation \
	tests/collect/test_sample_table \
	tests/collect/test_sampled_names \
	tests/collect/test_skid \
	tests/collect/test_space \
	tests/collect/test_target \
	tests/collect/test_turns

tests_collect_test_attribute_SOURCES = \
	tests/collect/test_attribute.c tests/collect/scratch.c
tests_collect_test_attribute_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)
tests_collect_test_reference_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)

tests_collect_test_clock_SOURCES = tests/collect/test_clock.c
tests_collect_test_clock_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)

tests_collect_test_cpu_times_SOURCES = tests/collect/test_cpu_times.c
tests_collect_test_cpu_times_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)

tests_collect_test_counters_SOURCES = tests/collect/test_counters.c tests/collect/software.c
tests_collect_test_counters_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)
tests_collect_test_figures_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)
tests_collect_test_file_identity_SOURCES = \
	tests/collect/test_file_identity.c tests/collect/scratch.c
tests_collect_test_file_identity_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)
tests_collect_test_jit_SOURCES = tests/collect/test_jit.c tests/collect/scratch.c
tests_collect_test_jit_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)
tests_collect_test_kept_SOURCES = tests/collect/test_kept.c
tests_collect_test_kept_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)
tests_collect_test_names_SOURCES = tests/collect/test_names.c
tests_collect_test_names_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)
tests_collect_test_pace_SOURCES = tests/collect/test_pace.c
tests_collect_test_pace_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)
tests_collect_test_perf_map_SOURCES = tests/collect/test_perf_map.c
tests_collect_test_perf_map_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)
tests_collect_test_proc_maps_SOURCES = tests/collect/test_proc_maps.c
tests_collect_test_proc_maps_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)
tests_collect_test_process_SOURCES = tests/collect/test_process.c
tests_collect_test_process_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)
tests_collect_test_rate_SOURCES = tests/collect/test_rate.c
tests_collect_test_rate_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)
tests_collect_test_record_SOURCES = tests/collect/test_record.c tests/collect/raw.c
tests_collect_test_record_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)
tests_collect_test_ring_set_SOURCES = tests/collect/test_ring_set.c tests/collect/raw.c
tests_collect_test_ring_set_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)
tests_collect_test_rotation_SOURCES = tests/collect/test_rotation.c tests/collect/software.c
tests_collect_test_rotation_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)
tests_collect_test_sample_table_SOURCES = tests/collect/test_sample_table.c
tests_collect_test_sample_table_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)
tests_collect_test_sampled_names_SOURCES = tests/collect/test_sampled_names.c tests/db_fixture.c
tests_collect_test_sampled_names_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)
tests_collect_test_skid_SOURCES = tests/collect/test_skid.c
tests_collect_test_skid_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)

tests_collect_test_space_SOURCES = tests/collect/test_space.c
tests_collect_test_space_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)
tests_collect_test_target_SOURCES = tests/collect/test_target.c tests/collect/scratch.c
tests_collect_test_target_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/collect/test_windows
tests_collect_test_windows_SOURCES = tests/collect/test_windows.c tests/collect/scratch.c
tests_collect_test_windows_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/collect/test_outcomes
tests_collect_test_outcomes_SOURCES = tests/collect/test_outcomes.c tests/db_fixture.c
tests_collect_test_outcomes_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)
tests_collect_test_turns_SOURCES = tests/collect/test_turns.c tests/collect/software.c
tests_collect_test_turns_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)

helper_programs += tests/collect/replay_records
tests_collect_replay_records_SOURCES = tests/collect/replay_records.c tests/db_fixture.c
tests_collect_replay_records_LDADD = $(COLLECT_LIBS) $(CHECK_LIBS)
