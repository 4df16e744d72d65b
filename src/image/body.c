/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/image/body.h>
#include <hpcprof/isa/text.h>

/* The size of the longest procedure. A longer one is an error in a symbol table, or not for human
 * readers. */
enum { LONGEST_BYTES = 1 << 20, TEXT_BYTES = 256 };
/* Instructions per run. Shorter runs would often be equal by chance; in longer ones each changed
 * instruction would change more runs. */
enum { EXACT_RUN = 3, SHAPE_RUN = 4 };

/* The hashes of the latest instructions. */
struct run {
	uint64_t at[SHAPE_RUN];
	size_t count;
};

static uint64_t mix(uint64_t hash, uint64_t next)
{
	hash = (hash ^ next) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

static void extend(struct run *run, size_t length, uint64_t hash, struct hp_hashes *hashes)
{
	uint64_t whole = 0;

	run->at[run->count++ % length] = hash;
	if (run->count < length)
		return;
	for (size_t i = run->count - length; i < run->count; i++)
		whole = mix(whole, run->at[i % length]);
	hp_hashes_add(hashes, (uint32_t)(whole >> 32));
}

void hp_image_body(struct hp_image *image, const struct hp_procedure *part, struct hp_body *body)
{
	uint16_t machine = hp_image_machine(image);
	struct run exact = { 0 };
	struct run shape = { 0 };
	const uint8_t *bytes;
	size_t size = part->size > LONGEST_BYTES
			      ? 0
			      : hp_image_text(image, part->address, part->size, &bytes);
	size_t length;

	*body = (struct hp_body){ 0 };
	for (size_t at = 0; at < size; at += length) {
		uint64_t address = part->address.value + at;
		char text[TEXT_BYTES];
		uint64_t target;
		bool has_target;

		length = hp_isa_text(machine, HP_SYNTAX_INTEL, bytes + at, size - at, address, text,
				     sizeof(text));
		has_target = hp_isa_target(machine, bytes + at, size - at, address, &target);
		if (!length)
			length = hp_isa_step(machine);
		if (!length)
			break;
		/* Padding depends on the alignment that the compiler wants. */
		if (hp_isa_text_is_padding(text))
			continue;
		body->instructions++;
		extend(&exact, EXACT_RUN, hp_isa_text_hash(text, has_target), &body->exact);
		extend(&shape, SHAPE_RUN, hp_isa_text_shape(text), &body->shape);
	}
}
