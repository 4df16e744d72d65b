/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernel.h"

#include "../tuning.h"

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/file.h>
#include <hpcprof/base/search.h>
#include <hpcprof/base/vector.h>
#include <hpcprof/image/identity.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t *read_file(const char *path, size_t limit_bytes, size_t *size)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t *bytes = NULL;

	if (fd >= 0)
		hp_error_destroy(hp_file_read_fd(fd, limit_bytes, &bytes, size));
	return bytes;
}

/* The module's index, added if it is new; 0 (the kernel itself) also when memory is short. */
static uint32_t module_number(struct kernel *kernel, const char *name)
{
	struct kernel_module *module;

	for (size_t i = kernel->module_count; i-- > 0;) {
		if (strcmp(kernel->modules[i].name, name) == 0)
			return (uint32_t)i;
	}
	if (!hp_grow((void **)&kernel->modules, &kernel->module_capacity, kernel->module_count + 1,
		     sizeof(*module)))
		return 0;
	module = &kernel->modules[kernel->module_count];
	*module = (struct kernel_module){ .name = strdup(name), .base = UINT64_MAX };
	return module->name ? (uint32_t)kernel->module_count++ : 0;
}

/* The symbol at which the kernel begins. On Arm, kallsyms lacks _text (Linux 6.1 without
 * CONFIG_KALLSYMS_ALL). */
static bool is_start(const char *name)
{
	return strcmp(name, "_text") == 0 || strcmp(name, "_stext") == 0;
}

/* Parses ADDRESS TYPE NAME[\t[MODULE]]. */
static bool parse_line(struct kernel *kernel, char *line, struct kernel_symbol *symbol,
		       const char **name)
{
	char *end;
	char *module;
	uint64_t address = strtoull(line, &end, 16);

	if (!address || end[0] != ' ' || !end[1] || end[2] != ' ' || !strchr("tTwW", end[1]))
		return false;
	symbol->address = address;
	*name = end + 3;
	module = strchr(end + 3, '\t');
	if (module) {
		*module++ = 0;
		if (*module == '[')
			module++;
		module[strcspn(module, "]")] = 0;
	}
	symbol->module = module_number(kernel, module ? module : "");
	if (!module && is_start(*name) && address < kernel->modules[0].base)
		kernel->modules[0].base = address;
	else if (module && address < kernel->modules[symbol->module].base)
		kernel->modules[symbol->module].base = address & ~0xfffull;
	return true;
}

HP_ORDER_BY(compare_symbols, struct kernel_symbol, address);

/* Adds a symbol, whose name gets a copy. False: memory is short, or there are too many. */
static bool add_symbol(struct kernel *kernel, struct kernel_symbol symbol, const char *name)
{
	size_t size = strlen(name) + 1;

	if (kernel->name_bytes + size > KERNEL_NAMES_LIMIT_BYTES ||
	    !hp_grow((void **)&kernel->names, &kernel->name_capacity, kernel->name_bytes + size,
		     1) ||
	    !hp_grow((void **)&kernel->symbols, &kernel->capacity, kernel->count + 1,
		     sizeof(symbol)))
		return false;
	memcpy(kernel->names + kernel->name_bytes, name, size);
	symbol.name = (uint32_t)kernel->name_bytes;
	kernel->name_bytes += size;
	kernel->symbols[kernel->count++] = symbol;
	return true;
}

/* Line by line, so that the whole text is never in memory. */
static void load(struct kernel *kernel)
{
	FILE *file = kernel->is_elsewhere ? NULL : fopen("/proc/kallsyms", "re");
	_cleanup_free_ char *line = NULL;
	size_t capacity = 0;
	uint64_t last = 0;
	bool is_ordered = true; /* as they are without modules */

	kernel->loaded = true;
	module_number(kernel, "");
	while (file && kernel->module_count && getline(&line, &capacity, file) > 0) {
		struct kernel_symbol symbol;
		const char *name;

		line[strcspn(line, "\n")] = 0;
		if (!parse_line(kernel, line, &symbol, &name))
			continue;
		if (!add_symbol(kernel, symbol, name))
			break;
		is_ordered &= last <= symbol.address;
		last = symbol.address;
	}
	if (file)
		fclose(file);
	if (!is_ordered)
		qsort(kernel->symbols, kernel->count, sizeof(*kernel->symbols), compare_symbols);
}

void kernel_prepare(struct kernel *kernel)
{
	if (!kernel->loaded)
		load(kernel);
}

void kernel_clear(struct kernel *kernel)
{
	for (size_t i = 0; i < kernel->module_count; i++) {
		free(kernel->modules[i].name);
		image_release(kernel->modules[i].image);
	}
	free(kernel->modules);
	free(kernel->symbols);
	free(kernel->names);
	*kernel = (struct kernel){ 0 };
}

static struct image *module_image(struct kernel *kernel, struct kernel_module *module)
{
	struct hp_identity identity = { 0 };
	_cleanup_free_ char *notes_path = NULL;
	_cleanup_free_ uint8_t *notes = NULL;
	bool is_kernel = !module->name[0];
	char path[128];
	size_t size = 0;

	if (module->image)
		return module->image;
	if (asprintf(&notes_path, "/sys/module/%s/notes/.note.gnu.build-id", module->name) < 0) {
		notes_path = NULL;
		return NULL;
	}
	notes = read_file(is_kernel ? "/sys/kernel/notes" : notes_path, NOTES_LIMIT_BYTES, &size);
	if (notes)
		hp_identity_of_notes(notes, size, &identity);
	snprintf(path, sizeof(path), "[%s]", is_kernel ? "kernel" : module->name);
	module->image = images_named(kernel->images, is_kernel ? HP_IMAGE_KERNEL : HP_IMAGE_MODULE,
				     path, &identity);
	return module->image;
}

/* If an address has several names, it is the same one always, in whatever order they stand. */
static const struct kernel_symbol *find(const struct kernel *kernel, uint64_t address)
{
	size_t after = hp_bisect(i, kernel->count, kernel->symbols[i].address <= address);
	const struct kernel_symbol *found = after ? &kernel->symbols[after - 1] : NULL;

	for (size_t i = after; i-- > 0 && kernel->symbols[i].address == found->address;)
		if (strcmp(kernel->names + kernel->symbols[i].name, kernel->names + found->name) >
		    0)
			found = &kernel->symbols[i];
	return found;
}

/* The size of a symbol: up to the next one, within a limit. */
static uint64_t extent(const struct kernel *kernel, const struct kernel_symbol *symbol)
{
	const struct kernel_symbol *end = kernel->symbols + kernel->count;
	const struct kernel_symbol *next = symbol + 1;

	while (next < end && next->address == symbol->address)
		next++;
	if (next < end && next->address - symbol->address < KERNEL_LONGEST_BYTES)
		return next->address - symbol->address;
	return KERNEL_LONGEST_BYTES;
}

bool kernel_resolve(struct kernel *kernel, uint64_t address, struct image **image, uint64_t *offset)
{
	const struct kernel_symbol *symbol;
	struct kernel_module *module;

	kernel_prepare(kernel);
	symbol = find(kernel, address);
	if (symbol && address - symbol->address < extent(kernel, symbol) &&
	    symbol->address >= kernel->modules[symbol->module].base) {
		module = &kernel->modules[symbol->module];
		*image = module_image(kernel, module);
		if (!*image)
			return false;
		(*image)->references++;
		*offset = address - module->base;
		/* If its name cannot be kept, the sample still counts. */
		(void)kept_add(kernel->kept, *image, symbol->address - module->base,
			       extent(kernel, symbol), kernel->names + symbol->name);
		return true;
	}
	*image = images_named(kernel->images, HP_IMAGE_KERNEL, "[kernel]", NULL);
	*offset = address;
	return *image != NULL;
}
