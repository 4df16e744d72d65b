check_PROGRAMS += tests/report/test_direct tests/report/test_parallel tests/report/test_text tests/report/test_views tests/report/test_json \
	tests/report/test_resolve tests/report/test_machine tests/report/test_mixture \
	tests/report/test_paths tests/report/test_annotate tests/report/test_drawing tests/report/test_counted tests/report/test_by_time \
	tests/report/test_evidence tests/report/test_followed tests/report/test_sampled_stack tests/report/test_weights \
	tests/report/test_stack tests/report/test_what_if

# Its lines and inlined functions are what it asks about.
check_PROGRAMS += tests/report/test_code
tests_report_test_code_CFLAGS = $(AM_CFLAGS) -g

# Its code and lines are what these ask about.
check_LIBRARIES += tests/report/libcounted.a
tests_report_libcounted_a_SOURCES = tests/report/counted.h tests/report/counted.c
tests_report_libcounted_a_CFLAGS = $(AM_CFLAGS) -g
tests_report_test_counted_LDADD = tests/report/libcounted.a $(TEST_LIBS)
tests_report_test_by_time_LDADD = tests/report/libcounted.a $(TEST_LIBS)
tests_report_test_weights_LDADD = tests/report/libcounted.a $(TEST_LIBS)
tests_report_test_evidence_LDADD = tests/report/libcounted.a $(TEST_LIBS)
tests_report_test_followed_LDADD = tests/report/libcounted.a $(TEST_LIBS)

dist_check_SCRIPTS += tests/report/report.test

# Every format of a comparison, read back by parsers that are not ours.
helper_programs += tests/report/comparison_sample
tests_report_comparison_sample_LDADD = $(REPORT_LIBS)
dist_check_SCRIPTS += tests/report/comparison.test
EXTRA_DIST += tests/report/comparison_parsers.py
