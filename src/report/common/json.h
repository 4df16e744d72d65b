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

json_t *json_text(const char *text);		    /* made valid; null for NULL */
json_t *json_address(bool known, uint64_t address); /* "0x…" or null */
json_t *json_count(uint64_t count);
json_t *json_number(double value); /* null when it is not finite */
json_t *json_samples(const struct report *report, const struct hp_tally *tallies);
json_t *json_shares(const struct report *report, const struct hp_tally *tallies);

/* schema, epochs, events, samples: the beginning of every document. */
json_t *json_header(const struct report *report, const char *schema);
/* Adds the recordings, the images' state and everything else that --summary shows. */
json_t *json_summary(const struct report *report);

/* What an analysis found; it, the frequency, the graph and the instruction may be NULL. */
/* Of what windows counted; nulls for NULL. */
json_t *json_figure(const struct hp_counted_figure *figure);
json_t *json_executions(const struct hp_frequency *frequency);
json_t *json_stalls(const struct hp_analysis *analysis, const struct hp_analysed_insn *insn);
/* Causes of the instruction that are better known together than apart; NULL: there are none. */
json_t *json_together(const struct hp_analysed_insn *insn);
/* Where the cycles of all that was analysed went; null when nothing was. `is_absolute`: executions
 * of all of it were counted. */
json_t *json_stack(const struct hp_stall_sheet *sheet, bool is_absolute);
/* The same of a survey, and what is not in it. */
json_t *json_survey(const struct survey *survey);
void json_add_cfg(struct hp_buffer *out, const struct hp_cfg *cfg,
		  const struct hp_analysis *analysis);
/* Objects of instructions' rows. */
void json_add_instructions(struct hp_buffer *out, const struct report *report,
			   const struct hp_row *rows, size_t count,
			   const struct hp_analysis *analysis);
json_t *json_frequency_source(const struct report *report, const struct hp_analysis *analysis);

/* Writes a value, and takes it; with `open`, an object without its closing brace. */
struct hp_error *json_write(json_t *value, bool open, FILE *out);
/* The members of an object, behind others of one that is open, which stays so. */
struct hp_error *json_write_more(json_t *object, FILE *out);

/* What there are millions of in a long document, without a tree (json_direct.c): a piece as it is, a number with
 * twelve digits or null when it is not finite, addresses and texts as json_address and json_text have them. */
void json_add(struct hp_buffer *out, const char *piece);
void json_add_number(struct hp_buffer *out, double value);
void json_add_count(struct hp_buffer *out, uint64_t count);
void json_add_address(struct hp_buffer *out, bool known, uint64_t address);
void json_add_text(struct hp_buffer *out, const char *text);

#endif
