# Layer 2: the profile database.
noinst_LIBRARIES += src/db/libdb.a
src_db_libdb_a_SOURCES = \
	src/db/care.c \
	src/db/contents.h src/db/contents_file.c src/db/contents.c \
	src/db/database.h src/db/database.c \
	src/db/directory.h src/db/directory.c \
	src/db/epoch.c \
	src/db/gc.c \
	src/db/merge.c \
	src/db/names.h src/db/names.c \
	src/db/resolve.c \
	src/db/sums.h src/db/sums.c \
	src/db/symbol_union.h src/db/symbol_union.c \
	src/db/verify.c \
	src/db/writer.h src/db/writer.c src/db/writer_beside.c src/db/writing.h \
	include/hpcprof/db/db.h \
	src/db/codec.h \
	src/db/body_codec.c \
	src/db/container.h src/db/container.c \
	src/db/evidence_encode.c \
	src/db/evidence_decode.c \
	src/db/evidence_lists.h \
	src/db/evidence_sum.c \
	src/db/excerpt_codec.c src/db/excerpt_lines.h src/db/excerpt_lines.c \
	src/db/excerpt_reading.h src/db/excerpt_reading.c \
	src/db/image_id_codec.c src/db/index_codec.c \
	src/db/meta_codec.c \
	src/db/paths_codec.c \
	src/db/meta_parts.c \
	src/db/meta_json.h src/db/meta_json.c \
	src/db/profile_codec.c \
	src/db/symbol_codec.c

DB_LIBS = src/db/libdb.a $(MODEL_LIBS) $(JANSSON_LIBS) $(ZSTD_LIBS) $(ZLIB_LIBS) $(XXHASH_LIBS)
