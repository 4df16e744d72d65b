/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/unwind/unwind.h>

#include "past.h"

#include <string.h>

/* The state of unwinding one thread's stack. */
struct climb {
	const struct hp_unwind_stack *stack;
	hp_unwind_find find;
	void *context;
	struct hp_unwind_registers registers; /* of the frame that was reached */
	struct hp_unwind_place place;	      /* of its code */
	bool is_return;			      /* its address is behind a call */
	bool is_guess;			      /* it was */
	const struct hp_unwind_past *past;    /* or NULL */
	size_t past_at;			      /* its first frame that may be the next one */
	/* The result; `frame` is the one that was reached, of which it may yet be found how it is
	 * left. */
	struct hp_unwind_frame *frames;
	size_t count;
	size_t room;
	struct hp_unwind_frame *frame;
	struct hp_unwind_frame spare; /* without room */
};

enum step { STEP_CALLER, STEP_ROOT, STEP_BEYOND, STEP_LOST };

static bool is_known(const struct hp_unwind_registers *registers, unsigned number)
{
	return registers->known >> number & 1;
}

static enum step step_of(enum read_result result)
{
	return result == READ_BEYOND ? STEP_BEYOND : STEP_LOST;
}

/* Reads a register of the caller from the stack. */
static enum read_result read_saved(struct climb *climb, unsigned number, uint64_t address,
				   uint64_t *value)
{
	enum read_result result = stack_read(climb->stack, address, value);

	trace_read(climb->frame, number, address, result);
	return result;
}

static enum read_result find_cfa(struct climb *climb, const struct hp_unwind_table *table,
				 const struct hp_unwind_recipe *recipe, uint64_t *cfa)
{
	if (recipe->cfa_register == CFA_BY_EXPRESSION) {
		climb->frame->trace.is_complete = false;
		return expression_value(table, recipe->cfa, &climb->registers, climb->stack, NULL,
					cfa);
	}
	if (!is_known(&climb->registers, recipe->cfa_register))
		return READ_NEVER;
	trace_use(&climb->frame->trace, recipe->cfa_register);
	*cfa = climb->registers.at[recipe->cfa_register] + (uint64_t)(int64_t)recipe->cfa;
	return READ_OK;
}

/* Applies a rule. READ_NEVER also if the needed register is unknown. */
static enum read_result apply(struct climb *climb, const struct hp_unwind_table *table,
			      struct rule rule, unsigned number, uint64_t cfa, uint64_t *value)
{
	enum read_result result;
	uint64_t address;

	switch ((enum rule_kind)rule.kind) {
	case RULE_SAME:
		trace_hand_on(&climb->frame->trace, number);
		*value = climb->registers.at[number];
		return is_known(&climb->registers, number) ? READ_OK : READ_NEVER;
	case RULE_SAVED:
		return read_saved(climb, number, cfa + (uint64_t)(int64_t)rule.value, value);
	case RULE_IS:
		*value = cfa + (uint64_t)(int64_t)rule.value;
		return READ_OK;
	case RULE_REGISTER:
		trace_use(&climb->frame->trace, (unsigned)rule.value);
		*value = climb->registers.at[rule.value];
		return is_known(&climb->registers, (unsigned)rule.value) ? READ_OK : READ_NEVER;
	case RULE_SAVED_AT:
		climb->frame->trace.is_complete = false;
		result = expression_value(table, rule.value, &climb->registers, climb->stack, &cfa,
					  &address);
		return result == READ_OK ? stack_read(climb->stack, address, value) : result;
	case RULE_IS_EXPRESSION:
		climb->frame->trace.is_complete = false;
		return expression_value(table, rule.value, &climb->registers, climb->stack, &cfa,
					value);
	case RULE_UNDEFINED:
	case RULE_UNSUPPORTED:
		break;
	}
	return READ_NEVER;
}

static void restore(struct climb *climb, const struct hp_unwind_table *table, struct rule rule,
		    unsigned number, uint64_t cfa, struct hp_unwind_registers *caller)
{
	uint64_t value;

	if (apply(climb, table, rule, number, cfa, &value) != READ_OK)
		return;
	caller->at[number] = value;
	caller->known |= UINT32_C(1) << number;
}

/* Finds the caller by the table. All registers are restored in frames of signals only. In other
 * frames only rbp, which calls preserve and most other frames need, and rbx, which frames of the
 * dynamic linker need. */
static enum step leave_by_table(struct climb *climb, const struct hp_unwind_table *table,
				const struct hp_unwind_recipe *recipe)
{
	struct hp_unwind_registers caller = { .known = 1u << HP_UNWIND_RSP | 1u << HP_UNWIND_RIP };
	enum read_result result;
	uint64_t cfa;

	if (recipe->rip.kind == RULE_UNDEFINED)
		return STEP_ROOT;
	if (recipe->is_signal)
		climb->frame->trace.is_complete = false;
	result = find_cfa(climb, table, recipe, &cfa);
	if (result != READ_OK)
		return step_of(result);
	climb->frame->caller_stack = caller.at[HP_UNWIND_RSP] = cfa;
	result = apply(climb, table, recipe->rip, HP_UNWIND_RIP, cfa, &caller.at[HP_UNWIND_RIP]);
	if (result == READ_NEVER)
		return STEP_LOST;
	/* Where the stack is not copied, this still shows what the caller depends on. */
	restore(climb, table, recipe->rbp, HP_UNWIND_RBP, cfa, &caller);
	restore(climb, table, recipe->rbx, HP_UNWIND_RBX, cfa, &caller);
	if (result == READ_BEYOND)
		return STEP_BEYOND;
	for (unsigned i = 0; recipe->others != NO_OTHERS && i < HP_UNWIND_RIP; i++) {
		if (i != HP_UNWIND_RSP || table->others.at[recipe->others].at[i].kind != RULE_SAME)
			restore(climb, table, table->others.at[recipe->others].at[i], i, cfa,
				&caller);
	}
	/* A caller's frame is higher, except that a signal may be on another stack. */
	if (!recipe->is_signal && cfa <= climb->registers.at[HP_UNWIND_RSP])
		return STEP_LOST;
	climb->registers = caller;
	climb->is_return = !recipe->is_signal;
	climb->is_guess = false;
	return STEP_CALLER;
}

/* Finds the caller of a frame without information, if rbp points to a possible rbp of the caller
 * and a return address. */
static enum step leave_by_frame_pointer(struct climb *climb)
{
	struct hp_unwind_registers caller = {
		.known = 1u << HP_UNWIND_RSP | 1u << HP_UNWIND_RIP | 1u << HP_UNWIND_RBP,
	};
	uint64_t frame = climb->registers.at[HP_UNWIND_RBP];
	enum read_result result;
	enum read_result of_rbp;

	if (!is_known(&climb->registers, HP_UNWIND_RBP))
		return STEP_LOST;
	trace_use(&climb->frame->trace, HP_UNWIND_RBP);
	/* Where a thread begins. */
	if (frame == 0)
		return STEP_ROOT;
	if (frame % sizeof(uint64_t) || frame < climb->registers.at[HP_UNWIND_RSP])
		return STEP_LOST;
	climb->frame->caller_stack = caller.at[HP_UNWIND_RSP] = frame + 2 * sizeof(uint64_t);
	result = read_saved(climb, HP_UNWIND_RIP, frame + sizeof(uint64_t),
			    &caller.at[HP_UNWIND_RIP]);
	of_rbp = read_saved(climb, HP_UNWIND_RBP, frame, &caller.at[HP_UNWIND_RBP]);
	if (of_rbp != READ_OK)
		return step_of(of_rbp);
	if (result != READ_OK)
		return step_of(result);
	climb->registers = caller;
	climb->is_return = climb->is_guess = true;
	return STEP_CALLER;
}

static enum step leave(struct climb *climb)
{
	const struct hp_unwind_recipe *recipe = climb->place.recipe;

	return recipe ? leave_by_table(climb, climb->place.table, recipe)
		      : leave_by_frame_pointer(climb);
}

/* Looks up the code of the frame that was reached. Fails if no code is there. */
static enum step look_up(struct climb *climb, size_t number)
{
	climb->place = (struct hp_unwind_place){ 0 };
	/* A return address may be that of the next procedure, if the call never returns. */
	return climb->find(climb->context, number,
			   climb->registers.at[HP_UNWIND_RIP] - climb->is_return, &climb->place)
		       ? STEP_CALLER
		       : STEP_LOST;
}

/* Notes the frame that was reached behind the frames that were taken. */
static void note_frame(struct climb *climb)
{
	climb->frame = climb->count < climb->room ? &climb->frames[climb->count] : &climb->spare;
	*climb->frame = (struct hp_unwind_frame){
		.address = climb->registers.at[HP_UNWIND_RIP],
		.stack = climb->registers.at[HP_UNWIND_RSP],
		.flags = (uint8_t)((climb->is_return ? HP_UNWIND_IS_RETURN : 0) |
				   (climb->is_guess ? HP_UNWIND_IS_GUESS : 0)),
	};
	trace_registers(&climb->frame->trace, &climb->registers);
}

/* Takes all callers from the past path, with the frame that was reached, if they are the same. */
static enum step take_past(struct climb *climb)
{
	size_t taken;
	size_t at;
	enum past_end end = past_find(climb->past, &climb->past_at, climb->frame, climb->stack,
				      climb->room - climb->count, &taken);

	if (end == PAST_OTHER)
		return STEP_CALLER;
	at = climb->past_at;
	memcpy(climb->frame, climb->past->frames + at, taken * sizeof(*climb->frame));
	for (size_t i = 0; i < taken; i++)
		climb->frame[i].past = (uint32_t)(at + i + 1);
	climb->count += taken;
	return end == PAST_ROOT ? STEP_ROOT : STEP_BEYOND;
}

/* Takes the frame that was reached, if it is one. */
static enum step arrive(struct climb *climb)
{
	enum step step;

	/* Where a thread begins. */
	if (climb->registers.at[HP_UNWIND_RIP] == 0)
		return STEP_ROOT;
	note_frame(climb);
	step = climb->past && climb->count < climb->room ? take_past(climb) : STEP_CALLER;
	if (step != STEP_CALLER)
		return step;
	step = look_up(climb, climb->count);
	if (step == STEP_CALLER && climb->count == climb->room)
		return STEP_BEYOND;
	climb->count += step == STEP_CALLER;
	return step;
}

bool hp_unwind_is_root(const struct hp_unwind_recipe *recipe)
{
	return recipe && recipe->rip.kind == RULE_UNDEFINED;
}

size_t hp_unwind(const struct hp_unwind_registers *registers, const struct hp_unwind_stack *stack,
		 hp_unwind_find find, void *context, const struct hp_unwind_past *past,
		 struct hp_unwind_frame *frames, size_t room, enum hp_unwind_end *end)
{
	struct climb climb = {
		.stack = stack,
		.find = find,
		.context = context,
		.registers = *registers,
		.past = past,
		.frames = frames,
		.room = room,
	};
	enum step step;

	/* The first frame is one wherever it is. */
	note_frame(&climb);
	step = registers->at[HP_UNWIND_RIP] ? look_up(&climb, 0) : STEP_ROOT;
	climb.count += room > 0;
	while (step == STEP_CALLER) {
		step = leave(&climb);
		if (step == STEP_CALLER)
			step = arrive(&climb);
	}
	*end = step == STEP_ROOT     ? HP_UNWIND_ROOT
	       : step == STEP_BEYOND ? HP_UNWIND_TRUNCATED
				     : HP_UNWIND_LOST;
	return climb.count;
}
