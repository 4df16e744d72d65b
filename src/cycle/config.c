/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/cycle/config.h>

#include "tuning.h"

#include <hpcprof/uarch/path.h>
#include <hpcprof/uarch/resize.h>

#include <stdio.h>
#include <string.h>

static const char *const part_names[HP_CYCLE_PARTS] = {
	[HP_CYCLE_BASE] = "base", [HP_CYCLE_UNITS] = "units", [HP_CYCLE_BRANCH] = "branch",
	[HP_CYCLE_L1I] = "l1i",	  [HP_CYCLE_L2I] = "l2i",     [HP_CYCLE_ITLB] = "itlb",
	[HP_CYCLE_L2D] = "l2d",	  [HP_CYCLE_DTLB] = "dtlb",   [HP_CYCLE_STORE] = "store",
};

const char *hp_cycle_part_name(enum hp_cycle_part part)
{
	return part_names[part];
}

/* --- the core of the paper --------------------------------------------------------------------- */

static const char eyerman[] = "eyerman2006";

static struct hp_uarch_geometry eyerman_geometry(void)
{
	struct hp_uarch_geometry geometry = hp_uarch_geometry_generic();

	geometry.l1i = (struct hp_uarch_sets){ 128, 1 };
	geometry.l1d = (struct hp_uarch_sets){ 64, 4 };
	geometry.l2 = (struct hp_uarch_sets){ 2048, 8 };
	geometry.l3 = (struct hp_uarch_sets){ 0 };
	geometry.l2_is_inclusive = false;
	geometry.itlb = (struct hp_uarch_sets){ ITLB_SETS, TLB_WAYS };
	geometry.dtlb = (struct hp_uarch_sets){ DTLB_SETS, TLB_WAYS };
	/* There is only one level of TLBs, so the second one has no page that the first one
	 * lacks. */
	geometry.tlb2 = geometry.tlb2_code = (struct hp_uarch_sets){ 1, 1 };
	geometry.decoded = (struct hp_uarch_sets){ 0 };
	geometry.predictor.is_hybrid = true;
	geometry.predictor.base_entries = HYBRID_ENTRIES;
	geometry.predictor.loop_entries = 0;
	geometry.reorder_slots = 128;
	geometry.store_entries = 64;
	return geometry;
}

static void set_eyerman(struct hp_cycle_config *config)
{
	*config = (struct hp_cycle_config){
		.title = "Eyerman et al. 2006, table 2",
		.core = *hp_core_named("generic-x86-64"),
		.geometry = eyerman_geometry(),
		.front_stages = 5,
		.fetch_width = 8,
		.fetch_entries = 8,
		.issue_width = 8,
		.lsq_entries = 64,
		.is_plain = true,
		.ignores = HP_UARCH_PREFETCHED | HP_UARCH_PREFETCHED_LATE | HP_UARCH_WALK_MISS |
			   HP_UARCH_WALK_UNKNOWN | HP_UARCH_LINE_SPLIT | HP_UARCH_PAGE_SPLIT |
			   HP_UARCH_FORWARD_FAILED | HP_UARCH_BRANCH_LATE | HP_UARCH_TARGET_LATE,
	};
	config->core.asks_late = true;
	config->core.issue_width = 4;
	config->core.retire_width = 4;
	config->core.fetch_width = 8;
	config->core.decode_width = 8;
	config->core.reorder_slots = 128;
	config->core.miss_buffers = UINT8_MAX;
	config->core.l1_cycles = 2;
	config->core.l2_cycles = 9;
	config->core.l3_cycles = config->core.memory_cycles = 9 + 250;
	config->core.l2_tlb_cycles = config->core.walk_cycles = TLB_CYCLES;
	config->core.forward_cycles = 2;
}

/* --- cores of the tables ----------------------------------------------------------------------- */

static void set_core(const struct hp_core *core, struct hp_cycle_config *config)
{
	*config = (struct hp_cycle_config){
		.title = core->title,
		.core = *core,
		.geometry = hp_uarch_geometry_of(core),
		.front_stages = (uint16_t)(core->mispredict_cycles - OTHER_STAGES),
		.fetch_width = core->fetch_width,
		.fetch_entries = FETCH_ENTRIES,
		.issue_width = UINT16_MAX,
		.lsq_entries = UINT16_MAX,
		.has_store_buffer = true,
	};
	config->geometry.l3 = (struct hp_uarch_sets){ L3_SETS, L3_WAYS };
}

struct hp_error *hp_cycle_config_named(const char *name, struct hp_cycle_config *config)
{
	const struct hp_core *core = hp_core_named(name);

	if (strcmp(name, eyerman) != 0 && !core)
		return hp_error_create(HP_ERROR_USAGE, "there is no core '%s'", name);
	if (core)
		set_core(core, config);
	else
		set_eyerman(config);
	/* A branch is resolved two cycles after its dispatch at the earliest. */
	config->core.mispredict_cycles = (uint16_t)(config->front_stages + OTHER_STAGES);
	return NULL;
}

/* --- other cores ------------------------------------------------------------------------------- */

static struct hp_error *change_one(struct hp_cycle_config *config, const char *word)
{
	const char *value = strchr(word, ':');
	struct hp_resizes resizes;

	for (unsigned part = HP_CYCLE_UNITS; value && part < HP_CYCLE_PARTS; part++) {
		size_t length = strlen(part_names[part]);

		if (strcmp(value, ":perfect") == 0 && length == (size_t)(value - word) &&
		    strncmp(word, part_names[part], length) == 0) {
			config->perfect |= 1U << part;
			return NULL;
		}
	}
	if (!hp_resizes_parse(word, &resizes))
		return hp_error_advise(
			hp_error_create(HP_ERROR_USAGE, "'%s' is no change of a core", word),
			"for instance l2:2M, rob:256 or branch:perfect");
	if (!hp_resizes_apply(&resizes, &config->geometry, &config->core) ||
	    config->core.reorder_slots > REORDER_MOST)
		return hp_error_create(HP_ERROR_USAGE, "no core can be made with '%s'", word);
	return NULL;
}

struct hp_error *hp_cycle_config_change(struct hp_cycle_config *config, const char *list)
{
	struct hp_cycle_config changed = *config;
	struct hp_error *error = NULL;
	char word[64];

	while (!error) {
		size_t length = strcspn(list, ",");

		snprintf(word, sizeof(word), "%.*s", (int)(length < 64 ? length : 63), list);
		error = change_one(&changed, word);
		if (!list[length])
			break;
		list += length + 1;
	}
	if (!error)
		*config = changed;
	return error;
}
