uarch_tests = tests/uarch/test_geometry tests/uarch/test_sets tests/uarch/test_forwards tests/uarch/test_path tests/uarch/test_pointers tests/uarch/test_predictor tests/uarch/test_queues tests/uarch/test_resize tests/uarch/test_timing tests/uarch/test_trace
check_PROGRAMS += $(uarch_tests)
noinst_HEADERS += tests/uarch/lru.h
