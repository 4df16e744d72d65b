/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program's call frame information, with registers and a stack that it made up: 17 registers, a
 * byte that says how many 8 bytes of stack there are, the stack, and an ELF file. */
#include "fuzz.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/number.h>
#include <hpcprof/unwind/unwind.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROOM = 64, PLACES = 64, CODE_BYTES = 1 << 20 };

/* Code is below 2^20, at its offset in the file; what is odd has no table. */
static bool find(void *context, size_t frame, uint64_t address, struct hp_unwind_place *place)
{
	(void)frame;
	place->table = context;
	place->recipe = context && address % 16 != 1 ? hp_unwind_recipe_at(context, address) : NULL;
	return address < CODE_BYTES;
}

/* With a part of the stack, and the path as a past one, which must not make a difference. */
static void climb_again(struct hp_unwind_table *table, const struct hp_unwind_registers *registers,
			const struct hp_unwind_stack *stack, struct hp_unwind_frame *frames,
			size_t count)
{
	const struct hp_unwind_past past = { frames, count };
	struct hp_unwind_frame without[ROOM];
	struct hp_unwind_frame with[ROOM];
	enum hp_unwind_end end;
	enum hp_unwind_end end_with;

	hp_unwind_pass(frames, count);
	for (size_t skipped = 0; skipped <= stack->size; skipped += sizeof(uint64_t)) {
		struct hp_unwind_stack part = *stack;

		/* What is read from there is moved: other values at the same places. */
		part.size -= skipped;
		part.bytes += skipped % (3 * sizeof(uint64_t)) ? 0 : skipped;
		count = hp_unwind(registers, &part, find, table, NULL, without, ROOM, &end);
		if (hp_unwind(registers, &part, find, table, &past, with, ROOM, &end_with) !=
			    count ||
		    end_with != end)
			abort();
		for (size_t i = 0; i < count; i++)
			if (with[i].address != without[i].address ||
			    with[i].stack != without[i].stack ||
			    with[i].caller_stack != without[i].caller_stack ||
			    with[i].flags != without[i].flags)
				abort();
	}
}

static void climb(struct hp_unwind_table *table, const struct hp_unwind_registers *registers,
		  const struct hp_unwind_stack *stack)
{
	struct hp_unwind_frame frames[ROOM];
	enum hp_unwind_end end = HP_UNWIND_LOST;
	size_t count = hp_unwind(registers, stack, find, table, NULL, frames, ROOM, &end);

	if (count == 0 || count > ROOM || frames[0].address != registers->at[HP_UNWIND_RIP])
		abort();
	for (size_t i = 1; i < count; i++)
		if (frames[i].address - (frames[i].flags & HP_UNWIND_IS_RETURN) >= CODE_BYTES)
			abort();
	if (end == HP_UNWIND_ROOT)
		climb_again(table, registers, stack, frames, count);
}

/* A table whose rows are made one by one. */
static struct hp_unwind_table *make_indexed(const uint8_t *data, size_t size)
{
	struct hp_unwind_table *table = NULL;
	_cleanup_close_ int fd = memfd_create("unwind", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, data, size) == (ssize_t)size)
		hp_error_destroy(hp_unwind_table_of_index(fd, 0, &table));
	return table;
}

/* Uses the table, and destroys it. */
static void climb_from_many(struct hp_unwind_table *table, struct hp_unwind_registers registers,
			    const struct hp_unwind_stack *stack, size_t size)
{
	struct hp_random random = hp_random_seeded(size);

	climb(table, &registers, stack);
	/* Every rule of the table gets its turn. */
	for (size_t i = 0; table && i < PLACES; i++) {
		registers.at[HP_UNWIND_RIP] = hp_random_between(&random, 0, CODE_BYTES - 1);
		if (i % 2)
			registers.at[HP_UNWIND_RIP] %= size + 1;
		climb(table, &registers, stack);
	}
	hp_unwind_table_destroy(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hp_unwind_registers registers = { .known = (1u << HP_UNWIND_REGISTERS) - 1 };
	struct hp_unwind_stack stack = { 0 };
	struct hp_unwind_table *table = NULL;

	if (size <= sizeof(registers.at))
		return 0;
	memcpy(registers.at, data, sizeof(registers.at));
	data += sizeof(registers.at);
	size -= sizeof(registers.at);
	stack.size = (size_t)*data * sizeof(uint64_t);
	stack.bytes = ++data;
	size--;
	if (stack.size > size)
		stack.size = size;
	stack.address = registers.at[HP_UNWIND_RSP];
	data += stack.size;
	size -= stack.size;
	hp_error_destroy(hp_unwind_table_of_bytes(data, size, &table));
	climb_from_many(table, registers, &stack, size);
	climb_from_many(make_indexed(data, size), registers, &stack, size);
	return 0;
}
