# Layer 7: views and their writers.
noinst_LIBRARIES += src/report/libreport.a
src_report_libreport_a_SOURCES = \
	include/hpcprof/report/comparison.h \
	include/hpcprof/report/report.h \
	include/hpcprof/report/spread.h \
	src/report/annotate.h src/report/annotate.c \
	src/report/annotate_choose.c \
	src/report/annotate_columns.h src/report/annotate_columns.c \
	src/report/annotate_source.c \
	src/report/annotate_stalls.c \
	src/report/arrows.h src/report/arrows.c \
	src/report/blocks.c \
	src/report/breakdown.h src/report/breakdown.c \
	src/report/caveats.c \
	src/report/cells.h src/report/cells.c \
	src/report/columns.h src/report/columns.c \
	src/report/columns_analysis.h src/report/columns_analysis.c \
	src/report/columns_counts.h src/report/columns_counts.c \
	src/report/comparison.h src/report/comparison.c \
	src/report/comparison_github.c \
	src/report/comparison_html.c \
	src/report/comparison_json.c \
	src/report/comparison_junit.c \
	src/report/comparison_markdown.c \
	src/report/comparison_sarif.c \
	src/report/comparison_text.c \
	src/report/executions.h src/report/executions.c \
	src/report/executions_lines.c \
	src/report/header.h src/report/header.c \
	src/report/header_counted.c \
	src/report/header_names.c \
	src/report/header_parts.h \
	src/report/hot_path.h src/report/hot_path.c \
	src/report/json.h src/report/json.c \
	src/report/json_analysis.c \
	src/report/listing.h src/report/listing.c \
	src/report/machine.h src/report/machine.c \
	src/report/nameless.h src/report/nameless.c \
	src/report/quantity.h src/report/quantity.c \
	src/report/report.c \
	src/report/sheet.h src/report/sheet.c \
	src/report/sort.h src/report/sort.c \
	src/report/source.h src/report/source.c \
	src/report/source_access.h src/report/source_access.c \
	src/report/spread.c \
	src/report/state.h \
	src/report/survey.h src/report/survey.c \
	src/report/text.h src/report/text.c \
	src/report/text_header.c \
	src/report/text_summary.c \
	src/report/text_table.c \
	src/report/write.h \
	src/report/write_annotate.c \
	src/report/write_csv.c \
	src/report/write_dot.c \
	src/report/write_executions.c \
	src/report/write_json.c \
	src/report/write_stalls.c \
	src/report/write_text.c

nodist_src_report_libreport_a_SOURCES = src/report/page_check_css.h src/report/page_check_js.h

# The page of a comparison, as arrays of strings.
page_headers = src/report/page_check_css.h src/report/page_check_js.h
# Not BUILT_SOURCES: these come first for some targets only, and not for "make hpcprof".
src/report/comparison_html.$(OBJEXT): $(page_headers)
CLEANFILES += $(page_headers)
EXTRA_DIST += src/report/page/check.css src/report/page/check.js src/report/page/quote.awk
quote_page = $(AM_V_GEN)$(MKDIR_P) src/report && $(AWK) -v name=$(@F:.h=) \
	-f $(srcdir)/src/report/page/quote.awk
src/report/page_check_css.h: src/report/page/check.css src/report/page/quote.awk
	$(quote_page) $(srcdir)/src/report/page/check.css >$@.tmp && mv $@.tmp $@
src/report/page_check_js.h: src/report/page/check.js src/report/page/quote.awk
	$(quote_page) $(srcdir)/src/report/page/check.js >$@.tmp && mv $@.tmp $@

REPORT_LIBS = src/report/libreport.a $(INFER_LIBS) $(COMPARE_LIBS)
