/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mapped.h"

#include "../images/vdso.h"

#include <string.h>

/* Memory without a file, by the names that the kernel gives it. */
static bool is_anonymous(const char *path)
{
	return path[0] != '/' || strncmp(path, "//anon", 6) == 0 ||
	       strncmp(path, "/dev/zero", 9) == 0 || strncmp(path, "/SYSV", 5) == 0 ||
	       strncmp(path, "/anon_hugepage", 14) == 0;
}

/* All 64-bit processes have the same vdso as we have; those of 32-bit processes differ. */
static struct image *vdso_image(struct images *images, const struct hp_record_mmap *mapping)
{
	bool is_32_bit = sizeof(void *) == 8 && mapping->start + mapping->size <= UINT32_MAX;
	struct hp_identity identity = vdso_identity();

	if (is_32_bit)
		return images_named(images, HP_IMAGE_VDSO, "[vdso32]", NULL);
	return images_named(images, HP_IMAGE_VDSO, "[vdso]", &identity);
}

bool mapped_image(struct images *images, uint32_t pid, const struct hp_record_mmap *mapping,
		  struct image **image)
{
	*image = NULL;
	if (strcmp(mapping->path, "[vdso]") == 0)
		*image = vdso_image(images, mapping);
	else if (is_anonymous(mapping->path))
		return true;
	else
		*image = images_of_mapping(images, (pid_t)pid, mapping);
	return *image;
}
