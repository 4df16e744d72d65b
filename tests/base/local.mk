check_PROGRAMS += \
	tests/base/test_arena \
	tests/base/test_bytes \
	tests/base/test_cache \
	tests/base/test_cpu_list \
	tests/base/test_error \
	tests/base/test_file \
	tests/base/test_foreign_file \
	tests/base/test_number \
	tests/base/test_search \
	tests/base/test_text \
	tests/base/test_vector
tests_base_test_arena_LDADD = $(BASE_LIBS) $(CHECK_LIBS)
tests_base_test_bytes_LDADD = $(BASE_LIBS) $(CHECK_LIBS)
tests_base_test_cache_LDADD = $(BASE_LIBS) $(CHECK_LIBS)
tests_base_test_cpu_list_LDADD = $(BASE_LIBS) $(CHECK_LIBS)
tests_base_test_error_LDADD = $(BASE_LIBS) $(CHECK_LIBS)
tests_base_test_file_LDADD = $(BASE_LIBS) $(CHECK_LIBS)
tests_base_test_foreign_file_LDADD = $(BASE_LIBS) $(CHECK_LIBS)
tests_base_test_number_LDADD = $(BASE_LIBS) $(CHECK_LIBS)
tests_base_test_search_LDADD = $(BASE_LIBS) $(CHECK_LIBS)
tests_base_test_text_LDADD = $(BASE_LIBS) $(CHECK_LIBS)
tests_base_test_vector_LDADD = $(BASE_LIBS) $(CHECK_LIBS)
