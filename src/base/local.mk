# Layer 0: errors, memory, bytes, text, files, numbers, threads.
noinst_LIBRARIES += src/base/libbase.a
src_base_libbase_a_SOURCES = \
	include/hpcprof/base/arena.h src/base/arena.c \
	include/hpcprof/base/broken_pipe.h src/base/broken_pipe.c \
	include/hpcprof/base/buffer.h src/base/buffer.c \
	include/hpcprof/base/bytes.h src/base/bytes.c \
	include/hpcprof/base/cache.h src/base/cache.c \
	include/hpcprof/base/cleanup.h \
	include/hpcprof/base/cpu_list.h src/base/cpu_list.c \
	include/hpcprof/base/elf_section.h src/base/elf_section.c \
	include/hpcprof/base/encoded.h src/base/encoded.c \
	include/hpcprof/base/error.h src/base/error.c \
	include/hpcprof/base/file.h src/base/file.c \
	include/hpcprof/base/foreign_file.h src/base/foreign_file.c \
	include/hpcprof/base/hash.h \
	include/hpcprof/base/library.h src/base/library.c \
	include/hpcprof/base/number.h src/base/number.c \
	include/hpcprof/base/proc_maps.h src/base/proc_maps.c \
	include/hpcprof/base/text.h src/base/text.c \
	include/hpcprof/base/search.h \
	include/hpcprof/base/thread.h src/base/thread.c \
	include/hpcprof/base/vector.h src/base/vector.c \
	include/hpcprof/base/wrapped.h src/base/wrapped.c

BASE_LIBS = src/base/libbase.a
