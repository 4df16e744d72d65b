/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dependences between the instructions of a region. Requires costs; provides dependences.
 *
 * The region is walked once, or twice if it is a loop: what the second walk finds of the first is
 * carried from one iteration to the next. Registers are tracked as (value, offset), so that a store
 * and a load of the same bytes are matched even if the stack pointer moved in between. Addresses
 * that cannot be proved equal are assumed to differ, since this is a best case.
 */
#include "region.h"
#include "tuning.h"

enum { FLAGS = 8, OTHER_VALUE = 0 };

struct value {
	uint32_t id;
	int64_t offset;
};

struct place {
	struct value base; /* offset: of the whole address */
	uint32_t index;
	uint8_t scale;
	uint16_t bytes;
};

struct store {
	struct place place;
	int64_t writer;	 /* position in both walks */
	bool is_changed; /* read, changed and written by one instruction */
};

struct walk {
	struct region *region;
	const struct hp_isa *isa;
	int64_t registers[HP_REGISTER_COUNT]; /* who wrote last; -1: from outside */
	int64_t flags[FLAGS];
	struct value values[HP_REGISTER_COUNT];
	uint32_t next_id;
	struct store stores[STORES_LOOKED_AT];
	size_t store_count; /* of all stores, including those overwritten in the table */
	struct dependence *found;
	size_t found_count;
	size_t room;
	bool is_last; /* this walk records dependences; earlier ones only establish the state */
};

static bool moves_stack_only(const struct walk *walk, const struct hp_insn *insn, unsigned number)
{
	if (number != walk->isa->stack_pointer)
		return false;
	return insn->operation == HP_OPERATION_PUSH || insn->operation == HP_OPERATION_POP ||
	       insn->kind == HP_INSN_CALL || insn->kind == HP_INSN_CALL_INDIRECT ||
	       insn->kind == HP_INSN_RETURN;
}

static bool add(struct walk *walk, int64_t writer, int64_t at, int32_t cycles)
{
	uint32_t count = walk->region->count;

	if (writer < 0 || !walk->is_last || walk->found_count == walk->room)
		return writer < 0 || !walk->is_last;
	walk->found[walk->found_count++] = (struct dependence){
		.producer = (uint32_t)(writer % count),
		.distance = (uint32_t)(at / count - writer / count),
		.cycles = cycles,
	};
	return true;
}

static int32_t latency_of(const struct walk *walk, int64_t writer)
{
	return writer < 0 ? 0 : walk->region->costs[writer % walk->region->count].latency;
}

static void read_registers(struct walk *walk, const struct hp_insn *insn, int64_t at,
			   const struct hp_cost *cost)
{
	for (unsigned number = 0; number < HP_REGISTER_COUNT; number++) {
		int64_t writer = walk->registers[number];
		int32_t late = hp_insn_addresses_with(insn, number) ? 0 : cost->late;

		if (hp_register_in(&insn->read, number))
			add(walk, writer, at, latency_of(walk, writer) - late);
	}
	if (cost->is_merging && insn->operands[0].type == HP_OPERAND_REGISTER &&
	    insn->operands[0].number < HP_REGISTER_COUNT) {
		int64_t writer = walk->registers[insn->operands[0].number];

		add(walk, writer, at, latency_of(walk, writer) - cost->late);
	}
	for (unsigned flag = 0; flag < FLAGS; flag++)
		if (insn->flags_read >> flag & 1)
			add(walk, walk->flags[flag], at,
			    latency_of(walk, walk->flags[flag]) - cost->late);
}

/* False when the address cannot be compared with those of other accesses. */
static bool place_of(const struct walk *walk, const struct hp_insn *insn,
		     const struct hp_memory *memory, struct place *place)
{
	struct value none = { .id = OTHER_VALUE };
	struct value base = memory->base < HP_REGISTER_COUNT ? walk->values[memory->base] : none;
	struct value index = memory->index < HP_REGISTER_COUNT ? walk->values[memory->index] : none;
	bool is_push = insn->operation == HP_OPERATION_PUSH || insn->kind == HP_INSN_CALL ||
		       insn->kind == HP_INSN_CALL_INDIRECT;

	if (memory->segment != HP_REGISTER_NONE || insn->is_repeated)
		return false;
	*place = (struct place){
		.base = base,
		.index = index.id,
		.scale = memory->scale,
		.bytes = memory->bytes,
	};
	place->base.offset =
		(int64_t)((uint64_t)base.offset + (uint64_t)index.offset * memory->scale +
			  (uint64_t)memory->displacement);
	if (is_push && memory->is_implicit)
		place->base.offset =
			(int64_t)((uint64_t)place->base.offset - walk->isa->pointer_bytes);
	return true;
}

static bool holds(const struct place *outer, const struct place *inner)
{
	uint64_t into = (uint64_t)inner->base.offset - (uint64_t)outer->base.offset;

	return outer->base.id == inner->base.id && outer->index == inner->index &&
	       outer->scale == inner->scale && into < outer->bytes &&
	       into + inner->bytes <= outer->bytes;
}

static void read_memory(struct walk *walk, const struct hp_insn *insn, int64_t at)
{
	size_t known = walk->store_count < STORES_LOOKED_AT ? walk->store_count : STORES_LOOKED_AT;
	int32_t forward = walk->region->options->machine->forward_cycles;
	int32_t load = walk->region->options->machine->l1_cycles;

	for (size_t i = 0; i < insn->memory_count; i++) {
		struct place place;

		if (!(insn->memories[i].access & HP_ACCESS_READ) ||
		    !place_of(walk, insn, &insn->memories[i], &place))
			continue;
		for (size_t back = 1; back <= known; back++) {
			const struct store *store =
				&walk->stores[(walk->store_count - back) % STORES_LOOKED_AT];

			if (!holds(&store->place, &place))
				continue;
			/* A read-modify-write instruction stores one cycle after it has changed
			 * what it read. The data of any other store are forwarded once it has
			 * executed; this load's latency counts from its address, which may have
			 * been known long before. */
			add(walk, store->writer, at,
			    store->is_changed ? forward + 1 : forward - load);
			break;
		}
	}
}

static void write_memory(struct walk *walk, const struct hp_insn *insn, int64_t at)
{
	for (size_t i = 0; i < insn->memory_count; i++) {
		struct place place;

		if ((insn->memories[i].access & HP_ACCESS_WRITE) &&
		    place_of(walk, insn, &insn->memories[i], &place))
			walk->stores[walk->store_count++ % STORES_LOOKED_AT] = (struct store){
				.place = place,
				.writer = at,
				.is_changed = (insn->memories[i].access & HP_ACCESS_READ),
			};
	}
}

/* The value of a full register after an instruction that moves it by a known amount. */
static bool known_value(const struct walk *walk, const struct hp_insn *insn, struct value *value)
{
	const struct hp_operand *to = &insn->operands[0];
	const struct hp_operand *from = &insn->operands[1];
	const struct hp_memory *memory = &insn->memories[0];
	bool is_minus = insn->operation == HP_OPERATION_SUBTRACT;

	if (insn->operand_count != 2 || to->type != HP_OPERAND_REGISTER ||
	    to->bytes != walk->isa->pointer_bytes || to->number >= HP_REGISTER_VECTOR)
		return false;
	switch (insn->operation) {
	case HP_OPERATION_MOVE:
		if (from->type != HP_OPERAND_REGISTER || from->bytes != to->bytes ||
		    from->number >= HP_REGISTER_VECTOR)
			return false;
		*value = walk->values[from->number];
		return true;
	case HP_OPERATION_ADD:
	case HP_OPERATION_SUBTRACT:
		if (from->type != HP_OPERAND_IMMEDIATE)
			return false;
		*value = walk->values[to->number];
		value->offset =
			(int64_t)((uint64_t)value->offset + (is_minus ? -(uint64_t)from->immediate
								      : (uint64_t)from->immediate));
		return true;
	case HP_OPERATION_ADDRESS:
		if (insn->memory_count != 1 || memory->base >= HP_REGISTER_COUNT ||
		    memory->index != HP_REGISTER_NONE)
			return false;
		*value = walk->values[memory->base];
		value->offset = (int64_t)((uint64_t)value->offset + (uint64_t)memory->displacement);
		return true;
	default:
		return false;
	}
}

static void move_stack(struct walk *walk, const struct hp_insn *insn)
{
	uint64_t offset = (uint64_t)walk->values[walk->isa->stack_pointer].offset;
	bool is_pop = insn->operation == HP_OPERATION_POP || insn->kind == HP_INSN_RETURN;

	offset += is_pop ? walk->isa->pointer_bytes : -(uint64_t)walk->isa->pointer_bytes;
	walk->values[walk->isa->stack_pointer].offset = (int64_t)offset;
}

static void write_registers(struct walk *walk, const struct hp_insn *insn, int64_t at)
{
	struct value value = { 0 };
	bool is_known = known_value(walk, insn, &value);

	for (unsigned number = 0; number < HP_REGISTER_COUNT; number++) {
		if (!hp_register_in(&insn->written, number))
			continue;
		/* The core follows the stack pointer at decode. */
		if (moves_stack_only(walk, insn, number)) {
			move_stack(walk, insn);
			continue;
		}
		walk->registers[number] = at;
		walk->values[number] = is_known && number == insn->operands[0].number
					       ? value
					       : (struct value){ .id = walk->next_id++ };
	}
	for (unsigned flag = 0; flag < FLAGS; flag++)
		if (insn->flags_written >> flag & 1)
			walk->flags[flag] = at;
}

/* A call runs other code. The state it leaves is unknown, and nothing waits for it. */
static void forget_after_call(struct walk *walk)
{
	for (unsigned number = 0; number < HP_REGISTER_COUNT; number++) {
		if (!hp_register_in(&walk->isa->call_clobbers, number))
			continue;
		walk->registers[number] = -1;
		walk->values[number] = (struct value){ .id = walk->next_id++ };
	}
	walk->store_count = 0;
}

static void step(struct walk *walk, int64_t at)
{
	struct region *region = walk->region;
	const struct hp_insn *insn = &region->insns[at % region->count];
	const struct hp_cost *cost = &region->costs[at % region->count];

	if (!cost->is_independent) {
		read_registers(walk, insn, at, cost);
		read_memory(walk, insn, at);
	}
	write_memory(walk, insn, at);
	write_registers(walk, insn, at);
	if (insn->kind == HP_INSN_CALL || insn->kind == HP_INSN_CALL_INDIRECT) {
		forget_after_call(walk);
		/* The callee has popped the return address. */
		walk->values[walk->isa->stack_pointer].offset += walk->isa->return_address_bytes;
	}
}

/* The largest number of inputs that an instruction has. */
static size_t inputs_of(const struct hp_insn *insn)
{
	return (size_t)(__builtin_popcountll(insn->read.bits[0]) +
			__builtin_popcountll(insn->read.bits[1]) +
			__builtin_popcount(insn->flags_read)) +
	       insn->memory_count + 1;
}

struct hp_error *region_connect(struct region *region, struct hp_arena *arena)
{
	struct walk *walk = hp_arena_alloc(arena, sizeof(*walk));
	int64_t walks = region->options->is_loop ? 2 : 1;
	size_t room = 0;

	for (uint32_t i = 0; i < region->count; i++)
		room += inputs_of(&region->insns[i]);
	region->first = hp_arena_array(arena, region->count + 1, sizeof(*region->first));
	region->dependences = hp_arena_array(arena, room + 1, sizeof(*region->dependences));
	if (!walk || !region->first || !region->dependences)
		return hp_error_create_no_memory();
	walk->region = region;
	walk->isa = region->options->isa;
	walk->found = region->dependences;
	walk->room = room;
	walk->next_id = OTHER_VALUE + 1;
	for (unsigned number = 0; number < HP_REGISTER_COUNT; number++) {
		walk->registers[number] = -1;
		walk->values[number].id = walk->next_id++;
	}
	for (unsigned flag = 0; flag < FLAGS; flag++)
		walk->flags[flag] = -1;
	for (int64_t at = 0; at < walks * region->count; at++) {
		walk->is_last = at >= (walks - 1) * region->count;
		if (walk->is_last)
			region->first[at % region->count] = (uint32_t)walk->found_count;
		step(walk, at);
	}
	region->first[region->count] = (uint32_t)walk->found_count;
	return NULL;
}
