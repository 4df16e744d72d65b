/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/unwind/unwind.h>

#include "expression.h"

/* The state of unwinding one thread's stack. */
struct climb {
	const struct hp_unwind_stack *stack;
	hp_unwind_find find;
	void *context;
	struct hp_unwind_registers registers; /* of the frame that was reached */
	struct hp_unwind_place place;	      /* of its code */
	bool is_return;			      /* its address is behind a call */
	bool is_guess;			      /* it was */
	uint64_t caller_stack; /* the stack pointer in the caller of the frame before; 0: not known */
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

static enum read_result find_cfa(const struct climb *climb, const struct hp_unwind_table *table,
				 const struct hp_unwind_recipe *recipe, uint64_t *cfa)
{
	if (recipe->cfa_register == CFA_BY_EXPRESSION)
		return expression_value(table, recipe->cfa, &climb->registers, climb->stack, NULL,
					cfa);
	if (!is_known(&climb->registers, recipe->cfa_register))
		return READ_NEVER;
	*cfa = climb->registers.at[recipe->cfa_register] + (uint64_t)(int64_t)recipe->cfa;
	return READ_OK;
}

/* Applies a rule. READ_NEVER also if the needed register is unknown. */
static enum read_result apply(const struct climb *climb, const struct hp_unwind_table *table,
			      struct rule rule, unsigned number, uint64_t cfa, uint64_t *value)
{
	enum read_result result;
	uint64_t address;

	switch ((enum rule_kind)rule.kind) {
	case RULE_SAME:
		*value = climb->registers.at[number];
		return is_known(&climb->registers, number) ? READ_OK : READ_NEVER;
	case RULE_SAVED:
		return stack_read(climb->stack, cfa + (uint64_t)(int64_t)rule.value, value);
	case RULE_IS:
		*value = cfa + (uint64_t)(int64_t)rule.value;
		return READ_OK;
	case RULE_REGISTER:
		*value = climb->registers.at[rule.value];
		return is_known(&climb->registers, (unsigned)rule.value) ? READ_OK : READ_NEVER;
	case RULE_SAVED_AT:
		result = expression_value(table, rule.value, &climb->registers, climb->stack, &cfa,
					  &address);
		return result == READ_OK ? stack_read(climb->stack, address, value) : result;
	case RULE_IS_EXPRESSION:
		return expression_value(table, rule.value, &climb->registers, climb->stack, &cfa,
					value);
	case RULE_UNDEFINED:
	case RULE_UNSUPPORTED:
		break;
	}
	return READ_NEVER;
}

static void restore(const struct climb *climb, const struct hp_unwind_table *table,
		    struct rule rule, unsigned number, uint64_t cfa,
		    struct hp_unwind_registers *caller)
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
	result = find_cfa(climb, table, recipe, &cfa);
	if (result == READ_OK)
		climb->caller_stack = cfa;
	if (result == READ_OK)
		result = apply(climb, table, recipe->rip, HP_UNWIND_RIP, cfa,
			       &caller.at[HP_UNWIND_RIP]);
	if (result != READ_OK)
		return step_of(result);
	caller.at[HP_UNWIND_RSP] = cfa;
	restore(climb, table, recipe->rbp, HP_UNWIND_RBP, cfa, &caller);
	restore(climb, table, recipe->rbx, HP_UNWIND_RBX, cfa, &caller);
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

	if (!is_known(&climb->registers, HP_UNWIND_RBP))
		return STEP_LOST;
	/* Where a thread begins. */
	if (frame == 0)
		return STEP_ROOT;
	if (frame % sizeof(uint64_t) || frame < climb->registers.at[HP_UNWIND_RSP])
		return STEP_LOST;
	climb->caller_stack = caller.at[HP_UNWIND_RSP] = frame + 2 * sizeof(uint64_t);
	result = stack_read(climb->stack, frame, &caller.at[HP_UNWIND_RBP]);
	if (result == READ_OK)
		result = stack_read(climb->stack, frame + sizeof(uint64_t),
				    &caller.at[HP_UNWIND_RIP]);
	if (result != READ_OK)
		return step_of(result);
	climb->registers = caller;
	climb->is_return = climb->is_guess = true;
	return STEP_CALLER;
}

static enum step leave(struct climb *climb)
{
	const struct hp_unwind_recipe *recipe = climb->place.recipe;

	climb->caller_stack = 0;
	return recipe ? leave_by_table(climb, climb->place.table, recipe)
		      : leave_by_frame_pointer(climb);
}

/* Looks up the code of the frame that was reached. Fails if no code is there. */
static enum step arrive(struct climb *climb)
{
	uint64_t address = climb->registers.at[HP_UNWIND_RIP];

	/* Where a thread begins. */
	if (address == 0)
		return STEP_ROOT;
	climb->place = (struct hp_unwind_place){ 0 };
	/* A return address may be that of the next procedure, if the call never returns. */
	return climb->find(climb->context, address - climb->is_return, &climb->place) ? STEP_CALLER
										      : STEP_LOST;
}

bool hp_unwind_is_root(const struct hp_unwind_recipe *recipe)
{
	return recipe && recipe->rip.kind == RULE_UNDEFINED;
}

static struct hp_unwind_frame frame_of(const struct climb *climb)
{
	return (struct hp_unwind_frame){
		.address = climb->registers.at[HP_UNWIND_RIP],
		.stack = climb->registers.at[HP_UNWIND_RSP],
		.flags = (uint8_t)((climb->is_return ? HP_UNWIND_IS_RETURN : 0) |
				   (climb->is_guess ? HP_UNWIND_IS_GUESS : 0)),
	};
}

size_t hp_unwind(const struct hp_unwind_registers *registers, const struct hp_unwind_stack *stack,
		 hp_unwind_find find, void *context, struct hp_unwind_frame *frames, size_t room,
		 enum hp_unwind_end *end)
{
	struct climb climb = {
		.stack = stack,
		.find = find,
		.context = context,
		.registers = *registers,
	};
	enum step step = arrive(&climb);
	size_t count = 0;

	if (room)
		frames[count++] = frame_of(&climb);
	while (step == STEP_CALLER) {
		step = leave(&climb);
		if (count)
			frames[count - 1].caller_stack = climb.caller_stack;
		if (step == STEP_CALLER)
			step = arrive(&climb);
		if (step == STEP_CALLER && count == room)
			step = STEP_BEYOND;
		if (step == STEP_CALLER)
			frames[count++] = frame_of(&climb);
	}
	*end = step == STEP_ROOT     ? HP_UNWIND_ROOT
	       : step == STEP_BEYOND ? HP_UNWIND_TRUNCATED
				     : HP_UNWIND_LOST;
	return count;
}
