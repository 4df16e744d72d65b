check_PROGRAMS += \
	tests/calibrate/test_clock \
	tests/calibrate/test_reference \
	tests/calibrate/test_skid

tests_calibrate_test_clock_LDADD = $(CALIBRATE_LIBS) $(CHECK_LIBS)
tests_calibrate_test_reference_LDADD = $(CALIBRATE_LIBS) $(CHECK_LIBS)
tests_calibrate_test_skid_LDADD = $(CALIBRATE_LIBS) $(CHECK_LIBS)
