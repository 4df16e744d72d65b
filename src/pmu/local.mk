# Layer 1: event names, and what this machine can do.
noinst_LIBRARIES += src/pmu/libpmu.a
src_pmu_libpmu_a_SOURCES = \
	include/hpcprof/pmu/event.h \
	include/hpcprof/pmu/machine.h

PMU_LIBS = src/pmu/libpmu.a $(MODEL_LIBS) $(PFM_LIBS)
