check_PROGRAMS += tests/isa/test_text tests/isa/test_insn tests/isa/test_machine \
	tests/isa/test_step
