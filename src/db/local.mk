# Layer 2: the profile database.
noinst_LIBRARIES += src/db/libdb.a
src_db_libdb_a_SOURCES = \
	include/hpcprof/db/db.h

DB_LIBS = src/db/libdb.a $(MODEL_LIBS) $(JANSSON_LIBS) $(ZSTD_LIBS) $(ZLIB_LIBS) $(XXHASH_LIBS)
