mux_tests = tests/mux/test_bursts tests/mux/test_plan tests/mux/test_scheduler \
	tests/mux/test_estimate tests/mux/test_ramp tests/mux/test_reconcile
check_PROGRAMS += $(mux_tests)
