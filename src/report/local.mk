# Layer 7: views and their writers.
noinst_LIBRARIES += src/report/libreport.a
src_report_libreport_a_SOURCES = \
	include/hpcprof/report/comparison.h \
	include/hpcprof/report/report.h \
	include/hpcprof/report/spread.h \
	src/report/annotate/annotate.h src/report/annotate/annotate.c src/report/annotate/annotation.c \
	src/report/annotate/annotate_choose.c \
	src/report/annotate/annotate_columns.h src/report/annotate/annotate_columns.c \
	src/report/annotate/annotate_source.c \
	src/report/annotate/annotate_stalls.c \
	src/report/annotate/arrows.h src/report/annotate/arrows.c \
	src/report/annotate/blocks.c \
	src/report/annotate/caveats.c \
	src/report/annotate/hot_path.h src/report/annotate/hot_path.c \
	src/report/annotate/json_analysis.c \
	src/report/annotate/listing.h src/report/annotate/listing.c \
	src/report/annotate/source.h src/report/annotate/source.c \
	src/report/annotate/source_access.h src/report/annotate/source_access.c \
	src/report/annotate/write_annotate.h src/report/annotate/write_annotate.c \
	src/report/annotate/write_dot.c \
	src/report/common/counting.h src/report/common/counting.c \
	src/report/common/json.h src/report/common/json.c src/report/common/json_direct.c \
	src/report/common/json_summary.c \
	src/report/common/load.h src/report/common/load.c \
	src/report/common/machine.h src/report/common/machine.c \
	src/report/common/parallel.h src/report/common/parallel.c \
	src/report/common/quantity.h src/report/common/quantity.c \
	src/report/common/sheet.h src/report/common/sheet.c \
	src/report/common/sort.h src/report/common/sort.c \
	src/report/common/state.h \
	src/report/common/svg.h src/report/common/svg.c \
	src/report/common/text.h src/report/common/text.c \
	src/report/comparison/comparison.h src/report/comparison/comparison.c src/report/comparison/comparison_write.c \
	src/report/comparison/calls.c src/report/comparison/causes.c \
	src/report/comparison/comparison_callers.c \
	src/report/comparison/comparison_github.c \
	src/report/comparison/comparison_html.c \
	src/report/comparison/comparison_json.c \
	src/report/comparison/comparison_junit.c \
	src/report/comparison/comparison_markdown.c \
	src/report/comparison/comparison_sarif.c \
	src/report/comparison/comparison_text.c \
	src/report/comparison/reasons.h src/report/comparison/reasons.c src/report/comparison/reasons_names.c \
	src/report/comparison/spread.c \
	src/report/executions/executions.h src/report/executions/executions.c \
	src/report/executions/executions_lines.c \
	src/report/executions/write_executions.h src/report/executions/write_executions.c \
	include/hpcprof/report/export.h src/report/export/export.h src/report/export/export.c \
	src/report/export/bolt.c \
	src/report/export/callgrind.c \
	src/report/export/counted_code.h src/report/export/counted_code.c \
	src/report/export/export_path.c \
	src/report/export/firefox.c \
	src/report/export/folded.c \
	src/report/export/llvm_sample.c \
	src/report/export/perf_script.c \
	src/report/export/pprof.c \
	src/report/export/ranges.c \
	src/report/export/speedscope.c \
	src/report/header/header.h src/report/header/header.c \
	src/report/header/header_counted.c \
	src/report/header/header_names.c \
	src/report/header/header_parts.h \
	src/report/header/nameless.h src/report/header/nameless.c \
	src/report/header/text_header.h src/report/header/text_header.c \
	src/report/paths/call_counts.h src/report/paths/call_counts.c \
	src/report/paths/call_table.h src/report/paths/call_table.c \
	src/report/paths/call_tree.h src/report/paths/call_tree.c \
	src/report/paths/flame_graph.c \
	src/report/paths/paths_csv.c \
	src/report/paths/paths_json.c \
	src/report/paths/paths_text.c \
	src/report/paths/paths_view.h src/report/paths/paths_view.c \
	src/report/paths/write_paths.h \
	src/report/report.c \
	src/report/stalls/survey.h src/report/stalls/survey.c \
	src/report/stalls/stall_cells.h src/report/stalls/stall_cells.c \
	src/report/stalls/write_culprits.h src/report/stalls/write_culprits.c \
	src/report/stalls/advice.h src/report/stalls/advice.c \
	src/report/stalls/draw_stack.c \
	src/report/stalls/program_stack.h src/report/stalls/program_stack.c \
	src/report/stalls/sampled_stack.h src/report/stalls/sampled_stack.c \
	src/report/stalls/write_what_if.h src/report/stalls/write_what_if.c \
	src/report/stalls/write_stack.h src/report/stalls/write_stack.c \
	src/report/stalls/write_stalls.h src/report/stalls/write_stalls.c \
	src/report/tables/breakdown.h src/report/tables/breakdown.c \
	src/report/tables/cells.h src/report/tables/cells.c \
	src/report/tables/columns.h src/report/tables/columns.c \
	src/report/tables/columns_analysis.h src/report/tables/columns_analysis.c \
	src/report/tables/columns_counts.h src/report/tables/columns_counts.c \
	src/report/tables/csv_table.c \
	src/report/tables/table.h \
	src/report/tables/text_table.c \
	src/report/text_summary.c \
	src/report/tuning.h \
	src/report/write.h \
	src/report/write_csv.c \
	src/report/write_json.c \
	src/report/write_text.c

nodist_src_report_libreport_a_SOURCES = src/report/comparison/page_check_css.h src/report/comparison/page_check_js.h

# The page of a comparison, as arrays of strings.
page_headers = src/report/comparison/page_check_css.h src/report/comparison/page_check_js.h
# Not BUILT_SOURCES: these come first for some targets only, and not for "make hpcprof".
src/report/comparison/comparison_html.$(OBJEXT): $(page_headers)
CLEANFILES += $(page_headers)
EXTRA_DIST += src/report/comparison/page/check.css src/report/comparison/page/check.js src/report/comparison/page/quote.awk
quote_page = $(AM_V_GEN)$(MKDIR_P) src/report/comparison && $(AWK) -v name=$(@F:.h=) \
	-f $(srcdir)/src/report/comparison/page/quote.awk
src/report/comparison/page_check_css.h: src/report/comparison/page/check.css src/report/comparison/page/quote.awk
	$(quote_page) $(srcdir)/src/report/comparison/page/check.css >$@.tmp && mv $@.tmp $@
src/report/comparison/page_check_js.h: src/report/comparison/page/check.js src/report/comparison/page/quote.awk
	$(quote_page) $(srcdir)/src/report/comparison/page/check.js >$@.tmp && mv $@.tmp $@

REPORT_LIBS = src/report/libreport.a $(INFER_LIBS) $(COMPARE_LIBS)
