/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "images.h"

#include "file_identity.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/hash.h>

#include <stdlib.h>
#include <string.h>

/* What the kernel tells of a mapping; by it, an image is recognized without opening anything. */
struct mapped_key {
	uint32_t major;
	uint32_t minor;
	uint64_t inode;
	uint64_t generation;
	struct hp_identity build_id;
	uint16_t padding; /* zero, since keys are compared as bytes */
};

/* One way in which an image was found: what the kernel told, and the path. Without a build-id from
 * the kernel, also the state of the file when it was identified, since it may be written to. */
struct seen {
	UT_hash_handle hh;
	struct image *image;
	struct file_state state;
	size_t key_size;
	unsigned char key[]; /* a struct mapped_key, followed by the path */
};

struct image_links {
	UT_hash_handle hh; /* by the complete identity: kind, identity, path */
	struct image *image;
	unsigned char *key;
	size_t key_size;
};

struct images {
	struct image_links *by_id;
	struct seen *by_mapping;
	struct held_files held;
};

struct images *images_create(void)
{
	return calloc(1, sizeof(struct images));
}

static void image_free(struct image *image)
{
	hp_image_id_clear(&image->id);
	free(image->links->key);
	free(image->links);
	free(image);
}

static void forget(struct images *images, bool everything)
{
	struct seen *seen, *next_seen;
	struct image_links *links, *next_links;

	HASH_ITER(hh, images->by_mapping, seen, next_seen)
	{
		if (!everything && seen->image->references)
			continue;
		HASH_DEL(images->by_mapping, seen);
		free(seen);
	}
	HASH_ITER(hh, images->by_id, links, next_links)
	{
		if (!everything && links->image->references)
			continue;
		HASH_DEL(images->by_id, links);
		image_free(links->image);
	}
}

void images_destroy(struct images *images)
{
	if (!images)
		return;
	forget(images, true);
	held_files_clear(&images->held);
	free(images);
}

void images_sweep(struct images *images)
{
	forget(images, false);
}

size_t images_count(const struct images *images)
{
	return HASH_COUNT(images->by_id);
}

const struct held_files *images_held_files(const struct images *images)
{
	return &images->held;
}

void image_release(struct image *image)
{
	if (image)
		image->references--;
}

static struct image *image_create(const struct hp_image_id *id, unsigned char *key, size_t key_size)
{
	struct image *image = calloc(1, sizeof(*image));
	struct image_links *links = calloc(1, sizeof(*links));
	struct hp_error *error = NULL;

	if (image && links)
		error = hp_image_id_copy(id, &image->id);
	if (!image || !links || error) {
		hp_error_destroy(error);
		free(image);
		free(links);
		return NULL;
	}
	image->db_index = SIZE_MAX;
	image->links = links;
	*links = (struct image_links){ .image = image, .key = key, .key_size = key_size };
	return image;
}

/* Bytes that identify an image: kind, identity, path. */
static unsigned char *id_key(const struct hp_image_id *id, size_t *size)
{
	size_t path_size = strlen(id->path);
	unsigned char *key;

	*size = 1 + sizeof(id->identity) + path_size;
	key = malloc(*size);
	if (key) {
		key[0] = (unsigned char)id->kind;
		memcpy(key + 1, &id->identity, sizeof(id->identity));
		memcpy(key + 1 + sizeof(id->identity), id->path, path_size);
	}
	return key;
}

/* The image with this identity, new or known, with a reference for the caller. */
static struct image *intern(struct images *images, const struct hp_image_id *id)
{
	struct image_links *links;
	struct image *image;
	unsigned char *key;
	size_t key_size;

	key = id_key(id, &key_size);
	if (!key)
		return NULL;
	HASH_FIND(hh, images->by_id, key, key_size, links);
	if (links) {
		free(key);
		links->image->references++;
		return links->image;
	}
	image = image_create(id, key, key_size);
	if (!image) {
		free(key);
		return NULL;
	}
	links = image->links;
	HASH_ADD_KEYPTR(hh, images->by_id, links->key, links->key_size, links);
	if (!links->hh.tbl) {
		image_free(image);
		return NULL;
	}
	image->references = 1;
	return image;
}

struct image *images_named(struct images *images, enum hp_image_kind kind, const char *path,
			   const struct hp_identity *identity)
{
	_cleanup_free_ char *copy = strdup(path);
	struct hp_image_id id = { .kind = kind, .path = copy };

	if (!copy)
		return NULL;
	if (identity)
		id.identity = *identity;
	return intern(images, &id);
}

/* The kernel marks files that are no longer at their path, and memfds. */
static void split_deleted(char *path, bool *deleted)
{
	static const char mark[] = " (deleted)";
	size_t length = strlen(path);

	*deleted = length > sizeof(mark) && strcmp(path + length - (sizeof(mark) - 1), mark) == 0;
	if (*deleted)
		path[length - (sizeof(mark) - 1)] = 0;
}

static struct image *identify(struct images *images, pid_t pid,
			      const struct hp_record_mmap *mapping)
{
	_cleanup_free_ char *path = strdup(mapping->path);
	struct hp_image_id id = { .kind = HP_IMAGE_FILE, .path = path };

	if (!path)
		return NULL;
	split_deleted(path, &id.deleted);
	id.identity = mapping->build_id;
	if (id.identity.kind == HP_IDENTITY_NONE)
		file_identity(pid, mapping, id.deleted, path, &id.identity);
	held_files_take(&images->held, pid, mapping, &id);
	return intern(images, &id);
}

static struct seen *seen_create(const struct hp_record_mmap *mapping)
{
	size_t path_size = strlen(mapping->path);
	struct mapped_key key;
	struct seen *seen;

	memset(&key, 0, sizeof(key));
	key.major = mapping->major;
	key.minor = mapping->minor;
	key.inode = mapping->inode;
	key.generation = mapping->generation;
	key.build_id = mapping->build_id;
	seen = calloc(1, sizeof(*seen) + sizeof(key) + path_size);
	if (!seen)
		return NULL;
	seen->key_size = sizeof(key) + path_size;
	memcpy(seen->key, &key, sizeof(key));
	memcpy(seen->key + sizeof(key), mapping->path, path_size);
	return seen;
}

/* A file that cannot be found by its path counts as unchanged. */
static bool is_rewritten(const struct file_state *before, const struct file_state *now)
{
	return now->changed_s &&
	       (now->size_bytes != before->size_bytes || now->changed_s != before->changed_s ||
		now->changed_ns != before->changed_ns);
}

struct image *images_of_mapping(struct images *images, pid_t pid,
				const struct hp_record_mmap *mapping)
{
	struct seen *seen = seen_create(mapping);
	struct seen *known;
	struct image *image;

	if (!seen)
		return NULL;
	if (mapping->build_id.kind == HP_IDENTITY_NONE)
		seen->state = file_state(pid, mapping, mapping->path);
	HASH_FIND(hh, images->by_mapping, seen->key, seen->key_size, known);
	if (known && is_rewritten(&known->state, &seen->state)) {
		HASH_DEL(images->by_mapping, known);
		free(known);
		known = NULL;
	}
	if (known) {
		free(seen);
		known->image->references++;
		return known->image;
	}
	image = seen->image = identify(images, pid, mapping);
	if (image)
		HASH_ADD_KEYPTR(hh, images->by_mapping, seen->key, seen->key_size, seen);
	/* If it cannot be remembered, the file is identified again next time, which is only
	 * slower. */
	if (!image || !seen->hh.tbl)
		free(seen);
	return image;
}
