/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Operations on the times of all lanes at once, as vectors. A function marked WIDE is compiled
 * twice, and uses wider registers where the processor has them.
 */
#ifndef HPCPROF_SRC_UARCH_LANE_GROUPS_H
#define HPCPROF_SRC_UARCH_LANE_GROUPS_H

#include <hpcprof/uarch/timing.h>

#if defined(__x86_64__) && defined(__GLIBC__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif
#define INLINE	  static inline __attribute__((always_inline))
#define EACH_LANE for (unsigned lane = 0; lane < HP_LANES; lane++)

/* Several lanes at a time. Compilers do not accept vectors as arguments if the processor may not
 * have them. */
enum { TOGETHER = 8, GROUPS = HP_LANES / TOGETHER };
typedef int32_t lane_group
	__attribute__((vector_size(TOGETHER * sizeof(int32_t)), aligned(4), may_alias));
_Static_assert(HP_LANES % TOGETHER == 0, "lanes are whole groups");

#ifdef __clang__
#define EACH_GROUP for (unsigned g = 0; g < GROUPS; g++)
#else
#define EACH_GROUP _Pragma("GCC unroll 4") for (unsigned g = 0; g < GROUPS; g++)
#endif
#define GROUP(lanes)	   (((lane_group *)(lanes)->at)[g])
#define CONST_GROUP(lanes) (((const lane_group *)(lanes)->at)[g])

/* Sets each lane to the later of both. */
INLINE void raise_to(struct hp_lanes *time, const struct hp_lanes *by)
{
	EACH_GROUP
	{
		lane_group old = GROUP(time), other = CONST_GROUP(by);
		lane_group is_later = old > other;

		GROUP(time) = (old & is_later) | (other & ~is_later);
	}
}

/* Sets each lane to the earlier of both. */
INLINE void lower_to(struct hp_lanes *time, const struct hp_lanes *by)
{
	EACH_GROUP
	{
		lane_group old = GROUP(time), other = CONST_GROUP(by);
		lane_group is_later = old > other;

		GROUP(time) = (other & is_later) | (old & ~is_later);
	}
}

/* As raise_to, with `more` added to `by`, in the lanes of a mask. */
INLINE void raise_where(struct hp_lanes *time, const struct hp_lanes *by, int32_t more,
			const struct hp_lanes *where)
{
	EACH_GROUP
	{
		lane_group old = GROUP(time);
		lane_group other = (CONST_GROUP(by) + more) & CONST_GROUP(where);
		lane_group is_later = old > other;

		GROUP(time) = (old & is_later) | (other & ~is_later);
	}
}

INLINE void add_times(struct hp_lanes *time, const struct hp_lanes *more, int32_t times)
{
	EACH_GROUP GROUP(time) += CONST_GROUP(more) * times;
}

INLINE void add_where(struct hp_lanes *time, int32_t ticks, const struct hp_lanes *where)
{
	EACH_GROUP GROUP(time) += ticks & CONST_GROUP(where);
}

INLINE void add_all(struct hp_lanes *time, int32_t ticks)
{
	EACH_GROUP GROUP(time) += ticks;
}

#endif
