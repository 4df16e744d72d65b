check_PROGRAMS += tests/image/test_demangle tests/image/test_identity tests/image/test_procedures \
	tests/image/test_frames tests/image/test_open tests/image/test_damaged \
	tests/image/test_code tests/image/test_gopclntab tests/image/test_debug_files
tests_image_test_damaged_SOURCES = tests/image/test_damaged.c tests/fuzz/fuzz_elf.c
EXTRA_DIST += tests/image/programs
