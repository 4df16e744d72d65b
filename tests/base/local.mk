check_PROGRAMS += tests/base/test_bytes
tests_base_test_bytes_SOURCES = tests/base/test_bytes.c
tests_base_test_bytes_LDADD = $(BASE_LIBS) $(CHECK_LIBS)
