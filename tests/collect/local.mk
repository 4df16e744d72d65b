check_PROGRAMS += tests/collect/test_attribute tests/collect/test_depths tests/collect/test_file_identity \
	tests/collect/test_jit tests/collect/test_kept tests/collect/test_known tests/collect/test_names \
	tests/collect/test_lasts tests/collect/test_outcomes tests/collect/test_perf_map tests/collect/test_proc_maps \
	tests/collect/test_process tests/collect/test_sample_table tests/collect/test_shorter \
	tests/collect/test_sampled_names tests/collect/test_space tests/collect/test_windows

if X86_64
check_PROGRAMS += tests/collect/test_call_paths
endif

helper_programs += tests/collect/replay_records tests/collect/unwind_perf_data
