# Layer 4: from kernel rings to the database.
noinst_LIBRARIES += src/collect/libcollect.a
src_collect_libcollect_a_SOURCES = \
	include/hpcprof/collect/counting.h \
	include/hpcprof/collect/figures.h \
	include/hpcprof/collect/session.h \
	include/hpcprof/collect/shared_cpu.h \
	src/collect/agents.h src/collect/agents.c \
	src/collect/attribute.h src/collect/attribute.c \
	src/collect/branches.h src/collect/branches.c \
	src/collect/breakpoint.h src/collect/breakpoint.c \
	src/collect/clock.h src/collect/clock.c \
	src/collect/code_file.h src/collect/code_file.c \
	src/collect/counted.h src/collect/counted.c \
	src/collect/counters.h src/collect/counters.c \
	src/collect/counting.h src/collect/counting.c \
	src/collect/counting_report.c \
	src/collect/cpu_times.h src/collect/cpu_times.c \
	src/collect/describe.c \
	src/collect/figures.c \
	src/collect/file_identity.h src/collect/file_identity.c \
	src/collect/held_files.h src/collect/held_files.c \
	src/collect/images.h src/collect/images.c \
	src/collect/jit.h src/collect/jit.c \
	src/collect/kept.h src/collect/kept.c \
	src/collect/kernel.h src/collect/kernel.c \
	src/collect/loop.h src/collect/loop.c \
	src/collect/names.h src/collect/names.c \
	src/collect/outcomes.h src/collect/outcomes.c \
	src/collect/ranges.h src/collect/ranges.c \
	src/collect/pace.h src/collect/pace.c \
	src/collect/perf_map.h src/collect/perf_map.c \
	src/collect/probes.h src/collect/probes.c \
	src/collect/proc_maps.h src/collect/proc_maps.c \
	src/collect/process.h src/collect/process.c \
	src/collect/rate.h src/collect/rate.c \
	src/collect/record.h src/collect/record.c \
	src/collect/recorder.h src/collect/recorder.c \
	src/collect/reference.h src/collect/reference.c \
	src/collect/registers.h src/collect/registers.c \
	src/collect/ring_set.h src/collect/ring_set.c \
	src/collect/rotation.h src/collect/rotation.c \
	src/collect/sample_table.h src/collect/sample_table.c \
	src/collect/sampler.h src/collect/sampler.c \
	src/collect/sampled_names.h src/collect/sampled_names.c \
	src/collect/session.c \
	include/hpcprof/collect/skid.h src/collect/skid.c src/collect/skid_cache.c \
	src/collect/shared_cpu.c \
	src/collect/skid_kernels.h src/collect/skid_kernels.c \
	src/collect/space.h src/collect/space.c \
	src/collect/target.h src/collect/target.c \
	src/collect/turning.c \
	src/collect/turns.h src/collect/turns.c \
	src/collect/vdso.h src/collect/vdso.c \
	src/collect/watch.h src/collect/watch.c \
	src/collect/windows.h src/collect/windows.c

COLLECT_LIBS = src/collect/libcollect.a $(CFG_LIBS) $(ISA_LIBS) $(IMAGE_LIBS) $(DB_LIBS) $(PMU_LIBS) $(MUX_LIBS)
