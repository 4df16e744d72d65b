/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Digests of the parts of meta. The index keeps them, because meta contains a hash of every other
 * file but cannot contain its own.
 */
#include "codec.h"
#include "meta_json.h"

#include <hpcprof/base/number.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Lists that views use; everything else has one digest at the end. */
static const char *const lists[] = { "events", "commands", "runs", "clock" };

static_assert(HP_ARRAY_COUNT(lists) + 1 == HP_META_PARTS, "all of meta is in a part");

const char *hp_meta_part_name(size_t part)
{
	return part < HP_ARRAY_COUNT(lists) ? lists[part] : "description";
}

/* Equal for all ways to write the same value. */
static bool digest(const json_t *value, uint64_t *digest)
{
	char *text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);

	if (!text)
		return false;
	*digest = XXH3_64bits(text, strlen(text));
	free(text);
	return true;
}

/* The label may change later, and what meta says of the index is written after the digest. */
static bool digest_rest(json_t *root, uint64_t *result)
{
	json_t *rest = json_object();
	bool done = rest && json_object_update(rest, root) == 0;

	if (done) {
		json_object_del(rest, "label");
		json_object_del(rest, "files");
		for (size_t i = 0; i < HP_ARRAY_COUNT(lists); i++)
			json_object_del(rest, lists[i]);
		done = digest(rest, result);
	}
	json_decref(rest);
	return done;
}

struct hp_error *hp_meta_parts_of(json_t *root, struct hp_meta_parts *parts)
{
	bool done = true;

	*parts = (struct hp_meta_parts){ .are_known = true };
	for (size_t i = 0; i < HP_ARRAY_COUNT(lists) && done; i++) {
		const json_t *list = json_object_get(root, lists[i]);

		done = !list || digest(list, &parts->digests[i]);
	}
	if (done && digest_rest(root, &parts->digests[HP_META_PARTS - 1]))
		return NULL;
	return hp_error_create_no_memory();
}
