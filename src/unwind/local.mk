# Layer 2: the callers of a moment, by unwind tables.
noinst_LIBRARIES += src/unwind/libunwind.a
src_unwind_libunwind_a_SOURCES = \
	include/hpcprof/unwind/table.h src/unwind/table.h src/unwind/table.c \
	include/hpcprof/unwind/unwind.h src/unwind/unwind.c \
	src/unwind/past.h src/unwind/past.c \
	src/unwind/expression.h src/unwind/expression.c \
	src/unwind/pack.h src/unwind/pack.c \
	src/unwind/rows.h src/unwind/rows.c src/unwind/recipes.h src/unwind/recipes.c \
	src/unwind/entries.h src/unwind/entries.c src/unwind/sections.c \
	src/unwind/index.h src/unwind/index.c src/unwind/frame_header.c \
	src/unwind/tuning.h

UNWIND_LIBS = src/unwind/libunwind.a $(MODEL_LIBS) $(DW_LIBS) $(ELF_LIBS)
