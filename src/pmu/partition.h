/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fewest groups that hold all items, where only the hardware knows which items go together.
 *
 * Sets of events that a PMU can count at once are those that can be matched with its counters, each
 * event with one that can count it: the independent sets of a (transversal) matroid. To divide
 * items into the fewest independent sets is Edmonds' matroid partition (1965): items are added one
 * by one; one that fits nowhere may push another out of its group, which finds room elsewhere, and
 * so on along a shortest such chain; where there is none, no division into so few groups exists.
 * PMUs whose constraints are no matroid (two events that share a register) still get a division in
 * which every group was found to fit, perhaps not the smallest.
 */
#ifndef HPCPROF_PMU_PARTITION_H
#define HPCPROF_PMU_PARTITION_H

#include <hpcprof/base/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether these items go together; `count` may be 0. */
typedef bool hp_fits(void *context, const uint32_t *items, size_t count);

#define HP_NO_GROUP UINT32_MAX

/* `group_of[item]`: from 0 to below `*group_count`; HP_NO_GROUP for an item that does not even fit
 * alone. Groups come in the order of their first items. `alike`: every item takes one counter, so
 * that full groups are known without asking. */
struct hp_error *hp_partition(size_t item_count, bool alike, hp_fits *fits, void *context,
			      uint32_t *group_of, uint32_t *group_count);

#endif
