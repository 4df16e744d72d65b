# Layer 5: views and their writers.
noinst_LIBRARIES += src/report/libreport.a
src_report_libreport_a_SOURCES = \
	include/hpcprof/report/report.h src/report/report.c src/report/run.h \
	src/report/balance.h src/report/balance.c \
	src/report/blocks.c src/report/caveats.c \
	src/report/analyse.h src/report/analyse.c src/report/evidence.c \
	src/report/annotate.h src/report/annotate.c src/report/annotate_choose.c \
	src/report/annotate_columns.h src/report/annotate_columns.c \
	src/report/annotate_source.c src/report/annotate_stalls.c \
	src/report/arrows.h src/report/arrows.c \
	src/report/shown.h src/report/shown.c \
	src/report/kept.h src/report/kept.c \
	src/report/attribute.h src/report/attribute.c \
	src/report/breakdown.h src/report/breakdown.c \
	src/report/cells.h src/report/cells.c \
	src/report/columns.h src/report/columns.c \
	include/hpcprof/report/comparison.h src/report/comparison.h src/report/comparison.c \
	include/hpcprof/report/spread.h src/report/spread.c \
	src/report/comparison_github.c src/report/comparison_html.c \
	src/report/comparison_json.c src/report/comparison_junit.c \
	src/report/comparison_markdown.c src/report/comparison_sarif.c \
	src/report/comparison_text.c \
	src/report/counted.h src/report/counted.c src/report/counted_terms.c \
	src/report/counted_clock.h src/report/counted_clock.c \
	src/report/columns_analysis.h src/report/columns_analysis.c \
	src/report/columns_counts.h src/report/columns_counts.c \
	src/report/executions.h src/report/executions.c src/report/executions_lines.c \
	src/report/header.h src/report/header.c \
	src/report/header_parts.h src/report/header_counted.c src/report/header_names.c \
	src/report/hot_path.h src/report/hot_path.c \
	src/report/json.h src/report/json.c src/report/json_analysis.c \
	src/report/listing.h src/report/listing.c \
	src/report/load.h src/report/load.c \
	src/report/machine.h src/report/machine.c \
	src/report/mixture.c \
	src/report/model.h src/report/model.c \
	src/report/nameless.h src/report/nameless.c \
	src/report/quantity.h src/report/quantity.c \
	src/report/resolve.h src/report/resolve.c \
	src/report/rows.h src/report/rows.c \
	src/report/sheet.h src/report/sheet.c \
	src/report/source.h src/report/source.c \
	src/report/source_access.h src/report/source_access.c \
	src/report/suggest.h src/report/suggest.c \
	src/report/survey.h src/report/survey.c \
	src/report/text.h src/report/text.c \
	src/report/text_header.c src/report/text_summary.c src/report/text_table.c \
	src/report/probed.h src/report/probed.c \
	src/report/recorded.h src/report/recorded.c \
	src/report/retired.h src/report/retired.c \
	src/report/ways.h src/report/ways.c \
	src/report/write_executions.c \
	src/report/windows.h src/report/windows.c \
	src/report/write.h src/report/write_annotate.c src/report/write_csv.c src/report/write_dot.c src/report/write_json.c src/report/write_stalls.c src/report/write_text.c

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

REPORT_LIBS = src/report/libreport.a $(COMPARE_LIBS) $(ANALYZE_LIBS) $(CFG_LIBS) $(ISA_LIBS) $(IMAGE_LIBS) $(DB_LIBS)
