/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A file that somebody else made, asked everything that a report asks of an image. */
#include "fuzz.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/image/identity.h>
#include <hpcprof/image/image.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PROCEDURES_ASKED = 512 };

static void read_text(const char *text)
{
	volatile size_t sink = text ? strlen(text) : 0;

	(void)sink;
}

static void ask_at(struct hp_image *image, uint64_t address)
{
	hp_link_address link = { address };
	const struct hp_procedure *procedure = hp_image_procedure_at(image, link);
	const uint8_t *bytes;
	struct hp_frames frames;
	volatile uint8_t sink;
	size_t size = hp_image_text(image, link, 64, &bytes);

	for (size_t i = 0; i < size; i++)
		sink = bytes[i];
	(void)sink;
	if (procedure->size == 0 || !procedure->name || !procedure->linkage || !procedure->owner)
		abort();
	hp_error_destroy(hp_image_frames(image, &link, 1, true, &frames));
}

static void ask(struct hp_image *image)
{
	const struct hp_procedure *const *procedures;
	hp_link_address address;
	hp_link_address *addresses;
	_cleanup_free_ struct hp_frames *frames;
	size_t count;

	hp_image_link_address(image, (hp_image_offset){ 0x1000 }, &address);
	hp_image_machine(image);
	hp_image_procedures(image, &procedures, &count);
	if (count > PROCEDURES_ASKED)
		count = PROCEDURES_ASKED;
	addresses = calloc(count + 1, sizeof(*addresses));
	frames = calloc(count + 1, sizeof(*frames));
	if (!addresses || !frames)
		abort();
	for (size_t i = 0; i < count; i++) {
		addresses[i] = procedures[i]->address;
		if (i > 0 && addresses[i].value < addresses[i - 1].value + procedures[i - 1]->size)
			abort();
	}
	hp_error_destroy(hp_image_frames(image, addresses, count, true, frames));
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < frames[i].count; k++)
			read_text(frames[i].frames[k].file);
	hp_image_has_lines(image);
	hp_image_symbol_origin(image);
	ask_at(image, 0);
	ask_at(image, 0x401000);
	ask_at(image, UINT64_MAX);
	free(addresses);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hp_image_options options = { .no_debuginfo = true };
	char path[64];
	struct hp_image_id id = { .kind = HP_IMAGE_FILE, .path = path };
	struct hp_identity of_bytes;
	struct hp_identity of_file;
	struct hp_image *image;
	struct hp_error *error;
	int fd = memfd_create("input", MFD_CLOEXEC);

	if (fd < 0)
		return 0;
	if (write(fd, data, size) != (ssize_t)size) {
		close(fd);
		return 0;
	}
	hp_error_destroy(hp_identity_of_bytes(data, size, &of_bytes));
	hp_error_destroy(hp_identity_of_fd(fd, &of_file));
	if (!hp_identity_equal(&of_bytes, &of_file))
		abort();
	hp_identity_of_notes(data, size, &of_bytes);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	error = hp_image_open(&id, &options, &image);
	if (error) {
		hp_error_destroy(error);
	} else {
		ask(image);
		hp_image_close(image);
	}
	close(fd);
	return 0;
}
