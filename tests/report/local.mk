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

# Its lines and inlined functions are what it asks about.
check_PROGRAMS += tests/report/test_code
tests_report_test_code_SOURCES = tests/report/test_code.c $(report_fixture)
tests_report_test_code_CFLAGS = $(AM_CFLAGS) -g
tests_report_test_code_LDADD = $(REPORT_LIBS) $(CHECK_LIBS)

dist_check_SCRIPTS += tests/report/report.test
