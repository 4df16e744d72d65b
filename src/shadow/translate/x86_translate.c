/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "x86_translate.h"

#include "../tuning.h"
#include "x86_block.h"
#include "x86_expect.h"
#include "x86_goto.h"
#include "x86_link.h"
#include "x86_log.h"

bool x86_flags_matter(struct x86_translator *translator, uint64_t address)
{
	for (unsigned i = 0; i < LIVENESS_INSNS; i++) {
		uint8_t bytes[X86_INSN_BYTES];
		struct x86_insn insn;
		size_t got;

		if (shadow_text_read(translator->text, address, bytes, sizeof(bytes), &got) !=
			    SHADOW_TEXT_READ ||
		    !x86_decode(bytes, got, address, &insn) || insn.reads_flags)
			return true;
		if (insn.replaces_flags)
			return false;
		address += insn.length;
		if (insn.kind == X86_JUMP || insn.kind == X86_CALL)
			address = insn.target;
		else if (insn.kind != X86_PLAIN)
			return true;
	}
	return true;
}

/* --- one block -------------------------------------------------------------------------------- */

struct work {
	struct x86_translator *translator;
	struct code_cache *cache;
	struct code_zone *zone;
	struct code_block block; /* being made */
	struct x86_block *decoded;
	HP_VECTOR(uint64_t) later; /* addresses to be translated as well */
};

/* Flags must be dead here, or a register saved. */
static void count_edge(struct work *work, struct x86_emitter *emitter, uint32_t counter,
		       uint64_t target)
{
	struct x86_count_place place = {
		.how = x86_flags_matter(work->translator, target) ? X86_COUNT_SPILLING
								  : X86_COUNT_FLAGS_DEAD,
	};

	x86_emit_count(work->zone, emitter, counter, &place);
}

/* Additions to the translation of a block; each may be NULL. */
struct besides {
	x86_check_function *check; /* before each instruction */
	void *context;
	const struct x86_log *log;
};

/* Emits everything before the branch. Returns where the block is counted or may be; NULL:
 * nowhere. */
static uint8_t *emit_body(const struct code_zone *zone, struct x86_emitter *emitter,
			  const struct x86_block *decoded, const struct code_block *block,
			  const struct besides *besides)
{
	uint8_t *count_at = NULL;

	if (besides->log)
		x86_log_begin(besides->log, emitter);
	for (size_t i = 0; i < decoded->count; i++) {
		const struct x86_insn *insn = &decoded->insns[i];

		if (besides->check)
			besides->check(besides->context, block, insn->address, emitter);
		if (!x86_is_indirect(block->kind) && block->count_place.before == i) {
			count_at = emitter->at;
			x86_emit_count(zone, emitter, block->counter, &block->count_place);
			if (block->counted_since == CODE_NO_NUMBER)
				x86_emit_nothing(count_at, emitter);
		}
		if (besides->log)
			x86_log_insn(besides->log, emitter, i, false);
		if (insn->kind == X86_PLAIN)
			x86_emit_plain(zone, emitter, insn);
		if (besides->log)
			x86_log_insn(besides->log, emitter, i, true);
	}
	if (besides->log)
		x86_log_end(besides->log, emitter);
	return count_at;
}

/* Emits the newest block again, in a form that logs. If there is no room, the cache stops logging
 * new blocks. */
static void emit_logged(struct work *work, uint32_t number)
{
	struct code_block *block = &work->cache->blocks.at[number];
	struct x86_emitter *emitter = &work->zone->logged;
	uint8_t *start = emitter->at;
	struct path_plan *plan = NULL;
	struct x86_log log;

	if (!work->cache->plans || work->cache->is_log_full)
		return;
	work->cache->is_log_full = number >= PATH_MOST_BLOCKS ||
				   !x86_log_plan(work->decoded, number, &log, &plan) || !plan;
	if (work->cache->is_log_full)
		return;
	/* A log forged by the program may name any block, and is read concurrently. */
	__atomic_store_n(&work->cache->plans[number], plan, __ATOMIC_RELEASE);
	block->logged_count_at = emit_body(work->zone, emitter, work->decoded, block,
					   &(struct besides){ .log = &log });
	x86_patch(x86_jump(emitter), block->tail);
	work->cache->is_log_full = emitter->is_full;
	if (emitter->is_full)
		return;
	block->logged = start;
	if (work->cache->is_logging)
		code_cache_arm(work->cache, block, NULL);
}

/* Emits the path of a taken branch out of line: count, then continue. */
static const uint8_t *emit_taken(struct work *work)
{
	struct x86_emitter *side = &work->zone->side;
	const uint8_t *stub = side->at;

	count_edge(work, side, work->block.branch_counter, work->block.target);
	x86_link(work->cache, work->block.zone, x86_jump(side), work->block.target);
	return stub;
}

/*
 * Of a conditional branch only one side is counted; the other is the rest of the block's count. The
 * counted side costs more, so it is the one that static prediction expects less.
 */
static void emit_jump_if(struct work *work, const struct x86_insn *insn)
{
	struct x86_emitter *blocks = &work->zone->blocks;
	uint8_t *displacement;

	work->block.branch_counter = code_zone_counter(work->cache, work->zone);
	work->block.counts_fall = insn->target <= insn->address;
	displacement = x86_jump_if(blocks, insn->condition);
	if (work->block.counts_fall) {
		x86_link(work->cache, work->block.zone, displacement, insn->target);
		count_edge(work, blocks, work->block.branch_counter, work->block.next);
	} else {
		x86_patch(displacement, emit_taken(work));
	}
}

/* These instructions reach 127 bytes only, so they jump over two jumps, one of them short. */
static void emit_jump_counted(struct work *work, const struct x86_insn *insn)
{
	/* How far, which is the last byte of the instruction; the short jump, over the long one. */
	static const uint8_t rest[] = { 2, 0xeb, 5 };
	struct x86_emitter *blocks = &work->zone->blocks;

	work->block.branch_counter = code_zone_counter(work->cache, work->zone);
	x86_bytes(blocks, insn->bytes, insn->length - 1U);
	x86_bytes(blocks, rest, sizeof(rest));
	x86_patch(x86_jump(blocks), emit_taken(work));
}

/* The return address in the original's code; it does not fit an immediate, so it comes from
 * memory. */
static void emit_push_return(struct work *work)
{
	x86_push_memory(
		&work->zone->blocks,
		code_zone_constant(work->cache, work->zone, work->block.next, work->block.zone));
}

static void emit_indirect(struct work *work, const struct x86_insn *insn)
{
	struct x86_emitter *blocks = &work->zone->blocks;

	x86_store(blocks, code_spill_address(work->zone, CODE_SPILL_R11), X86_R11);
	if (insn->kind == X86_RETURN) {
		x86_bytes(blocks, "\x41\x5b", 2); /* pop r11 */
		if (insn->returns_bytes)
			x86_add_constant(blocks, X86_RSP, X86_RSP, insn->returns_bytes);
	} else {
		x86_emit_target(blocks, insn);
	}
	if (insn->kind == X86_CALL_INDIRECT)
		emit_push_return(work);
	x86_store(blocks, code_spill_address(work->zone, CODE_SPILL_RCX), X86_RCX);
	work->block.site = x86_site_create(work->cache, work->block.zone, x86_jump(blocks));
}

static void emit_exit(struct work *work, const struct x86_insn *insn)
{
	x86_exit(work->cache, &work->zone->blocks,
		 &(struct code_exit){ .kind = insn->kind == X86_SYSTEM_CALL ? CODE_EXIT_SYSTEM_CALL
									    : CODE_EXIT_END,
				      .zone = work->block.zone,
				      .address = insn->address,
				      .end = insn->end });
}

/* The jump that arming writes must not reach the tail, where the copy with checks continues. */
static void pad(struct work *work)
{
	static const uint8_t no_operation[CODE_LINK_BYTES] = { 0x0f, 0x1f, 0x44, 0, 0 };
	struct x86_emitter *blocks = &work->zone->blocks;

	if (blocks->at - work->block.code < CODE_LINK_BYTES)
		x86_bytes(blocks, no_operation, sizeof(no_operation));
}

/* Emits the branch at the block's end. True when the code falls through to `*onward`. */
static bool emit_tail(struct work *work, uint64_t *onward)
{
	const struct x86_insn *insn = x86_block_last(work->decoded);

	work->block.tail = work->zone->blocks.at;
	*onward = work->block.next;
	switch ((enum x86_kind)insn->kind) {
	case X86_PLAIN:
		return true;
	case X86_JUMP:
		*onward = insn->target;
		return true;
	case X86_CALL:
		emit_push_return(work);
		*onward = insn->target;
		return true;
	case X86_JUMP_IF:
		emit_jump_if(work, insn);
		return true;
	case X86_JUMP_COUNTED:
		emit_jump_counted(work, insn);
		return true;
	case X86_JUMP_INDIRECT:
	case X86_CALL_INDIRECT:
	case X86_RETURN:
		emit_indirect(work, insn);
		return false;
	case X86_SYSTEM_CALL:
	case X86_END:
	default:
		emit_exit(work, insn);
		return false;
	}
}

/* Notes addresses that are likely to run soon. */
static void note_later(struct work *work)
{
	uint64_t address = 0;

	switch ((enum x86_kind)work->block.kind) {
	case X86_JUMP_IF:
	case X86_JUMP_COUNTED:
		address = work->block.target;
		break;
	case X86_CALL:
	case X86_CALL_INDIRECT:
	case X86_SYSTEM_CALL:
		address = work->block.next;
		break;
	case X86_PLAIN:
	case X86_JUMP:
	case X86_JUMP_INDIRECT:
	case X86_RETURN:
	case X86_END:
		return;
	}
	/* Without memory it only costs some exits. */
	if (code_cache_find(work->cache, address) == CODE_NO_NUMBER)
		(void)!hp_vector_push(&work->later, address);
}

/* Translates one block at the zone's end. `follows`: the previous block falls through into it. Sets
 * `work->decoded`. */
static bool translate_one(struct work *work, uint64_t address, bool follows, bool *goes_on,
			  uint64_t *onward)
{
	const struct x86_insn *last = x86_block_last(work->decoded);
	bool is_indirect = x86_is_indirect(last->kind);
	uint32_t number;

	work->block = (struct code_block){
		.address = address,
		.last = last->address,
		.next = last->address + last->length,
		.target = last->target,
		.code = work->zone->blocks.at,
		.instructions = (uint32_t)work->decoded->count,
		.count_place = x86_count_place(work->decoded),
		.counted_since = follows && !is_indirect ? CODE_NO_NUMBER : 0,
		.zone = (uint8_t)(work->zone - work->cache->zones),
		.kind = last->kind,
	};
	if (!is_indirect)
		work->block.counter = code_zone_counter(work->cache, work->zone);
	work->block.count_at = emit_body(work->zone, &work->zone->blocks, work->decoded,
					 &work->block, &(struct besides){ 0 });
	pad(work);
	*goes_on = emit_tail(work, onward);
	if (code_zone_is_full(work->zone))
		return false;
	number = code_cache_add_block(work->cache, &work->block);
	if (number == CODE_NO_NUMBER)
		return false;
	emit_logged(work, number);
	note_later(work);
	work->translator->translated++;
	return true;
}

/* --- a run of blocks, each going on into the next --------------------------------------------- */

/* Translates blocks that fall through to each other, starting with the decoded one. Ends at a
 * translated block, or where there is no code (yet). False: full. */
static bool translate_run(struct work *work, uint64_t address, unsigned *budget)
{
	bool follows = false;
	bool goes_on = true;

	work->zone = &work->cache->zones[code_cache_zone_near(work->cache, address)];
	while (goes_on) {
		bool is_known = code_cache_find(work->cache, address) != CODE_NO_NUMBER;

		if (is_known || !*budget ||
		    (follows &&
		     !x86_block_decode(work->translator->text, address, work->decoded))) {
			x86_link(work->cache, (uint8_t)(work->zone - work->cache->zones),
				 x86_jump(&work->zone->blocks), address);
			break;
		}
		if (!translate_one(work, address, follows, &goes_on, &address))
			return false;
		follows = true;
		(*budget)--;
	}
	return !code_zone_is_full(work->zone);
}

/* Expects the calls among the blocks from `first` on to return. */
static void expect_returns(struct code_cache *cache, size_t first)
{
	for (size_t i = first; i < cache->blocks.count; i++) {
		const struct code_block *block = &cache->blocks.at[i];
		uint32_t behind = block->kind == X86_CALL || block->kind == X86_CALL_INDIRECT
					  ? code_cache_find(cache, block->next)
					  : CODE_NO_NUMBER;

		if (behind != CODE_NO_NUMBER)
			x86_expect(cache, behind);
	}
}

uint32_t x86_enter(struct x86_translator *translator, uint64_t address, uint8_t *end)
{
	struct x86_block decoded;
	struct work work = { .translator = translator,
			     .cache = translator->cache,
			     .decoded = &decoded };
	unsigned budget = AHEAD_BLOCKS;
	uint32_t number = code_cache_find(work.cache, address);
	size_t first = work.cache->blocks.count;
	bool has_room = true;

	if (number != CODE_NO_NUMBER)
		return number;
	if (!x86_block_decode(translator->text, address, &decoded)) {
		*end = decoded.end;
		return CODE_NO_NUMBER;
	}
	has_room = translate_run(&work, address, &budget);
	for (size_t i = 0; has_room && budget && i < work.later.count; i++) {
		uint64_t next = work.later.at[i];

		if (code_cache_find(work.cache, next) == CODE_NO_NUMBER &&
		    x86_block_decode(translator->text, next, &decoded))
			has_room = translate_run(&work, next, &budget);
	}
	hp_vector_free(&work.later);
	x86_link_pending(work.cache);
	expect_returns(work.cache, first);
	has_room = has_room && !code_cache_is_full(work.cache);
	*end = HP_WINDOW_CACHE_FULL;
	return has_room ? code_cache_find(work.cache, address) : CODE_NO_NUMBER;
}

/* --- copies ----------------------------------------------------------------------------------- */

static bool plan_again(const struct x86_block *decoded, uint32_t number, struct x86_log *log)
{
	struct path_plan *plan = NULL;
	bool is_planned = x86_log_plan(decoded, number, log, &plan) && plan;

	/* The registers must be the program's at each check. */
	log->keeps_registers = false;
	free(plan);
	return is_planned;
}

const uint8_t *x86_copy_with_checks(struct x86_translator *translator, uint32_t number,
				    x86_check_function *check, void *context)
{
	const struct code_block *block = &translator->cache->blocks.at[number];
	struct besides besides = { .check = check, .context = context };
	struct x86_log log;
	struct code_zone *zone = &translator->cache->zones[block->zone];
	struct x86_block decoded;
	const uint8_t *copy = zone->copies.at;

	if (!x86_block_decode(translator->text, block->address, &decoded))
		return NULL;
	if (translator->cache->is_logging && block->logged && plan_again(&decoded, number, &log))
		besides.log = &log;
	emit_body(zone, &zone->copies, &decoded, block, &besides);
	x86_patch(x86_jump(&zone->copies), block->tail);
	return zone->copies.is_full ? NULL : copy;
}
