/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The source of the figures is given above each core; "unchecked" has the meaning that cores.c
 * gives. Ways of TLBs are unchecked unless stated otherwise. An entry of a micro-op cache holds 6
 * to 9 micro-ops; how much code that is depends on the code: an instruction has about 4 bytes.
 */
#include <hpcprof/isa/sizes.h>

#include "cores.h"

static const struct hp_core_sizes sizes[CORE_COUNT] = {
	/* Intel 248966 (Skylake Server): caches, TLBs, micro-op cache, store buffer. Desktop parts have
	 * a second level of 256 KiB and 4 ways. Yavarzadeh et al. (src/uarch/history.h): the history. Unchecked:
	 * returns. */
	[CORE_SKYLAKE] = { .l1i = { 64, 8 },
			   .l1d = { 64, 8 },
			   .l2 = { 1024, 16 },
			   .itlb = { 16, 8 },
			   .dtlb = { 16, 4 },
			   .tlb2 = { 128, 12 },
			   .decoded = { 32, 8 },
			   .decoded_bytes = 32,
			   .store_entries = 56,
			   .return_entries = 16,
			   .longest_history = 93 },
	/* Published descriptions of Sunny Cove: first levels, 2,304 micro-ops. The second level is the server's. Unchecked: TLBs, stores, returns. */
	[CORE_ICE_LAKE] = { .l1i = { 64, 8 },
			    .l1d = { 64, 12 },
			    .l2 = { 1024, 20 },
			    .itlb = { 16, 8 },
			    .dtlb = { 16, 4 },
			    .tlb2 = { 128, 16 },
			    .decoded = { 48, 8 },
			    .decoded_bytes = 32,
			    .store_entries = 72,
			    .return_entries = 16 },
	/* Published descriptions of Golden Cove: first levels, 4,096 micro-ops, TLBs of 256 entries
	 * for code and 96 for loads. The history as for Skylake, of the desktop's core. The predictor, as
	 * measured on Emerald Rapids, of eight branches in turn: of 16,384 random outcomes that repeat a quarter
	 * is lost, of 32,768 most of them; of 1,024 jumps to 16 places none, of 2,048 half. One branch alone has
	 * half of these: which half tells a bit of its address (Yavarzadeh et al.). Of 512 taken branches and more
	 * each takes two cycles; of up to 256 about one, in loops that go round often and have the core for
	 * themselves. Unchecked: where between these it changes; second TLB, stores, returns. The branch target
	 * buffer has 12,288 entries, as measured: of 12,288 jumps each takes 4 cycles, of 16,384 in random order
	 * 14. Ways: unchecked. */
	[CORE_SAPPHIRE_RAPIDS] = { .l1i = { 64, 8 },
				   .l1d = { 64, 12 },
				   .l2 = { 2048, 16 },
				   .itlb = { 32, 8 },
				   .dtlb = { 16, 6 },
				   .tlb2 = { 128, 16 },
				   .decoded = { 64, 8 },
				   .decoded_bytes = 32,
				   .store_entries = 112,
				   .return_entries = 24,
				   .tagged_entries = 2048,
				   .indirect_entries = 256,
				   .longest_history = 194,
				   .early_targets = 256,
				   .targets = { 2048, 6 } },
	/* As Sapphire Rapids, with twice the instruction cache (its cpuid). Unchecked: the predictor. */
	[CORE_GRANITE_RAPIDS] = { .l1i = { 64, 16 },
				  .l1d = { 64, 12 },
				  .l2 = { 2048, 16 },
				  .itlb = { 32, 8 },
				  .dtlb = { 16, 6 },
				  .tlb2 = { 128, 16 },
				  .decoded = { 64, 8 },
				  .decoded_bytes = 32,
				  .store_entries = 112,
				  .return_entries = 24,
				  .tagged_entries = 2048,
				  .indirect_entries = 256,
				  .longest_history = 194 },
	/* Published descriptions of Zen 2, after AMD 56305: all entries. */
	[CORE_ZEN_2] = { .l1i = { 64, 8 },
			 .l1d = { 64, 8 },
			 .l2 = { 1024, 8 },
			 .l2_is_inclusive = true,
			 .itlb = { 1, 64 },
			 .dtlb = { 1, 64 },
			 .tlb2 = { 128, 16 },
			 .tlb2_code = { 64, 8 },
			 .decoded = { 64, 8 },
			 .decoded_bytes = 32,
			 .store_entries = 48,
			 .return_entries = 31 },
	/* As Zen 2 where AMD 56665 does not say otherwise. Unchecked: all of it. */
	[CORE_ZEN_3] = { .l1i = { 64, 8 },
			 .l1d = { 64, 8 },
			 .l2 = { 1024, 8 },
			 .l2_is_inclusive = true,
			 .itlb = { 1, 64 },
			 .dtlb = { 1, 64 },
			 .tlb2 = { 128, 16 },
			 .tlb2_code = { 64, 8 },
			 .decoded = { 64, 8 },
			 .decoded_bytes = 32,
			 .store_entries = 64,
			 .return_entries = 32 },
	/* The cpuid of family 25 model 17: caches; TLBs of 64 and 72 entries, fully associative, of
	 * 512 (4 ways) and 3,072. It codes the ways of the latter as 8 to 15: 12 makes sets a power of
	 * two. 6,912 micro-ops, 12 ways of 9. The predictor, as measured: random outcomes that repeat are
	 * foretold after up to 32,768 of them, and a fifth is lost of 65,536; jumps to 16 places, by where these
	 * lie, after 512 to 2,048. Unchecked: stores, returns. */
	[CORE_ZEN_4] = { .l1i = { 64, 8 },
			 .l1d = { 64, 8 },
			 .l2 = { 2048, 8 },
			 .l2_is_inclusive = true,
			 .itlb = { 1, 64 },
			 .dtlb = { 1, 72 },
			 .tlb2 = { 256, 12 },
			 .tlb2_code = { 128, 4 },
			 .decoded = { 64, 12 },
			 .decoded_bytes = 32,
			 .store_entries = 64,
			 .return_entries = 32,
			 .tagged_entries = 8192,
			 .indirect_entries = 512 },
	/* AMD's presentation at Hot Chips 2024: caches, entries of TLBs, 6 K instructions. The predictor, as
	 * measured: of 32,768 random outcomes that repeat a fifth is lost, of 65,536 most of them; of 1,024 jumps
	 * to 16 places hardly any, of 2,048 half. Unchecked: stores, returns. */
	[CORE_ZEN_5] = { .l1i = { 64, 8 },
			 .l1d = { 64, 12 },
			 .l2 = { 1024, 16 },
			 .l2_is_inclusive = true,
			 .itlb = { 1, 64 },
			 .dtlb = { 1, 96 },
			 .tlb2 = { 256, 16 },
			 .tlb2_code = { 256, 8 },
			 .decoded = { 64, 16 },
			 .decoded_bytes = 32,
			 .store_entries = 104,
			 .return_entries = 52,
			 .tagged_entries = 4096,
			 .indirect_entries = 256 },
};

const struct hp_core_sizes *hp_core_sizes_of(const struct hp_core *core)
{
	size_t number = (size_t)(core - cores);

	return number < CORE_COUNT && !core->is_generic ? &sizes[number] : NULL;
}
