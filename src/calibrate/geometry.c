/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/calibrate/geometry.h>

#include <hpcprof/base/file.h>
#include <hpcprof/base/number.h>

#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

/* limits of the caches that sysfs lists, and the TLBs that cpuid lists, for one CPU */
enum { HIGHEST_CACHE = 16, HIGHEST_TLB = 16 };

/* --- caches ----------------------------------------------------------------------------------- */

/* The text of one file about a cache; NULL if there is none. */
static char *cache_text(const char *root, int index, const char *name)
{
	return hp_file_text("%s/sys/devices/system/cpu/cpu0/cache/index%d/%s", root, index, name);
}

/* 0 if there is no such number. */
static uint32_t cache_number(const char *root, int index, const char *name)
{
	_cleanup_free_ char *text = cache_text(root, index, name);
	uint64_t value;

	return text && hp_parse_u64(text, &value) && value <= UINT32_MAX ? (uint32_t)value : 0;
}

/* The field for that cache; NULL if it is not modelled. */
static struct hp_uarch_sets *place_of(struct hp_uarch_geometry *geometry, uint32_t level,
				      const char *type)
{
	if (level == 1 && strcmp(type, "Instruction") == 0)
		return &geometry->l1i;
	if (level == 1 && strcmp(type, "Data") == 0)
		return &geometry->l1d;
	if (level == 2 && strcmp(type, "Unified") == 0)
		return &geometry->l2;
	return NULL;
}

/* Takes over the change if models can be made with it. */
static void take(struct hp_uarch_geometry *geometry, const struct hp_uarch_geometry *changed)
{
	if (hp_uarch_geometry_is_valid(changed))
		*geometry = *changed;
}

static void take_cache(struct hp_uarch_geometry *geometry, const char *root, int index)
{
	_cleanup_free_ char *type = cache_text(root, index, "type");
	struct hp_uarch_geometry changed = *geometry;
	struct hp_uarch_sets *place =
		type ? place_of(&changed, cache_number(root, index, "level"), type) : NULL;

	if (!place)
		return;
	place->sets = cache_number(root, index, "number_of_sets");
	place->ways = cache_number(root, index, "ways_of_associativity");
	changed.line_bytes = cache_number(root, index, "coherency_line_size");
	take(geometry, &changed);
}

/* --- TLBs ------------------------------------------------------------------------------------- */

/* For the second level, codes name ranges of ways; 0: another leaf has them, or the code is
 * reserved. */
static uint32_t ways_of_code(uint32_t code, uint32_t entries)
{
	static const uint32_t ways[16] = { 0, 1, 2, 3, 4, 6, 8, 0, 16, 0, 32, 48, 64, 96, 128, 0 };

	return code == 15 ? entries : ways[code];
}

static void take_tlb(struct hp_uarch_geometry *geometry, struct hp_uarch_geometry *changed,
		     struct hp_uarch_sets *place, uint32_t entries, uint32_t ways)
{
	if (entries == 0 || ways == 0 || entries % ways != 0) {
		*changed = *geometry;
		return;
	}
	/* If the table has the same number of entries, its ways are more precise. */
	if (place->sets * place->ways != entries)
		*place = (struct hp_uarch_sets){ entries / ways, ways };
	take(geometry, changed);
	*changed = *geometry;
}

void hp_geometry_take_amd_tlbs(struct hp_uarch_geometry *geometry, const uint32_t first[4],
			       const uint32_t second[4])
{
	struct hp_uarch_geometry changed = *geometry;
	/* pages of 4 KiB: bits 31-24 ways of the data TLB, 23-16 its entries; then the same for
	 * code */
	uint32_t small = first[1];
	/* the same for the second level: bits 31-28 ways, 27-16 entries */
	uint32_t behind = second[1];
	uint32_t data = small >> 16 & 0xff, code = small & 0xff;
	uint32_t data_ways = small >> 24, code_ways = small >> 8 & 0xff;
	uint32_t data2 = behind >> 16 & 0xfff, code2 = behind & 0xfff;

	take_tlb(geometry, &changed, &changed.dtlb, data, data_ways == 0xff ? data : data_ways);
	take_tlb(geometry, &changed, &changed.itlb, code, code_ways == 0xff ? code : code_ways);
	take_tlb(geometry, &changed, &changed.tlb2, data2, ways_of_code(behind >> 28, data2));
	take_tlb(geometry, &changed, &changed.tlb2_code, code2,
		 ways_of_code(behind >> 12 & 15, code2));
}

void hp_geometry_take_intel_tlb(struct hp_uarch_geometry *geometry, const uint32_t part[4])
{
	enum { DATA = 1, CODE = 2, UNIFIED = 3, LOADS = 4 };
	struct hp_uarch_geometry changed = *geometry;
	uint32_t type = part[3] & 31, level = part[3] >> 5 & 7;
	bool is_small = part[1] & 1; /* pages of 4 KiB */
	uint32_t sets = part[2], ways = part[1] >> 16;
	struct hp_uarch_sets *place = NULL;

	if (level == 1 && (type == DATA || type == LOADS))
		place = &changed.dtlb;
	else if (level == 1 && type == CODE)
		place = &changed.itlb;
	else if (level == 2 && type == UNIFIED)
		place = &changed.tlb2;
	if (!place || !is_small || sets == 0 || ways == 0)
		return;
	*place = (struct hp_uarch_sets){ sets, ways };
	take(geometry, &changed);
}

static void take_tlbs(struct hp_uarch_geometry *geometry, const struct hp_cpu *cpu)
{
#ifdef __x86_64__
	uint32_t first[4], second[4];

	if (cpu->vendor && strcmp(cpu->vendor, "GenuineIntel") == 0)
		for (unsigned i = 0; i < HIGHEST_TLB; i++)
			if (__get_cpuid_count(0x18, i, &first[0], &first[1], &first[2], &first[3]))
				hp_geometry_take_intel_tlb(geometry, first);
	if (cpu->vendor && strcmp(cpu->vendor, "AuthenticAMD") == 0 &&
	    __get_cpuid(0x80000005, &first[0], &first[1], &first[2], &first[3]) &&
	    __get_cpuid(0x80000006, &second[0], &second[1], &second[2], &second[3]))
		hp_geometry_take_amd_tlbs(geometry, first, second);
#else
	(void)geometry, (void)cpu;
#endif
}

struct hp_uarch_geometry hp_geometry_of_machine(const struct hp_machine *machine)
{
	struct hp_uarch_geometry geometry = hp_uarch_geometry_of(hp_core_of_cpu(&machine->cpu));

	for (int i = 0; i < HIGHEST_CACHE; i++)
		take_cache(&geometry, machine->root, i);
	if (machine->root[0] == 0)
		take_tlbs(&geometry, &machine->cpu);
	return geometry;
}
