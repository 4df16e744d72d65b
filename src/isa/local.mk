# Layer 1: instructions.
noinst_LIBRARIES += src/isa/libisa.a
src_isa_libisa_a_SOURCES = \
	include/hpcprof/isa/insn.h src/isa/isa.c src/isa/machines.h src/isa/x86_64.c \
	include/hpcprof/isa/duty.h src/isa/duty.c \
	include/hpcprof/isa/text.h src/isa/text.c src/isa/text_hash.c src/isa/aarch64_text.h src/isa/aarch64_text.c \
	include/hpcprof/isa/step.h src/isa/partial.h src/isa/x86_64_step.h \
	src/isa/x86_64_flags.c src/isa/x86_64_operands.c src/isa/x86_64_operations.c \
	src/isa/x86_64_step.c \
	include/hpcprof/isa/sizes.h src/isa/machine/sizes.c \
	include/hpcprof/isa/machine.h src/isa/machine/machine.c src/isa/machine/cores.h \
	src/isa/machine/cores.c src/isa/machine/shape.c src/isa/machine/tables.h \
	src/isa/machine/generated/tables.c
EXTRA_DIST += src/isa/machine/overrides.txt

ISA_LIBS = src/isa/libisa.a $(BASE_LIBS) $(ZYDIS_LIBS) $(XXHASH_LIBS)
