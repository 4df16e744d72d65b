check_PROGRAMS += tests/infer/test_loop_clocks tests/infer/test_missed
