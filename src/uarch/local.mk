# Layer 2: models of a core that follow an exact path. No system call.
noinst_LIBRARIES += src/uarch/libuarch.a
src_uarch_libuarch_a_SOURCES = \
	include/hpcprof/uarch/geometry.h src/uarch/geometry.c \
	include/hpcprof/uarch/path.h src/uarch/path.c \
	src/uarch/caches.h src/uarch/caches.c \
	src/uarch/sets.h src/uarch/sets.c \
	src/uarch/tlb.h src/uarch/tlb.c \
	src/uarch/tuning.h

UARCH_LIBS = src/uarch/libuarch.a $(ISA_LIBS)
