/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "follow.h"

#include "../translate/x86_decode.h"
#include "../tuning.h"
#include "followed.h"
#include "telling.h"
#include "tracing.h"

#include <stdlib.h>
#include <string.h>

/* --- events ------------------------------------------------------------------------------------ */

enum { LINE = 64 };

/* Kinds of events, plus one, by the bits of the models' answers; 0: no kind. */
enum { EVENT_BITS = 32 };
#define BIT(event)  __builtin_ctz(HP_UARCH_##event)
#define KIND(event) (HP_EVENT_##event + 1)

static const uint8_t of_accesses[EVENT_BITS] = {
	[BIT(L1_MISS)] = KIND(L1_MISS),
	[BIT(L1_UNKNOWN)] = KIND(L1_UNKNOWN),
	[BIT(L2_MISS)] = KIND(L2_MISS),
	[BIT(L2_UNKNOWN)] = KIND(L2_UNKNOWN),
	[BIT(DTLB_MISS)] = KIND(DTLB_MISS),
	[BIT(DTLB_UNKNOWN)] = KIND(DTLB_UNKNOWN),
	[BIT(TLB2_MISS)] = KIND(TLB2_MISS),
	[BIT(TLB2_UNKNOWN)] = KIND(TLB2_UNKNOWN),
	[BIT(WALK_MISS)] = KIND(WALK_MISS),
	[BIT(WALK_UNKNOWN)] = KIND(WALK_UNKNOWN),
	[BIT(PREFETCHED)] = KIND(PREFETCHED),
	[BIT(PREFETCHED_LATE)] = KIND(PREFETCHED_LATE),
	[BIT(FORWARDED_YOUNG)] = KIND(FORWARDED_YOUNG),
	[BIT(FORWARD_FAILED)] = KIND(FORWARD_FAILED),
	[BIT(ALIAS_4K)] = KIND(ALIAS_4K),
	[BIT(LINE_SPLIT)] = KIND(LINE_SPLIT),
	[BIT(PAGE_SPLIT)] = KIND(PAGE_SPLIT),
};

static const uint8_t of_fetches[EVENT_BITS] = {
	[BIT(L1I_MISS)] = KIND(L1I_MISS),	  [BIT(L1I_UNKNOWN)] = KIND(L1I_UNKNOWN),
	[BIT(L2_MISS)] = KIND(L2I_MISS),	  [BIT(L2_UNKNOWN)] = KIND(L2I_UNKNOWN),
	[BIT(ITLB_MISS)] = KIND(ITLB_MISS),	  [BIT(ITLB_UNKNOWN)] = KIND(ITLB_UNKNOWN),
	[BIT(TLB2_MISS)] = KIND(TLB2I_MISS),	  [BIT(TLB2_UNKNOWN)] = KIND(TLB2I_UNKNOWN),
	[BIT(DECODED_MISS)] = KIND(DECODED_MISS),
};

static const uint8_t of_branches[EVENT_BITS] = {
	[BIT(MISPREDICTED)] = KIND(MISPREDICTED),
	[BIT(BRANCH_UNKNOWN)] = KIND(BRANCH_UNKNOWN),
};

static void count(struct tally *tally, unsigned events, const uint8_t kinds[EVENT_BITS])
{
	for (; events; events &= events - 1) {
		uint8_t kind = kinds[__builtin_ctz(events)];

		if (kind)
			tally->counts[kind - 1]++;
	}
}

/* --- a block ----------------------------------------------------------------------------------- */

static const enum hp_uarch_branch_kind branch_kinds[] = {
	[X86_JUMP] = HP_UARCH_JUMP,
	[X86_JUMP_IF] = HP_UARCH_CONDITIONAL,
	[X86_JUMP_COUNTED] = HP_UARCH_CONDITIONAL,
	[X86_CALL] = HP_UARCH_CALL,
	[X86_JUMP_INDIRECT] = HP_UARCH_JUMP_INDIRECT,
	[X86_CALL_INDIRECT] = HP_UARCH_CALL_INDIRECT,
	[X86_RETURN] = HP_UARCH_RETURN,
};

/* The timing takes many times as long as the models do, and follows from little of what came before. */
static bool is_timed(const struct follower *follower)
{
	return follower->timing && follower->instructions >= follower->timed_from;
}

/* Follows the branch of the previous block, which has led here. */
static void follow_branch(struct follower *follower, uint64_t here, bool counts)
{
	struct followed *from = follower->before;
	enum x86_kind kind = from ? from->plan->kind : X86_PLAIN;
	bool is_taken;
	unsigned events;

	if (kind == X86_PLAIN || kind >= sizeof(branch_kinds) / sizeof(*branch_kinds))
		return;
	is_taken = branch_kinds[kind] != HP_UARCH_CONDITIONAL || here != from->next;
	events = hp_uarch_branch(follower->uarch, from->last, from->next, branch_kinds[kind],
				 is_taken, here);
	if (is_timed(follower))
		hp_timing_branch(follower->timing, events, is_taken);
	if (counts)
		count(&from->branch, events, of_branches);
}

static void follow_pattern(const struct follower *follower, struct footprint *footprint,
			   uint64_t address, struct tally *tally, bool counts)
{
	if (!counts) {
		footprint_pass(footprint, address);
		return;
	}
	tally->counts[HP_EVENT_STRIDED] += footprint_add(footprint, address);
	tally->counts[HP_EVENT_ADDRESS_LOADED] += follower->loads_behind == 1;
	tally->counts[HP_EVENT_CHASED] += follower->loads_behind > 1;
}

/* The number of loads, each from the address that the previous one loaded, by which the
 * instruction's address was found. */
static unsigned loads_behind(const struct follower *follower, const struct hp_timed_insn *insn)
{
	unsigned most = 0;

	for (unsigned i = 0; i < insn->address_count; i++)
		if (follower->loaded[insn->addresses[i]] > most)
			most = follower->loaded[insn->addresses[i]];
	return most;
}

/* Updates what registers hold. Values spilled to the stack do not count as loaded. */
static void follow_values(struct follower *follower, const struct hp_timed_insn *insn)
{
	unsigned loaded = follower->loads_behind;

	for (unsigned i = 0; i < follower->timed_count; i++)
		if (!follower->timed[i].is_store)
			loaded = insn->is_at_stack			? 0
				 : follower->loads_behind < MOST_LOADED ? follower->loads_behind + 1
									: MOST_LOADED;
	for (unsigned i = 0; i < insn->operand_count; i++)
		if (insn->operands[i] < HP_REGISTER_COUNT &&
		    follower->loaded[insn->operands[i]] > loaded)
			loaded = follower->loaded[insn->operands[i]];
	for (unsigned i = 0; i < insn->result_count; i++)
		follower->loaded[insn->results[i]] = (uint8_t)loaded;
}

/* Tells the models whose pointer leads to the instruction's data. `access`: the number of its first one. */
static void follow_pointer(struct follower *follower, const struct followed *followed, size_t insn,
			   size_t access)
{
	const struct path_plan *plan = followed->plan;
	bool has_access = access < plan->access_count && plan->accesses[access].insn == insn;
	uint64_t ip = 0, address = 0;

	if (has_access) {
		ip = followed->patterns[access].ip;
		address = path_access_address(plan, &plan->accesses[access], follower->words,
					      follower->fs_base);
	}
	hp_uarch_pointers_follow(&follower->pointers, follower->uarch, &followed->timed[insn], ip,
				 has_access ? &address : NULL);
}

enum {
	PAGE_EVENTS = HP_UARCH_DTLB_MISS | HP_UARCH_DTLB_UNKNOWN | HP_UARCH_TLB2_MISS |
		      HP_UARCH_TLB2_UNKNOWN | HP_UARCH_WALK_MISS | HP_UARCH_WALK_UNKNOWN,
};

/* Adds an access in the form that the timing takes. */
static void add_timed(struct follower *follower, uint64_t address, unsigned events,
		      enum hp_uarch_access_kind kind)
{
	bool is_store = kind == HP_UARCH_STORE;

	if (follower->timed_count == TIMED_ACCESSES)
		return;
	follower->timed[follower->timed_count++] = (struct hp_timed_access){
		.line = address / LINE,
		.store = is_store ? hp_uarch_last_store(follower->uarch)
				  : hp_uarch_met_store(follower->uarch),
		.events = events,
		.is_store = is_store,
		.is_prefetch = kind == HP_UARCH_PREFETCH,
	};
}

/* Without memory for it the access has no likely misses. */
static void add_reuse(struct follower *follower, struct pattern *pattern, enum second_level level,
		      struct hp_uarch_distance distance, bool is_unknown)
{
	struct reuse **reuse = &pattern->reuse[level];

	if (!*reuse)
		*reuse = calloc(1, sizeof(**reuse));
	if (*reuse)
		reuse_add(*reuse, &follower->reuse[level], &distance, is_unknown);
}

static void follow_reuse(struct follower *follower, struct pattern *pattern, unsigned events,
			 bool counts)
{
	if (events & (HP_UARCH_L1_MISS | HP_UARCH_L1_UNKNOWN))
		add_reuse(follower, pattern, SECOND_CACHE, hp_uarch_l2_distance(follower->uarch),
			  counts && (events & HP_UARCH_L2_UNKNOWN));
	if (events & (HP_UARCH_DTLB_MISS | HP_UARCH_DTLB_UNKNOWN))
		add_reuse(follower, pattern, SECOND_TLB, hp_uarch_tlb2_distance(follower->uarch),
			  counts && (events & HP_UARCH_TLB2_UNKNOWN));
}

static void follow_access(struct follower *follower, struct followed *followed, size_t number,
			  bool counts)
{
	static const enum hp_uarch_access_kind kinds[] = {
		[X86_LOAD] = HP_UARCH_LOAD,
		[X86_STORE] = HP_UARCH_STORE,
		[X86_MODIFY] = HP_UARCH_LOAD,
		[X86_PREFETCH] = HP_UARCH_PREFETCH,
	};
	const struct path_access *access = &followed->plan->accesses[number];
	uint64_t address =
		path_access_address(followed->plan, access, follower->words, follower->fs_base);
	uint64_t elements = path_access_elements(access, follower->words);
	uint64_t bytes = elements < HP_UARCH_BYTES_MOST ? elements * access->bytes
							: HP_UARCH_BYTES_MOST;
	struct pattern *pattern = &followed->patterns[number];
	struct tally *tally = &followed->accesses[number];
	unsigned events;

	if (!bytes)
		return;
	events = hp_uarch_access(follower->uarch, pattern->ip, address, (uint32_t)bytes,
				 kinds[access->kind]);
	add_timed(follower, address, events, kinds[access->kind]);
	/* A prefetch instruction waits for its page, and not for its line. */
	if (access->kind == X86_PREFETCH)
		events &= PAGE_EVENTS;
	follow_reuse(follower, pattern, events, counts);
	if (access->kind == X86_MODIFY) {
		(void)hp_uarch_access(follower->uarch, pattern->ip, address, (uint32_t)bytes,
				      HP_UARCH_STORE);
		add_timed(follower, address, 0, HP_UARCH_STORE);
	}
	if (counts)
		count(tally, events, of_accesses);
	follow_pattern(follower, &pattern->footprint, address, tally, counts);
	/* a repeated instruction does the work of many */
	follower->instructions += bytes / LINE;
}

static void follow_fetch(struct follower *follower, struct followed *followed, size_t piece,
			 bool counts)
{
	unsigned events = hp_uarch_fetch(follower->uarch, followed->pieces[piece].address,
					 followed->pieces[piece].bytes);

	if (is_timed(follower))
		hp_timing_fetch(follower->timing, events);
	if (counts)
		count(&followed->fetches[piece], events, of_fetches);
}

static void time_insn(struct follower *follower, struct followed *followed, size_t insn,
		      bool counts)
{
	struct hp_lanes *spent = !counts	  ? &follower->uncounted
				 : followed->each ? &followed->each[insn].recent
						  : &followed->spent.recent;

	hp_timing_insn(follower->timing, &followed->timed[insn], follower->timed,
		       follower->timed_count, spent);
}

static void settle_all(struct follower *follower)
{
	for (size_t i = 0; i < follower->all.count; i++)
		followed_settle(follower->all.at[i]);
}

static void rebase(struct follower *follower)
{
	settle_all(follower);
	follower->uncounted = (struct hp_lanes){ 0 };
	hp_timing_rebase(follower->timing);
}

static void follow_block(struct follower *follower, struct followed *followed)
{
	const struct path_plan *plan = followed->plan;
	bool counts = follower->instructions >= follower->counted_from;
	bool is_block_timed = is_timed(follower);

	if (follower->tracing)
		tracing_take(follower->tracing, followed->number, plan, follower->words,
			     follower->fs_base);
	follow_branch(follower, plan->address, counts);
	if (counts)
		followed_run(followed);
	for (size_t i = 0, piece = 0, access = 0; i < plan->insn_count; i++) {
		if (piece < followed->piece_count && followed->pieces[piece].first == i)
			follow_fetch(follower, followed, piece++, counts);
		follower->timed_count = 0;
		follower->loads_behind =
			followed->timed ? loads_behind(follower, &followed->timed[i]) : 0;
		if (is_block_timed)
			follow_pointer(follower, followed, i, access);
		for (; access < plan->access_count && plan->accesses[access].insn == i; access++)
			follow_access(follower, followed, access, counts);
		if (!is_block_timed)
			continue;
		time_insn(follower, followed, i, counts);
		follow_values(follower, &followed->timed[i]);
	}
	hp_uarch_retire(follower->uarch, plan->insn_count);
	follower->instructions += plan->insn_count;
	follower->before = followed;
	if (follower->timing && hp_timing_is_due(follower->timing))
		rebase(follower);
}

/* --- words ------------------------------------------------------------------------------------- */

static struct followed *meet(struct follower *follower, uint64_t number)
{
	const struct path_plan *plan = follower->plan_of(follower->context, number);
	struct followed *followed =
		plan ? followed_create(plan, number, follower->timing ? follower->core : NULL)
		     : NULL;

	if (followed && !hp_vector_push(&follower->all, followed)) {
		followed_destroy(followed);
		followed = NULL;
	}
	if (followed)
		follower->by_block[number] = followed;
	return followed;
}

static struct followed *find(struct follower *follower, uint64_t number)
{
	struct followed *followed = NULL;

	if (number < PATH_MOST_BLOCKS)
		followed = follower->by_block[number];
	if (!followed && number < PATH_MOST_BLOCKS)
		followed = meet(follower, number);
	follower->is_lost = !followed;
	return followed;
}

void follower_take(struct follower *follower, const uint64_t *words, size_t count)
{
	for (size_t i = 0; i < count && !follower->is_lost; i++) {
		if (!follower->reading)
			follower->reading = find(follower, words[i]);
		else
			follower->words[follower->word_count++] = words[i];
		if (follower->reading &&
		    follower->word_count == follower->reading->plan->word_count) {
			follow_block(follower, follower->reading);
			follower->reading = NULL;
			follower->word_count = 0;
		}
	}
}

/* --- life -------------------------------------------------------------------------------------- */

bool follower_create(struct follower *follower, struct hp_uarch *uarch, struct hp_timing *timing,
		     const struct hp_core *core)
{
	*follower = (struct follower){
		.uarch = uarch,
		.timing = timing,
		.core = core,
		.by_block = calloc(PATH_MOST_BLOCKS, sizeof(struct followed *)),
	};
	return follower->by_block != NULL;
}

static void forget_all(struct follower *follower)
{
	for (size_t i = 0; i < follower->all.count; i++) {
		follower->by_block[follower->all.at[i]->number] = NULL;
		followed_destroy(follower->all.at[i]);
	}
	follower->all.count = 0;
	told_begin(&follower->told);
}

void follower_clear(struct follower *follower)
{
	forget_all(follower);
	hp_vector_free(&follower->all);
	told_clear(&follower->told);
	free(follower->by_block);
	*follower = (struct follower){ 0 };
}

/* Nothing that came before leads here. */
static void begin_stretch(struct follower *follower, uint64_t warming)
{
	if (follower->timing)
		hp_timing_reset(follower->timing);
	follower->uncounted = (struct hp_lanes){ 0 };
	memset(follower->loaded, 0, sizeof(follower->loaded));
	follower->pointers = (struct hp_uarch_pointers){ 0 };
	follower->counted_from = follower->instructions + warming;
	follower->timed_from = follower->counted_from - warming / TIMED_WARMING_PART;
	follower->reading = follower->before = NULL;
	follower->word_count = 0;
}

void follower_begin(struct follower *follower, bool goes_on,
		    const struct path_plan *(*plan_of)(const void *, uint64_t), const void *context,
		    uint64_t fs_base, uint64_t warming)
{
	forget_all(follower);
	if (goes_on)
		hp_uarch_resume(follower->uarch);
	else
		hp_uarch_reset(follower->uarch);
	follower->plan_of = plan_of;
	follower->context = context;
	follower->fs_base = fs_base;
	memset(follower->reuse, 0, sizeof(follower->reuse));
	follower->instructions = 0;
	follower->is_lost = false;
	begin_stretch(follower, warming);
}

/* --- what has happened ------------------------------------------------------------------------- */

static void count_likely(struct follower *follower, struct followed *followed)
{
	static const enum hp_event_kind kinds[SECOND_LEVELS] = {
		[SECOND_CACHE] = HP_EVENT_L2_LIKELY_MISS,
		[SECOND_TLB] = HP_EVENT_TLB2_LIKELY_MISS,
	};

	for (size_t i = 0; i < followed->plan->access_count; i++)
		for (unsigned level = 0; level < SECOND_LEVELS; level++)
			if (followed->patterns[i].reuse[level])
				followed->accesses[i].counts[kinds[level]] =
					reuse_take_misses(followed->patterns[i].reuse[level],
							  &follower->reuse[level]);
}

static void tell_stretch(struct follower *follower)
{
	for (size_t i = 0; i < follower->all.count; i++) {
		struct followed *followed = follower->all.at[i];

		if (followed->runs == followed->told)
			continue;
		count_likely(follower, followed);
		told_add_block(&follower->told, followed);
	}
}

void follower_resume(struct follower *follower, size_t number, size_t sample, uint64_t warming)
{
	tell_stretch(follower);
	settle_all(follower);
	hp_uarch_resume(follower->uarch);
	begin_stretch(follower, warming);
	told_begin_stretch(&follower->told, number, sample);
}

/* --- over all stretches ------------------------------------------------------------------------ */

void follower_tell(struct follower *follower, const size_t *cuts, size_t part_count,
		   struct hp_window *window)
{
	struct telling telling = telling_of(0);

	tell_stretch(follower);
	for (size_t i = 0; i < follower->all.count; i++) {
		const struct followed *followed = follower->all.at[i];

		if (!followed->runs)
			continue;
		telling_add_places(&telling, followed);
		if (followed->timed)
			telling_add_cycles(&telling, followed);
	}
	telling_give_footprints(&telling, &follower->told);
	if (!telling.has_memory || !told_hand_over(&follower->told, cuts, part_count, window)) {
		hp_vector_free(&telling.timed);
		return;
	}
	window->timed = telling.timed.at;
	window->timed_count = telling.timed.count;
}

void follower_tell_resized(const struct follower *follower, uint64_t resizes,
			   struct hp_window *window)
{
	struct telling telling = telling_of(resizes);
	struct hp_window_timed *all;
	size_t kept = 0;

	for (size_t i = 0; i < follower->all.count; i++)
		if (follower->all.at[i]->runs && follower->all.at[i]->timed)
			telling_add_cycles(&telling, follower->all.at[i]);
	for (size_t i = 0; i < telling.timed.count; i++)
		if (telling.timed.at[i].is_block)
			telling.timed.at[kept++] = telling.timed.at[i];
	all = telling.has_memory
		      ? realloc(window->timed, (window->timed_count + kept) * sizeof(*all) + 1)
		      : NULL;
	if (all) {
		for (size_t i = 0; i < kept; i++)
			all[window->timed_count++] = telling.timed.at[i];
		window->timed = all;
	}
	hp_vector_free(&telling.timed);
}
