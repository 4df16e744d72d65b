# Layer 2: who is profiled: started, watched, and its CPU time.
noinst_LIBRARIES += src/target/libtarget.a
src_target_libtarget_a_SOURCES = \
	include/hpcprof/target/cpu_times.h \
	include/hpcprof/target/run_delay.h \
	include/hpcprof/target/shared_cpu.h \
	include/hpcprof/target/target.h \
	include/hpcprof/target/watch.h \
	src/target/cpu_times.c \
	src/target/run_delay.c \
	src/target/shared_cpu.c \
	src/target/target.c \
	src/target/tuning.h \
	src/target/watch.c

TARGET_LIBS = src/target/libtarget.a $(MODEL_LIBS)
