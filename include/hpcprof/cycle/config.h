/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cores that the model (model.h) can simulate: that of Eyerman et al. 2006, table 2, and those
 * in the tables of isa/machine. A list of changes adapts them: "l2:2M,rob:256,branch:perfect".
 */
#ifndef HPCPROF_CYCLE_CONFIG_H
#define HPCPROF_CYCLE_CONFIG_H

#include <hpcprof/base/error.h>
#include <hpcprof/isa/machine.h>
#include <hpcprof/uarch/geometry.h>

#include <stdbool.h>
#include <stdint.h>

/* What cycles are spent on. Numbers are indices of stacks. */
enum hp_cycle_part {
	HP_CYCLE_BASE,	 /* as fast as widths and dependences allow */
	HP_CYCLE_UNITS,	 /* long-latency units, and data in the second cache */
	HP_CYCLE_BRANCH, /* mispredicted branches */
	HP_CYCLE_L1I,	 /* code in the second cache */
	HP_CYCLE_L2I,	 /* code further away */
	HP_CYCLE_ITLB,
	HP_CYCLE_L2D, /* data further away than the second cache */
	HP_CYCLE_DTLB,
	HP_CYCLE_STORE, /* stores that wait to leave the core */
	HP_CYCLE_PARTS,
};

/* "base", "units" … */
const char *hp_cycle_part_name(enum hp_cycle_part part);

struct hp_cycle_config {
	const char *title;
	struct hp_core core;
	struct hp_uarch_geometry geometry;
	uint16_t front_stages;	/* cycles from fetch to dispatch */
	uint16_t fetch_width;	/* instructions per cycle, from one line */
	uint16_t fetch_entries; /* fetched instructions in front of the pipeline */
	uint16_t issue_width;	/* instructions that begin in a cycle */
	uint16_t lsq_entries;	/* loads and stores in flight */
	/* A store occupies an entry of geometry.store_entries from dispatch until its line has
	 * arrived and earlier stores have left. Otherwise stores leave when they retire. */
	bool has_store_buffer;
	/* Costs depend on the kind of instruction only, as in a simulated machine, not on the
	 * tables of `core`. */
	bool is_plain;
	unsigned ignores; /* events of uarch/path.h that this core does not have */
	unsigned perfect; /* bits of enum hp_cycle_part: causes without a cost */
	bool is_in_order; /* each instruction begins after the previous one has retired */
	bool fetches_all; /* cached code is fetched at once, across lines and behind branches */
};

/* USAGE if there is no such core. */
struct hp_error *hp_cycle_config_named(const char *name, struct hp_cycle_config *config);

/* Applies a list of changes. USAGE if the list is malformed or no such core can be made; then
 * nothing is changed. */
struct hp_error *hp_cycle_config_change(struct hp_cycle_config *config, const char *list);

#endif
