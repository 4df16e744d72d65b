check_PROGRAMS += tests/isa/test_text
tests_isa_test_text_SOURCES = tests/isa/test_text.c
tests_isa_test_text_LDADD = $(ISA_LIBS) $(CHECK_LIBS)

check_PROGRAMS += tests/isa/test_insn
tests_isa_test_insn_SOURCES = tests/isa/test_insn.c
tests_isa_test_insn_LDADD = $(ISA_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/isa/test_machine
tests_isa_test_machine_SOURCES = tests/isa/test_machine.c
tests_isa_test_machine_LDADD = $(ISA_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/isa/test_step
tests_isa_test_step_SOURCES = tests/isa/test_step.c
tests_isa_test_step_LDADD = $(ISA_LIBS) $(CHECK_LIBS)
