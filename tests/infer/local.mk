check_PROGRAMS += tests/infer/test_events
check_PROGRAMS += tests/infer/test_event_weights
check_PROGRAMS += tests/infer/test_loop_clocks
check_PROGRAMS += tests/infer/test_missed
check_PROGRAMS += tests/infer/test_moved
check_PROGRAMS += tests/infer/test_window_parts
check_PROGRAMS += tests/infer/test_rare_events
check_PROGRAMS += tests/infer/test_throughput
