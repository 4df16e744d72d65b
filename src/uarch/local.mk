# Layer 2: models of a core that follow an exact path. No system call.
noinst_LIBRARIES += src/uarch/libuarch.a
src_uarch_libuarch_a_SOURCES = \
	include/hpcprof/uarch/geometry.h src/uarch/geometry.c \
	include/hpcprof/uarch/path.h src/uarch/path.c \
	src/uarch/caches.h src/uarch/caches.c \
	src/uarch/forwards.h src/uarch/forwards.c \
	src/uarch/history.h src/uarch/history.c \
	src/uarch/hybrid.h src/uarch/hybrid.c \
	src/uarch/indirect.h src/uarch/indirect.c \
	src/uarch/loop.h src/uarch/loop.c \
	include/hpcprof/uarch/pointers.h src/uarch/pointers.c \
	src/uarch/predictor.h src/uarch/predictor.c \
	src/uarch/prefetch.h src/uarch/prefetch.c \
	include/hpcprof/uarch/resize.h src/uarch/resize.c \
	src/uarch/returns.h src/uarch/returns.c \
	src/uarch/sets.h src/uarch/sets.c \
	src/uarch/stores.h src/uarch/stores.c \
	src/uarch/tage.h src/uarch/tage.c \
	include/hpcprof/uarch/timing.h src/uarch/timed_insn.c src/uarch/timing.c \
	src/uarch/timing_state.h src/uarch/timing_core.c src/uarch/lane_groups.h \
	src/uarch/tlb.h src/uarch/tlb.c \
	include/hpcprof/uarch/trace.h src/uarch/trace.h src/uarch/trace.c src/uarch/trace_write.c \
	src/uarch/tuning.h

UARCH_LIBS = src/uarch/libuarch.a $(ISA_LIBS) -lm
