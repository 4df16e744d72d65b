/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "accountings.h"

void naive_charge(const struct hp_cycle_counts *counts, const struct hp_cycle_config *config,
		  bool with_strayed, double spent[HP_CYCLE_PARTS])
{
	for (unsigned part = HP_CYCLE_UNITS; part < HP_CYCLE_PARTS; part++) {
		spent[part] = (double)counts->latencies[part];
		if (with_strayed)
			spent[part] += (double)counts->strayed_latencies[part];
	}
	/* A misprediction is assumed to cost a refill of the front end. */
	spent[HP_CYCLE_BRANCH] = (double)counts->mispredicts * config->front_stages;
}
