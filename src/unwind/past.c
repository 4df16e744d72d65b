/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "past.h"

/* What is read from the stack, and its bits; rbp and rbx have the same as registers. */
enum { THE_ADDRESS, THE_RBP, THE_RBX, READS };

/* All that frames other than signals' hand on to their callers. */
static const uint32_t handed_on = 1u << HP_UNWIND_RIP | 1u << HP_UNWIND_RSP | 1u << HP_UNWIND_RBP |
				  1u << HP_UNWIND_RBX;

/* --- what a frame is known by ------------------------------------------------------------------ */

/* READS for another register. */
static unsigned read_of(unsigned number)
{
	return number == HP_UNWIND_RIP	 ? THE_ADDRESS
	       : number == HP_UNWIND_RBP ? THE_RBP
	       : number == HP_UNWIND_RBX ? THE_RBX
					 : READS;
}

static uint64_t value_of(const struct hp_unwind_registers *registers, unsigned number)
{
	return registers->known >> number & 1 ? registers->at[number] : 0;
}

void trace_registers(struct hp_unwind_trace *trace, const struct hp_unwind_registers *registers)
{
	*trace = (struct hp_unwind_trace){
		.rbp = value_of(registers, HP_UNWIND_RBP),
		.rbx = value_of(registers, HP_UNWIND_RBX),
		.known = registers->known,
		.is_complete = !(registers->known & ~handed_on),
	};
}

void trace_use(struct hp_unwind_trace *trace, unsigned number)
{
	trace->uses |= (uint8_t)(1u << read_of(number));
}

void trace_hand_on(struct hp_unwind_trace *trace, unsigned number)
{
	trace->hands_on |= (uint8_t)(1u << read_of(number));
}

void trace_read(struct hp_unwind_frame *frame, unsigned number, uint64_t address,
		enum read_result result)
{
	struct hp_unwind_trace *trace = &frame->trace;
	int64_t at = (int64_t)(address - frame->stack);
	unsigned which = read_of(number);

	if (which == READS || result == READ_NEVER || at != (int32_t)at) {
		trace->is_complete = false;
		return;
	}
	trace->read_at[which] = (int32_t)at;
	trace->read |= (uint8_t)(1u << which);
}

void hp_unwind_pass(struct hp_unwind_frame *frames, size_t count)
{
	unsigned matters = 0; /* in the caller */

	for (size_t i = count; i-- > 0;) {
		struct hp_unwind_trace *trace = &frames[i].trace;

		matters = trace->uses | (matters & trace->hands_on);
		trace->matters = (uint8_t)matters;
	}
}

/* --- the past path ----------------------------------------------------------------------------- */

static bool is_same_register(const struct hp_unwind_trace *past, const struct hp_unwind_trace *now,
			     unsigned number)
{
	uint64_t a = number == HP_UNWIND_RBP ? past->rbp : past->rbx;
	uint64_t b = number == HP_UNWIND_RBP ? now->rbp : now->rbx;

	return !(past->matters >> read_of(number) & 1) ||
	       (a == b && ((past->known ^ now->known) >> number & 1) == 0);
}

static bool is_same(const struct hp_unwind_frame *past, const struct hp_unwind_frame *now)
{
	return past->address == now->address && past->stack == now->stack &&
	       past->flags == now->flags && !(now->trace.known & ~handed_on) &&
	       is_same_register(&past->trace, &now->trace, HP_UNWIND_RBP) &&
	       is_same_register(&past->trace, &now->trace, HP_UNWIND_RBX);
}

/* Compares a word of the stack with what it was. */
static enum read_result compare(const struct hp_unwind_stack *stack,
				const struct hp_unwind_frame *frame, unsigned which, uint64_t was)
{
	uint64_t address = frame->stack + (uint64_t)(int64_t)frame->trace.read_at[which];
	enum read_result result;
	uint64_t is;

	if (!(frame->trace.read >> which & 1))
		return READ_OK;
	result = stack_read(stack, address, &is);
	return result == READ_OK && is != was ? READ_NEVER : result;
}

static bool is_same_word(const struct hp_unwind_stack *stack, const struct hp_unwind_frame *frame,
			 const struct hp_unwind_frame *caller, unsigned which, uint64_t was)
{
	return !(caller->trace.matters >> which & 1) ||
	       compare(stack, frame, which, was) == READ_OK;
}

/* Whether a frame of the past path is left as it was then. `caller`: the next frame of that path; NULL
 * for the root. */
static enum read_result is_left_alike(const struct hp_unwind_stack *stack,
				      const struct hp_unwind_frame *frame,
				      const struct hp_unwind_frame *caller)
{
	enum read_result result;

	if (!frame->trace.is_complete || (caller && (!(frame->trace.read >> THE_ADDRESS & 1) ||
						     (caller->trace.known & ~handed_on))))
		return READ_NEVER;
	result = compare(stack, frame, THE_ADDRESS, caller ? caller->address : 0);
	if (result != READ_OK || !caller)
		return result;
	return is_same_word(stack, frame, caller, THE_RBP, caller->trace.rbp) &&
			       is_same_word(stack, frame, caller, THE_RBX, caller->trace.rbx)
		       ? READ_OK
		       : READ_NEVER;
}

enum past_end past_find(const struct hp_unwind_past *past, size_t *at,
			const struct hp_unwind_frame *frame, const struct hp_unwind_stack *stack,
			size_t room, size_t *taken)
{
	const struct hp_unwind_frame *frames = past->frames;
	size_t i;

	while (*at < past->count && frames[*at].stack < frame->stack)
		++*at;
	if (*at == past->count || !is_same(&frames[*at], frame))
		return PAST_OTHER;
	for (i = *at; i - *at < room; i++) {
		bool is_root = i + 1 == past->count;
		enum read_result result =
			is_left_alike(stack, &frames[i], is_root ? NULL : &frames[i + 1]);

		*taken = i + 1 - *at;
		if (result == READ_NEVER) {
			*at = i + 1;
			return PAST_OTHER;
		}
		if (result == READ_OK && is_root)
			return PAST_ROOT;
		if (result == READ_BEYOND)
			return PAST_BEYOND;
	}
	return PAST_BEYOND;
}
