check_PROGRAMS += tests/cycle/test_accountings tests/cycle/test_core tests/cycle/test_config
