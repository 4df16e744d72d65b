mux_tests = tests/mux/test_bursts tests/mux/test_plan tests/mux/test_scheduler \
	tests/mux/test_estimate tests/mux/test_ramp tests/mux/test_reconcile
check_PROGRAMS += $(mux_tests)
tests_mux_test_bursts_LDADD = $(MUX_LIBS) $(CHECK_LIBS)
tests_mux_test_plan_LDADD = $(MUX_LIBS) $(CHECK_LIBS)
tests_mux_test_ramp_LDADD = $(MUX_LIBS) $(CHECK_LIBS)
tests_mux_test_scheduler_LDADD = $(MUX_LIBS) $(CHECK_LIBS)
tests_mux_test_estimate_LDADD = $(MUX_LIBS) $(CHECK_LIBS)
tests_mux_test_reconcile_LDADD = $(MUX_LIBS) $(CHECK_LIBS)
