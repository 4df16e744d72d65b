/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/model/image_id.h>

#include <stdlib.h>
#include <string.h>

bool hp_identity_equal(const struct hp_identity *a, const struct hp_identity *b)
{
	return a->kind == b->kind && a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

void hp_identity_format(const struct hp_identity *identity, char *text)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < identity->size; i++) {
		*text++ = digits[identity->bytes[i] >> 4];
		*text++ = digits[identity->bytes[i] & 15];
	}
	*text = 0;
}

struct hp_error *hp_image_id_copy(const struct hp_image_id *from, struct hp_image_id *to)
{
	char *path = strdup(from->path);

	if (!path)
		return hp_error_create_no_memory();
	*to = *from;
	to->path = path;
	return NULL;
}

void hp_image_id_clear(struct hp_image_id *id)
{
	free(id->path);
	*id = (struct hp_image_id){ 0 };
}

int hp_image_id_compare(const struct hp_image_id *a, const struct hp_image_id *b)
{
	int order;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	order = strcmp(a->path, b->path);
	if (order)
		return order;
	if (a->identity.kind != b->identity.kind)
		return a->identity.kind < b->identity.kind ? -1 : 1;
	if (a->identity.size != b->identity.size)
		return a->identity.size < b->identity.size ? -1 : 1;
	return memcmp(a->identity.bytes, b->identity.bytes, a->identity.size);
}
