check_PROGRAMS += tests/sample/test_opening tests/sample/test_rate tests/sample/test_record \
	tests/sample/test_ring_set tests/sample/test_turns
