/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reasons.h"

#include <string.h>

bool reasons_is_named(const char *name, const char *shown)
{
	size_t length = strlen(shown);

	return strncmp(name, shown, length) == 0 &&
	       (!name[length] || name[length] == '.' || strncmp(name + length, " [clone", 7) == 0);
}

bool reasons_is_image(const struct hp_loaded_image *image, const char *path)
{
	const char *library = strstr(path, ".so");
	const char *base = hp_image_basename(path);

	if (!image || !library || library < base)
		return image && !strstr(hp_image_basename(image->id.path), ".so");
	return strncmp(hp_image_basename(image->id.path), base, (size_t)(library - base) + 3) == 0;
}
