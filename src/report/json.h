/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What every JSON document of a report shares. Values are NULL when memory is short, which the
 * json_pack they go into then reports. */
#ifndef REPORT_JSON_H
#define REPORT_JSON_H

#include "model.h"

#include <jansson.h>
#include <stdio.h>

json_t *json_text(const char *text);		    /* made valid; null for NULL */
json_t *json_address(bool known, uint64_t address); /* "0x…" or null */
json_t *json_count(uint64_t count);
json_t *json_samples(const struct report *report, const struct tally *tallies);
json_t *json_shares(const struct report *report, const struct tally *tallies);

/* schema, epochs, events, samples: the beginning of every document. */
json_t *json_header(const struct report *report, const char *schema);
/* Adds the recordings, the images' state and everything else that --summary shows. */
json_t *json_summary(const struct report *report);

/* Writes a value, and takes it; with `open`, an object without its closing brace. */
struct hp_error *json_write(json_t *value, bool open, FILE *out);

#endif
