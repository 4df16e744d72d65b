# Layer 5: from kernel rings to the database.
noinst_LIBRARIES += src/collect/libcollect.a
src_collect_libcollect_a_SOURCES = \
	include/hpcprof/collect/import.h include/hpcprof/collect/session.h \
	src/collect/import.c \
	src/collect/describe.c \
	src/collect/loop.h src/collect/loop.c \
	src/collect/recorder.h src/collect/recorder.c \
	src/collect/session.h src/collect/session.c src/collect/session_run.c \
	src/collect/images/trim.h src/collect/tuning.h \
	src/collect/evidence/code_file.h src/collect/evidence/code_file.c \
	src/collect/evidence/counted.h src/collect/evidence/counted.c \
	src/collect/evidence/outcomes.h src/collect/evidence/outcomes.c \
	src/collect/evidence/probes.h src/collect/evidence/probes.c \
	src/collect/evidence/ranges.h src/collect/evidence/ranges.c \
	src/collect/evidence/registers.h src/collect/evidence/registers.c \
	src/collect/evidence/windows.h src/collect/evidence/windows.c \
	src/collect/images/file_identity.h src/collect/images/file_identity.c \
	src/collect/images/held_files.h src/collect/images/held_files.c \
	src/collect/images/images.h src/collect/images/images.c \
	src/collect/images/jit.h src/collect/images/jit.c \
	src/collect/images/kept.h src/collect/images/kept.c \
	src/collect/images/kernel.h src/collect/images/kernel.c \
	src/collect/images/perf_map.h src/collect/images/perf_map.c \
	src/collect/images/sampled_names.h src/collect/images/sampled_names.c \
	src/collect/images/vdso.h src/collect/images/vdso.c \
	src/collect/maps/lanes.h src/collect/maps/lanes.c \
	src/collect/maps/mapped.h src/collect/maps/mapped.c \
	src/collect/maps/names.h src/collect/maps/names.c \
	src/collect/maps/proc_files.h src/collect/maps/proc_files.c \
	src/collect/maps/proc_maps.h src/collect/maps/proc_maps.c \
	src/collect/maps/process.h src/collect/maps/process.c \
	src/collect/maps/space.h src/collect/maps/space.c \
	src/collect/paths/call_paths.h src/collect/paths/call_paths.c \
	src/collect/paths/depths.h src/collect/paths/depths.c \
	src/collect/paths/known.h src/collect/paths/known.c \
	src/collect/paths/registers.h src/collect/paths/lasts.h src/collect/paths/lasts.c \
	src/collect/paths/named.h src/collect/paths/named.c \
	src/collect/paths/raw_images.h src/collect/paths/raw_images.c \
	src/collect/paths/shorter.h src/collect/paths/shorter.c \
	src/collect/paths/tables.h src/collect/paths/tables.c \
	src/collect/samples/attribute.h src/collect/samples/attribute.c \
	src/collect/samples/sample_table.h src/collect/samples/sample_table.c

COLLECT_LIBS = src/collect/libcollect.a $(UNWIND_LIBS) $(CALIBRATE_LIBS) $(SAMPLE_LIBS) $(TARGET_LIBS) $(CFG_LIBS) $(DB_LIBS)
