report_fixture = tests/report/fixture.h tests/report/fixture.c

check_PROGRAMS += tests/report/test_text
tests_report_test_text_SOURCES = tests/report/test_text.c
tests_report_test_text_LDADD = src/report/libreport.a $(BASE_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/report/test_views
tests_report_test_views_SOURCES = tests/report/test_views.c $(report_fixture)
tests_report_test_views_LDADD = $(REPORT_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/report/test_json
tests_report_test_json_SOURCES = tests/report/test_json.c $(report_fixture)
tests_report_test_json_LDADD = $(REPORT_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/report/test_resolve
tests_report_test_resolve_SOURCES = tests/report/test_resolve.c $(report_fixture)
tests_report_test_resolve_LDADD = $(REPORT_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/report/test_machine
tests_report_test_machine_SOURCES = tests/report/test_machine.c
tests_report_test_machine_LDADD = $(REPORT_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/report/test_mixture
tests_report_test_mixture_SOURCES = tests/report/test_mixture.c $(report_fixture)
tests_report_test_mixture_LDADD = $(REPORT_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/report/test_annotate
tests_report_test_annotate_SOURCES = tests/report/test_annotate.c
tests_report_test_annotate_LDADD = $(REPORT_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/report/test_drawing
tests_report_test_drawing_SOURCES = tests/report/test_drawing.c
tests_report_test_drawing_LDADD = $(REPORT_LIBS) $(CHECK_LIBS)

# Its lines and inlined functions are what it asks about.
check_PROGRAMS += tests/report/test_code
tests_report_test_code_SOURCES = tests/report/test_code.c $(report_fixture)
tests_report_test_code_CFLAGS = $(AM_CFLAGS) -g
tests_report_test_code_LDADD = $(REPORT_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/report/test_counted
tests_report_test_counted_SOURCES = tests/report/test_counted.c $(report_fixture)
tests_report_test_counted_CFLAGS = $(AM_CFLAGS) -g
tests_report_test_counted_LDADD = $(REPORT_LIBS) $(CHECK_LIBS)

dist_check_SCRIPTS += tests/report/report.test

# Every format of a comparison, read back by parsers that are not ours.
helper_programs += tests/report/comparison_sample
tests_report_comparison_sample_LDADD = $(REPORT_LIBS)
dist_check_SCRIPTS += tests/report/comparison.test
EXTRA_DIST += tests/report/comparison_parsers.py
