check_PROGRAMS += tests/stack/test_formula tests/stack/test_phases tests/stack/test_stack tests/stack/test_tables
dist_check_SCRIPTS += tests/stack/recorded.test
EXTRA_DIST += tests/stack/recorded/neoverse-n1.txt tests/stack/recorded/skylake.txt \
	tests/stack/recorded/skylake-sp.txt tests/stack/recorded/tiger-lake.txt \
	tests/stack/recorded/zen-4.txt
