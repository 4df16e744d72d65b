IMAGE_TEST_LDADD = $(IMAGE_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/image/test_demangle
tests_image_test_demangle_LDADD = $(IMAGE_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/image/test_identity tests/image/test_procedures tests/image/test_frames \
	tests/image/test_open tests/image/test_damaged
tests_image_test_identity_SOURCES = tests/image/test_identity.c \
	tests/image/workshop.c tests/image/workshop.h
tests_image_test_identity_LDADD = $(IMAGE_TEST_LDADD)
tests_image_test_procedures_SOURCES = tests/image/test_procedures.c \
	tests/image/workshop.c tests/image/workshop.h
tests_image_test_procedures_LDADD = $(IMAGE_TEST_LDADD)
tests_image_test_frames_SOURCES = tests/image/test_frames.c \
	tests/image/workshop.c tests/image/workshop.h
tests_image_test_frames_LDADD = $(IMAGE_TEST_LDADD)
tests_image_test_open_SOURCES = tests/image/test_open.c \
	tests/image/workshop.c tests/image/workshop.h
tests_image_test_open_LDADD = $(IMAGE_TEST_LDADD)
tests_image_test_damaged_SOURCES = tests/image/test_damaged.c tests/fuzz/fuzz_elf.c \
	tests/image/workshop.c tests/image/workshop.h
tests_image_test_damaged_LDADD = $(IMAGE_TEST_LDADD)
EXTRA_DIST += tests/image/programs
check_PROGRAMS += tests/image/test_code
tests_image_test_code_SOURCES = tests/image/test_code.c \
	tests/image/workshop.c tests/image/workshop.h
tests_image_test_code_LDADD = $(IMAGE_TEST_LDADD)
check_PROGRAMS += tests/image/test_gopclntab
tests_image_test_gopclntab_SOURCES = tests/image/test_gopclntab.c \
	tests/image/workshop.c tests/image/workshop.h
tests_image_test_gopclntab_LDADD = $(IMAGE_TEST_LDADD)
check_PROGRAMS += tests/image/test_debug_files
tests_image_test_debug_files_SOURCES = tests/image/test_debug_files.c \
	tests/image/workshop.c tests/image/workshop.h
tests_image_test_debug_files_LDADD = $(IMAGE_TEST_LDADD)
