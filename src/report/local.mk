# Layer 5: views and their writers.
noinst_LIBRARIES += src/report/libreport.a
src_report_libreport_a_SOURCES = \
	include/hpcprof/report/report.h src/report/report.c src/report/run.h \
	src/report/blocks.c \
	src/report/attribute.h src/report/attribute.c \
	src/report/columns.h src/report/columns.c \
	src/report/hash.h \
	src/report/json.h src/report/json.c \
	src/report/listing.h src/report/listing.c \
	src/report/load.h src/report/load.c \
	src/report/model.h src/report/model.c \
	src/report/rows.h src/report/rows.c \
	src/report/text.h src/report/text.c \
	src/report/text_header.c src/report/text_summary.c src/report/text_table.c \
	src/report/write.h src/report/write_csv.c src/report/write_dot.c src/report/write_json.c src/report/write_text.c

REPORT_LIBS = src/report/libreport.a $(CFG_LIBS) $(ISA_LIBS) $(IMAGE_LIBS) $(DB_LIBS)
