if X86_64
check_PROGRAMS += tests/unwind/test_pack tests/unwind/test_rules tests/unwind/test_self \
	tests/unwind/test_index
tests_unwind_test_rules_SOURCES = tests/unwind/test_rules.c tests/unwind/mapped.h \
	tests/unwind/mapped.c
tests_unwind_test_self_SOURCES = tests/unwind/test_self.c tests/unwind/mapped.h \
	tests/unwind/mapped.c
endif

helper_programs += tests/unwind/show_table
tests_unwind_show_table_LDADD = $(UNWIND_LIBS)
if X86_64
helper_programs += tests/unwind/unwind_stopped
tests_unwind_unwind_stopped_LDADD = $(UNWIND_LIBS)
endif
