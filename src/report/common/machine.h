/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine as the analysis sees it: the tables of its core, its clock, and the skid of its
 * samples.
 */
#ifndef REPORT_COMMON_MACHINE_H
#define REPORT_COMMON_MACHINE_H

#include <hpcprof/isa/machine.h>
#include <hpcprof/model/epoch.h>

#include <jansson.h>
#include <stdio.h>

/* NULL if there are no tables of the architecture. */
const struct hp_core *report_core(const struct hp_epoch_meta *meta);

void machine_write_text(const struct hp_epoch_meta *meta, FILE *out);

json_t *machine_cpu_json(const struct hp_cpu *cpu);	     /* null if it is unknown */
json_t *machine_core_json(const struct hp_epoch_meta *meta); /* null if there are no tables */
json_t *machine_clock_json(const struct hp_clock *clock);    /* null if it was not measured */
/* an array with one element per event */
json_t *machine_skid_json(const struct hp_epoch_meta *meta);

#endif
