check_PROGRAMS += tests/calibrate/test_clock tests/calibrate/test_geometry tests/calibrate/test_reference \
	tests/calibrate/test_latencies tests/calibrate/test_sharing tests/calibrate/test_skid
