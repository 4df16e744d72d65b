# Layer 3: from kernel rings to the database.
noinst_LIBRARIES += src/collect/libcollect.a
src_collect_libcollect_a_SOURCES =

COLLECT_LIBS = src/collect/libcollect.a $(IMAGE_LIBS) $(DB_LIBS) $(PMU_LIBS)
