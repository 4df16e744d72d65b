noinst_HEADERS += tests/sample/raw.h

check_PROGRAMS += \
	tests/sample/test_rate \
	tests/sample/test_record \
	tests/sample/test_ring_set \
	tests/sample/test_turns

tests_sample_test_rate_LDADD = $(SAMPLE_LIBS) $(CHECK_LIBS)
tests_sample_test_record_SOURCES = tests/sample/test_record.c tests/sample/raw.c
tests_sample_test_record_LDADD = $(SAMPLE_LIBS) $(CHECK_LIBS)
tests_sample_test_ring_set_SOURCES = tests/sample/test_ring_set.c tests/sample/raw.c
tests_sample_test_ring_set_LDADD = $(SAMPLE_LIBS) $(CHECK_LIBS)
tests_sample_test_turns_SOURCES = tests/sample/test_turns.c tests/software.c
tests_sample_test_turns_LDADD = $(SAMPLE_LIBS) $(CHECK_LIBS)
