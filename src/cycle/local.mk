# Layer 3: a reference core, cycle by cycle, and ways to charge its cycles to causes. No system call.
noinst_LIBRARIES += src/cycle/libcycle.a
src_cycle_libcycle_a_SOURCES = \
	include/hpcprof/cycle/config.h src/cycle/config.c \
	include/hpcprof/cycle/model.h src/cycle/model.c \
	src/cycle/accountings.h \
	src/cycle/code.h src/cycle/code.c \
	src/cycle/core.h src/cycle/core.c \
	src/cycle/counters.c \
	src/cycle/execute.c \
	src/cycle/fetch.c \
	src/cycle/fmt.c \
	src/cycle/memory.c \
	src/cycle/naive.c \
	src/cycle/one_pass.h src/cycle/one_pass.c \
	src/cycle/pipeline.h \
	src/cycle/power5.c \
	src/cycle/sfmt.c \
	src/cycle/slots.c \
	src/cycle/truth.h src/cycle/truth.c \
	src/cycle/tuning.h

CYCLE_LIBS = src/cycle/libcycle.a $(UARCH_LIBS)
