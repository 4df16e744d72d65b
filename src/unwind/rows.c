/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recipes.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

static const struct hp_encoded_form form = { .is_64 = true };

enum { FIRST_SLOTS = 1024 };

/* The state of executing the instructions of an entry. */
struct run {
	struct builder *builder;
	const struct shared *shared;
	struct frame_state state;
	struct frame_state remembered[MOST_REMEMBERED];
	size_t depth;
	uint64_t offset;	   /* the state holds from here */
	const struct entry *entry; /* NULL: the shared instructions are run */
	bool is_changed;	   /* since the last row */
	bool no_memory;
};

bool builder_begin(struct builder *builder, struct hp_unwind_table *table)
{
	*builder = (struct builder){
		.table = table,
		.slots = calloc(FIRST_SLOTS, sizeof(uint16_t)),
		.slot_count = FIRST_SLOTS,
		.most_recipes = MOST_RECIPES,
	};
	/* Reserves the special recipes, which have no rules; number 0 of the other rules means
	 * none. */
	return builder->slots && hp_vector_push(&table->recipes, (struct hp_unwind_recipe){ 0 }) &&
	       hp_vector_push(&table->recipes, (struct hp_unwind_recipe){ 0 }) &&
	       hp_vector_push(&table->others, (struct other_rules){ 0 });
}

void builder_end(struct builder *builder)
{
	free(builder->slots);
	raw_rows_free(&builder->rows);
	*builder = (struct builder){ 0 };
}

void builder_restart(struct builder *builder)
{
	builder->rows.bytes.count = 0;
	builder->rows.count = 0;
	builder->rows.place = 0;
	builder->has_row = false;
	builder->last = 0;
	builder->floor = 0;
}

/* --- rows ------------------------------------------------------------------------------------ */

static bool push_row(struct builder *builder, uint64_t offset, uint16_t recipe)
{
	if (offset < builder->floor)
		offset = builder->floor;
	if (!builder->has_row)
		builder->table->first = offset;
	if (builder->has_row && offset == builder->last)
		builder->row.recipe = recipe;
	if (builder->has_row && (offset == builder->last || builder->row.recipe == recipe))
		return true;
	/* Rows too far from the first one cannot be stored. */
	if (offset - builder->table->first > UINT32_MAX || builder->rows.count == MOST_ROWS)
		return true;
	if (builder->has_row && !raw_rows_push(&builder->rows, &builder->row))
		return false;
	builder->last = offset;
	builder->row = (struct row){ (uint32_t)(offset - builder->table->first), recipe };
	builder->has_row = true;
	return true;
}

/* Adds a row for the state, which holds up to the next row. */
static void put(struct run *run)
{
	uint16_t recipe;

	if (!run->is_changed || !run->entry)
		return;
	recipe = recipe_number(run->builder, &run->state, run->shared->is_signal);
	run->builder->table->unsupported += recipe == RECIPE_UNSUPPORTED;
	run->no_memory |= !push_row(run->builder, run->offset, recipe);
	run->is_changed = false;
}

/* Advances the place. False at the end of the entry. */
static bool advance_to(struct run *run, uint64_t offset)
{
	if (!run->entry)
		return false;
	if (offset > run->offset)
		put(run);
	run->offset = offset;
	return offset < run->entry->end;
}

static bool advance(struct run *run, uint64_t delta)
{
	uint64_t bytes;
	uint64_t offset;

	return !__builtin_mul_overflow(delta, run->shared->code_factor, &bytes) &&
	       !__builtin_add_overflow(run->offset, bytes, &offset) && advance_to(run, offset);
}

/* --- instructions ---------------------------------------------------------------------------- */

static struct rule rule_of(enum rule_kind kind, int64_t value)
{
	if (value < INT32_MIN || value > INT32_MAX)
		return (struct rule){ .kind = RULE_UNSUPPORTED };
	return (struct rule){ .value = (int32_t)value, .kind = kind };
}

/* Most numbers take one byte. */
static inline bool take_number(struct hp_cursor *cursor, uint64_t *value)
{
	if (cursor->at < cursor->end && *cursor->at < 0x80) {
		*value = *cursor->at++;
		return true;
	}
	return hp_encoded_leb128(cursor, false, value);
}

/* Scales a value. Larger values are invalid; with smaller ones the product with any valid factor is
 * exact. */
static int64_t scaled(const struct run *run, uint64_t value)
{
	int64_t product;

	if (__builtin_mul_overflow((int64_t)value, run->shared->data_factor, &product))
		return INT64_MAX;
	return product;
}

static void set(struct run *run, uint64_t column, struct rule rule)
{
	if (column < COLUMNS)
		run->state.at[column] = rule;
	run->is_changed = true;
}

static void restore(struct run *run, uint64_t column)
{
	if (run->entry && column < COLUMNS)
		set(run, column, run->shared->initial.at[column]);
}

static void set_cfa(struct run *run, uint64_t base, int64_t offset)
{
	run->state.is_unsupported = base >= COLUMNS || offset < INT32_MIN || offset > INT32_MAX;
	run->state.cfa_register = (uint8_t)base;
	run->state.cfa = (int32_t)offset;
	run->is_changed = true;
}

static void set_cfa_offset(struct run *run, int64_t offset)
{
	if (run->state.cfa_register == CFA_BY_EXPRESSION)
		run->state.is_unsupported = true;
	else
		set_cfa(run, run->state.cfa_register, offset);
}

static void set_cfa_register(struct run *run, uint64_t base)
{
	if (run->state.cfa_register == CFA_BY_EXPRESSION)
		run->state.is_unsupported = true;
	else
		set_cfa(run, base, run->state.cfa);
}

/* Takes a block. False if it is cut off; the number is that of the expression, -1 if there are too
 * many or it is too long. */
static bool take_expression(struct run *run, struct hp_cursor *cursor, int64_t *number)
{
	struct hp_unwind_table *table = run->builder->table;
	struct expression expression = { .at = (uint32_t)table->bytes.count };
	const uint8_t *bytes;
	uint64_t size;

	*number = -1;
	if (!hp_encoded_leb128(cursor, false, &size) || size > (uint64_t)(cursor->end - cursor->at))
		return false;
	bytes = cursor->at;
	cursor->at += size;
	if (size == 0 || size > MOST_EXPRESSION_BYTES)
		return true;
	for (size_t i = 0; i < table->expressions.count; i++) {
		if (table->expressions.at[i].size != size ||
		    memcmp(table->bytes.at + table->expressions.at[i].at, bytes, size) != 0)
			continue;
		*number = (int64_t)i;
		return true;
	}
	if (table->expressions.count >= MOST_EXPRESSIONS ||
	    !hp_vector_reserve(&table->bytes, table->bytes.count + size))
		return true;
	expression.size = (uint32_t)size;
	if (!hp_vector_push(&table->expressions, expression))
		return true;
	memcpy(table->bytes.at + table->bytes.count, bytes, size);
	table->bytes.count += size;
	*number = (int64_t)table->expressions.count - 1;
	return true;
}

static bool run_cfa_expression(struct run *run, struct hp_cursor *cursor)
{
	int64_t number;

	if (!take_expression(run, cursor, &number))
		return false;
	run->state.is_unsupported = number < 0;
	run->state.cfa_register = CFA_BY_EXPRESSION;
	run->state.cfa = (int32_t)number;
	run->is_changed = true;
	return true;
}

static bool run_expression(struct run *run, struct hp_cursor *cursor, enum rule_kind kind)
{
	uint64_t column;
	int64_t number;

	if (!hp_encoded_leb128(cursor, false, &column) || !take_expression(run, cursor, &number))
		return false;
	set(run, column,
	    number < 0 ? (struct rule){ .kind = RULE_UNSUPPORTED } : rule_of(kind, number));
	return true;
}

static bool remember(struct run *run)
{
	if (run->depth == MOST_REMEMBERED)
		return false;
	run->remembered[run->depth++] = run->state;
	return true;
}

static bool recall(struct run *run)
{
	if (!run->depth)
		return false;
	run->state = run->remembered[--run->depth];
	run->is_changed = true;
	return true;
}

static bool run_advance(struct run *run, struct hp_cursor *cursor, size_t size)
{
	uint64_t delta;

	return hp_encoded_fixed(form, cursor, size, false, &delta) && advance(run, delta);
}

static bool run_set_location(struct run *run, struct hp_cursor *cursor)
{
	uint64_t address;

	/* Not used by any compiler; relative addresses have no base here. */
	if (!run->entry || (run->shared->encoding & HP_ENCODING_BASE) != DW_EH_PE_absptr ||
	    !hp_encoded_pointer(form, cursor, run->shared->encoding, &address) ||
	    address < run->entry->address)
		return false;
	address = run->entry->offset + (address - run->entry->address);
	return address >= run->offset && advance_to(run, address);
}

/* Runs instructions with a register and an offset. */
static bool run_saved(struct run *run, struct hp_cursor *cursor, bool is_signed,
		      enum rule_kind kind, int sign)
{
	uint64_t column;
	uint64_t value;
	int64_t offset;

	if (!hp_encoded_leb128(cursor, false, &column) ||
	    !hp_encoded_leb128(cursor, is_signed, &value))
		return false;
	offset = scaled(run, value);
	if (offset == INT64_MIN)
		offset = INT64_MAX;
	set(run, column, rule_of(kind, sign * offset));
	return true;
}

static bool run_simple(struct run *run, struct hp_cursor *cursor, enum rule_kind kind)
{
	uint64_t column;
	uint64_t other = 0;

	if (!hp_encoded_leb128(cursor, false, &column) ||
	    (kind == RULE_REGISTER && !hp_encoded_leb128(cursor, false, &other)))
		return false;
	set(run, column,
	    other < COLUMNS ? rule_of(kind, (int64_t)other)
			    : (struct rule){ .kind = RULE_UNSUPPORTED });
	return true;
}

static bool run_cfa(struct run *run, struct hp_cursor *cursor, uint8_t operation)
{
	uint64_t base = 0;
	uint64_t offset = 0;
	bool has_base = operation != DW_CFA_def_cfa_offset && operation != DW_CFA_def_cfa_offset_sf;
	bool is_scaled = operation == DW_CFA_def_cfa_sf || operation == DW_CFA_def_cfa_offset_sf;

	if (has_base && !take_number(cursor, &base))
		return false;
	if (operation == DW_CFA_def_cfa_register) {
		set_cfa_register(run, base);
		return true;
	}
	if (!(is_scaled ? hp_encoded_leb128(cursor, true, &offset) : take_number(cursor, &offset)))
		return false;
	if (is_scaled)
		offset = (uint64_t)scaled(run, offset);
	if (has_base)
		set_cfa(run, base, (int64_t)offset);
	else
		set_cfa_offset(run, (int64_t)offset);
	return true;
}

static bool run_restore_extended(struct run *run, struct hp_cursor *cursor)
{
	uint64_t column;

	if (!hp_encoded_leb128(cursor, false, &column))
		return false;
	restore(run, column);
	return true;
}

/* Runs an extended instruction. False when it is cut off, unknown, or leads past the end: the rest
 * of the entry is ignored. */
static bool run_extended(struct run *run, struct hp_cursor *cursor, uint8_t operation)
{
	uint64_t ignored;

	switch (operation) {
	case DW_CFA_nop:
		return true;
	case DW_CFA_set_loc:
		return run_set_location(run, cursor);
	case DW_CFA_advance_loc1:
		return run_advance(run, cursor, 1);
	case DW_CFA_advance_loc2:
		return run_advance(run, cursor, 2);
	case DW_CFA_advance_loc4:
		return run_advance(run, cursor, 4);
	case DW_CFA_offset_extended:
		return run_saved(run, cursor, false, RULE_SAVED, 1);
	case DW_CFA_offset_extended_sf:
		return run_saved(run, cursor, true, RULE_SAVED, 1);
	case DW_CFA_GNU_negative_offset_extended:
		return run_saved(run, cursor, false, RULE_SAVED, -1);
	case DW_CFA_val_offset:
		return run_saved(run, cursor, false, RULE_IS, 1);
	case DW_CFA_val_offset_sf:
		return run_saved(run, cursor, true, RULE_IS, 1);
	case DW_CFA_restore_extended:
		return run_restore_extended(run, cursor);
	case DW_CFA_undefined:
		return run_simple(run, cursor, RULE_UNDEFINED);
	case DW_CFA_same_value:
		return run_simple(run, cursor, RULE_SAME);
	case DW_CFA_register:
		return run_simple(run, cursor, RULE_REGISTER);
	case DW_CFA_remember_state:
		return remember(run);
	case DW_CFA_restore_state:
		return recall(run);
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
	case DW_CFA_def_cfa_register:
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
		return run_cfa(run, cursor, operation);
	case DW_CFA_def_cfa_expression:
		return run_cfa_expression(run, cursor);
	case DW_CFA_expression:
		return run_expression(run, cursor, RULE_SAVED_AT);
	case DW_CFA_val_expression:
		return run_expression(run, cursor, RULE_IS_EXPRESSION);
	case DW_CFA_GNU_args_size:
		return hp_encoded_leb128(cursor, false, &ignored);
	default:
		return false;
	}
}

static bool run_one(struct run *run, struct hp_cursor *cursor)
{
	uint8_t operation = *cursor->at++;
	uint8_t operand = operation & 0x3f;
	uint64_t value;

	switch (operation & 0xc0) {
	case DW_CFA_advance_loc:
		return advance(run, operand);
	case DW_CFA_offset:
		if (!take_number(cursor, &value))
			return false;
		set(run, operand, rule_of(RULE_SAVED, scaled(run, value)));
		return true;
	case DW_CFA_restore:
		restore(run, operand);
		return true;
	default:
		return run_extended(run, cursor, operation);
	}
}

void rows_share(struct builder *builder, struct shared *shared, struct hp_cursor instructions)
{
	struct run run = { .builder = builder, .shared = shared };

	/* Without a rule for the CFA, frames cannot be followed. */
	run.state.is_unsupported = true;
	while (instructions.at < instructions.end) {
		if (!run_one(&run, &instructions)) {
			shared->is_usable = false;
			return;
		}
	}
	shared->initial = run.state;
}

static bool push_gap(struct builder *builder)
{
	return !builder->has_row || push_row(builder, builder->floor, RECIPE_NONE);
}

bool rows_add(struct builder *builder, const struct entry *entry)
{
	struct hp_cursor cursor = { entry->instructions, entry->instructions_end };
	bool is_whole = true;
	struct run run;

	/* Remembered states stay without values: clearing them would take longer than most entries
	 * do. */
	run.builder = builder;
	run.shared = entry->shared;
	run.state = entry->shared->initial;
	run.depth = 0;
	run.offset = entry->offset;
	run.entry = entry;
	run.is_changed = true;
	run.no_memory = false;
	if (entry->end <= builder->floor)
		return true;
	/* Padding between procedures is never executed, so it gets no row. */
	if (entry->offset - builder->floor >= PADDING_BYTES && entry->offset > builder->floor &&
	    !push_gap(builder))
		return false;
	while (is_whole && cursor.at < cursor.end)
		is_whole = run_one(&run, &cursor);
	/* The rest of a damaged entry is unknown. */
	if (!is_whole && run.offset < entry->end) {
		run.state.is_unsupported = true;
		run.is_changed = true;
	}
	if (run.offset < entry->end)
		put(&run);
	builder->floor = entry->end;
	return !run.no_memory;
}

bool rows_complete(struct builder *builder)
{
	return !builder->has_row || raw_rows_push(&builder->rows, &builder->row);
}

bool rows_finish(struct builder *builder)
{
	return push_gap(builder) && rows_complete(builder) &&
	       pack_rows(builder->table, &builder->rows);
}
