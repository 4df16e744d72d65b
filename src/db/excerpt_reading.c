/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "excerpt_reading.h"

#include <inttypes.h>

void reading_refuse(struct reading *reading, const char *what)
{
	if (!reading->error)
		reading->error = hp_section_damaged(reading->section, &reading->reader, "%s", what);
}

/* Reads a number of entries, which take at least `least` bytes each. */
size_t reading_count(struct reading *reading, size_t least, size_t most, const char *what)
{
	uint64_t count = 0;
	size_t room;

	if (reading->error)
		return 0;
	if (!hp_read_varint(&reading->reader, &count)) {
		reading_refuse(reading, "the number of entries is out of range");
		return 0;
	}
	room = hp_reader_left(&reading->reader) / least;
	if (count > room)
		reading->error =
			hp_section_overflows(reading->section, &reading->reader, count, what, room);
	else if (count > most)
		reading->error = hp_section_damaged(reading->section, &reading->reader,
						    "%" PRIu64 " %s, more than %zu", count, what,
						    most);
	return reading->error ? 0 : (size_t)count;
}

uint64_t reading_number(struct reading *reading)
{
	uint64_t number = 0;

	if (!reading->error && !hp_read_varint(&reading->reader, &number))
		reading_refuse(reading, "ends inside an entry");
	return number;
}

uint8_t reading_byte(struct reading *reading)
{
	uint8_t byte = 0;

	if (!reading->error && !hp_read_u8(&reading->reader, &byte))
		reading_refuse(reading, "ends inside an entry");
	return byte;
}

char *reading_text(struct reading *reading)
{
	char *text = NULL;

	if (!reading->error && !hp_read_string(&reading->reader, &text))
		reading_refuse(reading, "ends inside a string");
	return text;
}

uint64_t reading_sum(struct reading *reading, uint64_t a, uint64_t b)
{
	uint64_t sum = 0;

	if (!reading->error && __builtin_add_overflow(a, b, &sum))
		reading_refuse(reading, "addresses run past 64 bits");
	return sum;
}

/* Reads a size, which is written minus 1. Its end must fit, too, as hp_excerpt_check requires. */
uint64_t reading_size(struct reading *reading, uint64_t address)
{
	uint64_t size = reading_sum(reading, reading_number(reading), 1);

	reading_sum(reading, address, size);
	return size;
}
