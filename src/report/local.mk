# Layer 5: views and their writers.
noinst_LIBRARIES += src/report/libreport.a
src_report_libreport_a_SOURCES =

REPORT_LIBS = src/report/libreport.a $(ISA_LIBS) $(IMAGE_LIBS) $(DB_LIBS)
