check_PROGRAMS += tests/base/test_arena tests/base/test_bytes tests/base/test_cache \
	tests/base/test_cpu_list tests/base/test_error tests/base/test_file \
	tests/base/test_foreign_file tests/base/test_library tests/base/test_number tests/base/test_search \
	tests/base/test_text tests/base/test_thread tests/base/test_vector \
	tests/base/test_wrapped
