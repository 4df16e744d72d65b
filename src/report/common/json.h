/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every JSON document of a report shares. Functions return NULL when memory is short;
 * json_pack, which their values go into, then reports it.
 */
#ifndef REPORT_COMMON_JSON_H
#define REPORT_COMMON_JSON_H

#include "state.h"

#include <hpcprof/base/buffer.h>

#include <jansson.h>
#include <stdio.h>

struct survey;

json_t *json_text(const char *text);		    /* made valid UTF-8; null for NULL */
json_t *json_address(bool known, uint64_t address); /* "0x…" or null */
json_t *json_count(uint64_t count);
json_t *json_number(double value); /* null if it is not finite */
json_t *json_samples(const struct report *report, const struct hp_tally *tallies);
json_t *json_shares(const struct report *report, const struct hp_tally *tallies);

/* The beginning of every document: schema, epochs, events, samples. */
json_t *json_header(const struct report *report, const char *schema);
/* Adds the recordings, the state of images and the rest of --summary. */
json_t *json_summary(const struct report *report);

/* What an analysis found; it, the frequency, the graph and the instruction may be NULL. */
/* A count from windows; members are null if `figure` is NULL. */
json_t *json_figure(const struct hp_counted_figure *figure);
json_t *json_executions(const struct hp_frequency *frequency);
json_t *json_stalls(const struct hp_analysis *analysis, const struct hp_analysed_insn *insn);
/* Causes of the instruction that are better known together than apart; NULL: there are none. */
json_t *json_together(const struct hp_analysed_insn *insn);
/* An object with the members `simulated` and `events`, as hpcprof-report(1) has them. */
json_t *json_happened(const struct hp_happened *seen);
/* Where the cycles of all analysed code went; null if none was. `is_absolute`: all of its
 * executions were counted. */
json_t *json_stack(const struct hp_stall_sheet *sheet, bool is_absolute);
void json_add_stack(struct hp_buffer *out, const struct hp_stall_sheet *sheet, bool is_absolute);
/* The same for a survey, and what is not included in it. */
json_t *json_survey(const struct survey *survey);
void json_add_cfg(struct hp_buffer *out, const struct hp_cfg *cfg,
		  const struct hp_analysis *analysis);
/* Adds the objects of rows of instructions. */
void json_add_instructions(struct hp_buffer *out, const struct report *report,
			   const struct hp_row *rows, size_t count,
			   const struct hp_analysis *analysis);
json_t *json_frequency_source(const struct report *report, const struct hp_analysis *analysis);

/* Writes a value and releases it. `open`: an object, without its closing brace. */
struct hp_error *json_write(json_t *value, bool open, FILE *out);
/* Writes an object's members into one that is open, and stays so. */
struct hp_error *json_write_more(json_t *object, FILE *out);

/* For values of which a long document has millions; they are written without a tree
 * (json_direct.c). Pieces are copied, numbers get twelve digits or become null if not finite, and
 * addresses and texts look like those of json_address and json_text. */
static inline void json_add(struct hp_buffer *out, const char *piece)
{
	hp_buffer_add(out, piece, strlen(piece));
}
void json_add_number(struct hp_buffer *out, double value);
void json_add_exact(struct hp_buffer *out, double value); /* with all digits, as json_write does */
void json_add_count(struct hp_buffer *out, uint64_t count);
void json_add_address(struct hp_buffer *out, bool known, uint64_t address);
void json_add_text(struct hp_buffer *out, const char *text);

#endif
