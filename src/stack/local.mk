# Layer 3: stall stacks: tables of events and formulas by core, and what counts say by them. No system
# call.
noinst_LIBRARIES += src/stack/libstack.a
src_stack_libstack_a_SOURCES = \
	include/hpcprof/stack/phases.h src/stack/phases.c \
	include/hpcprof/stack/stack.h src/stack/stack.c \
	include/hpcprof/stack/table.h \
	src/stack/evaluate.h src/stack/evaluate.c \
	src/stack/formula.h src/stack/formula.c \
	src/stack/sums.h src/stack/sums.c \
	src/stack/tables.h src/stack/tables.c \
	src/stack/tables_amd.c \
	src/stack/tables_arm.c \
	src/stack/tables_intel.c \
	src/stack/tuning.h

STACK_LIBS = src/stack/libstack.a $(ISA_LIBS) $(MUX_LIBS)
