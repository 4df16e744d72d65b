/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Divides items into the fewest groups, if only the hardware knows which items fit into one group.
 *
 * A PMU can count a set of events at once if each event can be matched with a counter of its own.
 * Such sets are the independent sets of a (transversal) matroid, so Edmonds' matroid partition
 * (1965) gives the fewest groups. Items are added one by one. An item that fits nowhere may
 * displace one from its group, which moves to another group, and so on, along a shortest such
 * chain; if there is no chain, one more group is needed. If the constraints are not a matroid (two
 * events that share a register), each group still fits, but there may be more groups than
 * necessary.
 */
#ifndef HPCPROF_PMU_PARTITION_H
#define HPCPROF_PMU_PARTITION_H

#include <hpcprof/base/error.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether these items fit together; `count` may be 0. */
typedef bool hp_fits(void *context, const uint32_t *items, size_t count);

#define HP_NO_GROUP UINT32_MAX

/* Sets `group_of[item]` to a number below `*group_count`, or HP_NO_GROUP for an item that does not
 * fit even alone. Groups are in order of their first items. `alike`: each item takes one counter,
 * so full groups need not be tried. */
struct hp_error *hp_partition(size_t item_count, bool alike, hp_fits *fits, void *context,
			      uint32_t *group_of, uint32_t *group_count);

#endif
