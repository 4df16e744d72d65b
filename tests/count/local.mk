check_PROGRAMS += tests/count/test_counters tests/count/test_figures tests/count/test_pace \
	tests/count/test_rotation
