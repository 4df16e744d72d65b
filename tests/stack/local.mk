check_PROGRAMS += tests/stack/test_formula tests/stack/test_stack tests/stack/test_tables
