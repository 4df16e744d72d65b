/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "debug_file.h"

#include "inflation.h"
#include "our_file.h"

#include <hpcprof/base/elf_section.h>
#include <hpcprof/base/foreign_file.h>
#include <hpcprof/image/identity.h>

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static const char system_directory[] = "/usr/lib/debug";

/* The properties that identify a file as belonging to the program. */
struct wanted {
	struct elf_file *file;
	struct hp_identity id; /* NONE: the checksum decides */
	bool has_crc;
	GElf_Word crc;
};

static const char *root_of(const struct elf_file *file)
{
	return file->symfs ? file->symfs : "";
}

static char *directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
}

static void read_build_id(Elf *elf, struct hp_identity *id)
{
	GElf_Shdr header;
	Elf_Scn *section = hp_elf_section(elf, ".note.gnu.build-id", &header);
	const Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;

	*id = (struct hp_identity){ .kind = HP_IDENTITY_NONE };
	if (data && data->d_buf)
		hp_identity_of_notes(data->d_buf, data->d_size, id);
}

static bool has_id(Elf *elf, const struct hp_identity *id)
{
	struct hp_identity found;

	read_build_id(elf, &found);
	return hp_identity_equal(&found, id);
}

static bool has_crc(Elf *elf, GElf_Word crc)
{
	size_t size;
	const char *bytes = elf_rawfile(elf, &size);

	return bytes && (GElf_Word)crc32_z(0, (const unsigned char *)bytes, size) == crc;
}

static bool is_wanted(const struct wanted *wanted, Elf *elf)
{
	return wanted->id.kind != HP_IDENTITY_NONE ? has_id(elf, &wanted->id)
						   : wanted->has_crc && has_crc(elf, wanted->crc);
}

/* Returns a descriptor of the file if it is the wanted one, else -1. */
static int try_file(const struct wanted *wanted, const char *path)
{
	_cleanup_close_ int fd = -1;
	struct hp_error *error = our_file_open(path, &fd);
	bool accepted;
	Elf *elf;

	hp_error_destroy(error);
	if (error || !elf_file_is_elf(fd))
		return -1;
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	accepted = elf && is_wanted(wanted, elf);
	if (accepted && !inflation_of_sections_is_bounded(elf)) {
		wanted->file->unpacks_too_far = true;
		accepted = false;
	}
	elf_end(elf);
	return accepted ? hp_steal_fd(&fd) : -1;
}

static int try_build_id(const struct wanted *wanted, const char *root, char **found)
{
	char hex[2 * HP_IDENTITY_MAX_BYTES + 1];
	_cleanup_free_ char *path = NULL;
	int fd;

	hp_identity_format(&wanted->id, hex);
	if (strlen(hex) < 3)
		return -1;
	if (asprintf(&path, "%s%s/.build-id/%.2s/%s.debug", root, system_directory, hex, hex + 2) <
	    0) {
		path = NULL;
		return -1;
	}
	fd = try_file(wanted, path);
	if (fd >= 0)
		*found = hp_steal(path);
	return fd;
}

const char *debug_file_name(const struct elf_file *file)
{
	const char *path = NULL;

	dwfl_module_info(file->module, NULL, NULL, NULL, NULL, NULL, NULL, &path);
	return path;
}

bool debug_file_is_of_system(const struct elf_file *file)
{
	static const char below[] = "/.build-id/";
	const size_t length = strlen(system_directory);
	const char *path = debug_file_name(file);

	return path && strncmp(path, system_directory, length) == 0 &&
	       strncmp(path + length, below, strlen(below)) == 0;
}

static int try_name(const struct wanted *wanted, const char *directory, const char *below,
		    const char *name, char **found)
{
	_cleanup_free_ char *path = NULL;
	int fd;

	if (asprintf(&path, "%s%s/%s", directory, below, name) < 0) {
		path = NULL;
		return -1;
	}
	fd = try_file(wanted, path);
	if (fd >= 0)
		*found = hp_steal(path);
	return fd;
}

/* Looks beside the program, in .debug beside it, and in the same directory below the system's debug
 * directory. */
static int try_names(const struct wanted *wanted, const char *directory, const char *name,
		     char **found)
{
	_cleanup_free_ char *system = NULL;
	int fd = try_name(wanted, directory, "", name, found);

	if (fd < 0)
		fd = try_name(wanted, directory, "/.debug", name, found);
	if (asprintf(&system, "%s%s", root_of(wanted->file), system_directory) < 0) {
		system = NULL;
		return fd;
	}
	/* The first parts of the directory may be those of --symfs. */
	while (fd < 0 && directory && *directory == '/') {
		fd = try_name(wanted, system, directory, name, found);
		directory = strchr(directory + 1, '/');
	}
	return fd;
}

static int find_by_name(const struct wanted *wanted, const char *path, const char *link,
			char **found)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *directory = directory_of(path);
	_cleanup_free_ char *invented = NULL;

	if (link && strchr(link, '/'))
		return -1;
	if (!link && asprintf(&invented, "%s.debug", slash ? slash + 1 : path) < 0)
		invented = NULL;
	if (!directory || (!link && !invented))
		return -1;
	return try_names(wanted, directory, link ? link : invented, found);
}

/* Segments may overlap, so the sum of their notes may exceed the file. */
static uint64_t note_bytes_of_segments(Elf *elf, size_t file_bytes)
{
	uint64_t bytes = 0;
	size_t count;

	if (elf_getphdrnum(elf, &count) != 0)
		count = 0;
	for (size_t i = 0; i < count && i < INT_MAX; i++) {
		GElf_Phdr header;

		if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_NOTE)
			bytes += header.p_filesz < file_bytes ? header.p_filesz : file_bytes;
	}
	return bytes;
}

static uint64_t note_bytes_of_sections(Elf *elf, size_t file_bytes)
{
	Elf_Scn *section = NULL;
	uint64_t bytes = 0;

	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE)
			bytes += header.sh_size < file_bytes ? header.sh_size : file_bytes;
	}
	return bytes;
}

/* Before libdwfl asks a server it reads all notes for a build-id, however many there are. */
static bool has_short_notes(struct elf_file *file)
{
	size_t file_bytes = 0;

	elf_rawfile(file->elf, &file_bytes);
	file->notes_too_long =
		note_bytes_of_segments(file->elf, file_bytes) > HP_IDENTITY_NOTES_MOST_BYTES ||
		note_bytes_of_sections(file->elf, file_bytes) > HP_IDENTITY_NOTES_MOST_BYTES;
	return !file->notes_too_long;
}

/* Checks the environment first, because libdwfl would load libdebuginfod and some 30 libraries only
 * to find that no server is named. */
static bool has_servers(const struct elf_file *file)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return file->debug_files == DEBUG_FILES_SERVED && urls && *urls;
}

/* Makes libdwfl ask debuginfod: the file name is too long to exist, so no local file is opened. */
static int ask_debuginfod(struct elf_file *file, const char *path, char **found)
{
	char no_name[NAME_MAX + 2];

	if (!has_servers(file) || !has_short_notes(file))
		return -1;
	memset(no_name, 'x', sizeof(no_name) - 1);
	no_name[sizeof(no_name) - 1] = '\0';
	return dwfl_standard_find_debuginfo(file->module, NULL, NULL, 0, path, no_name, 0, found);
}

/* libdwfl also asks for dwz's common file in this way; debug_file_open_alternate opens that. */
static bool is_link_of(Elf *elf, const char *link)
{
	GElf_Word crc;
	const char *own = dwelf_elf_gnu_debuglink(elf, &crc);

	return !link || (own && strcmp(own, link) == 0);
}

int debug_file_find(Dwfl_Module *module, void **user_data, const char *name, Dwarf_Addr base,
		    const char *path, const char *link, GElf_Word crc, char **found)
{
	struct wanted wanted = { .file = *user_data, .has_crc = link != NULL, .crc = crc };
	int fd;

	(void)module, (void)name, (void)base;
	if (!path || !wanted.file || !is_link_of(wanted.file->elf, link))
		return -1;
	read_build_id(wanted.file->elf, &wanted.id);
	fd = try_build_id(&wanted, root_of(wanted.file), found);
	if (fd < 0)
		fd = find_by_name(&wanted, path, link, found);
	return fd >= 0 ? fd : ask_debuginfod(wanted.file, path, found);
}

int debug_file_find_none(Dwfl_Module *module, void **user_data, const char *name, Dwarf_Addr base,
			 const char *path, const char *link, GElf_Word crc, char **found)
{
	(void)module, (void)user_data, (void)name, (void)base;
	(void)path, (void)link, (void)crc, (void)found;
	return -1;
}

/* Returns the path of the file that has the debugging information. */
static const char *path_with_dwarf(const struct elf_file *file)
{
	const char *main_path = NULL;
	const char *debug_path = NULL;

	dwfl_module_info(file->module, NULL, NULL, NULL, NULL, NULL, &main_path, &debug_path);
	if (debug_path)
		return debug_path;
	return main_path ? main_path : "";
}

/* --- dwz's common file -------------------------------------------------------------------------- */

/* Tries `name` as it is, or relative to the directory of the file that names it. */
static int try_alternate(const struct wanted *wanted, const char *beside, const char *name,
			 char **found)
{
	_cleanup_free_ char *directory = directory_of(beside);

	if (!directory)
		return -1;
	return try_name(wanted, *name == '/' ? root_of(wanted->file) : directory, "", name, found);
}

static int find_alternate(struct elf_file *file, Dwarf *dwarf, char **found)
{
	const char *name;
	const void *id;
	ssize_t id_bytes = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id);
	struct wanted wanted = { .file = file, .id = { .kind = HP_IDENTITY_BUILD_ID } };
	int fd;

	if (id_bytes < 1 || (size_t)id_bytes > sizeof(wanted.id.bytes))
		return -1;
	wanted.id.size = (uint8_t)id_bytes;
	memcpy(wanted.id.bytes, id, (size_t)id_bytes);
	fd = try_build_id(&wanted, root_of(file), found);
	if (fd < 0)
		fd = try_alternate(&wanted, path_with_dwarf(file), name, found);
	/* libdwfl has the program's information by now, so it asks for the common file. */
	return fd >= 0 ? fd : ask_debuginfod(file, path_with_dwarf(file), found);
}

bool debug_file_open_alternate(struct elf_file *file, Dwarf *dwarf)
{
	_cleanup_free_ char *found = NULL;
	const char *name;
	const void *id;

	if (file->alternate || dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id) <= 0)
		return true;
	if (file->alternate_fd < 0)
		file->alternate_fd = find_alternate(file, dwarf, &found);
	if (file->alternate_fd >= 0)
		file->alternate = dwarf_begin(file->alternate_fd, DWARF_C_READ);
	if (file->alternate)
		dwarf_setalt(dwarf, file->alternate);
	return file->alternate != NULL;
}

/* --- split DWARF -------------------------------------------------------------------------------- */

/* libdw maps the file itself. A missing file does no harm. */
static bool may_be_mapped(struct elf_file *file, const char *path)
{
	struct stat status;
	_cleanup_close_ int fd = hp_foreign_open(path, 0, &status);
	bool bounded;
	Elf *elf;

	if (fd < 0)
		return access(path, F_OK) != 0;
	if (!our_file_stays(&status) || !elf_file_is_elf(fd))
		return false;
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	bounded = elf && inflation_of_sections_is_bounded(elf);
	elf_end(elf);
	if (!bounded)
		file->unpacks_too_far = true;
	return bounded;
}

static const char *text_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(die, name, &attribute) ? dwarf_formstring(&attribute) : NULL;
}

static bool may_be_mapped_in(struct elf_file *file, const char *directory, const char *between,
			     const char *name)
{
	_cleanup_free_ char *path = NULL;

	if (asprintf(&path, "%s%s%s%s%s", *name == '/' ? "" : directory, *name == '/' ? "" : "/",
		     *name == '/' ? "" : between, *between && *name != '/' ? "/" : "", name) < 0) {
		path = NULL;
		return false;
	}
	return may_be_mapped(file, path);
}

bool debug_file_may_open_split(struct elf_file *file, Dwarf_Die *skeleton)
{
	const char *name = text_of(skeleton, DW_AT_dwo_name);
	const char *compiled_in = text_of(skeleton, DW_AT_comp_dir);
	const char *path = path_with_dwarf(file);
	_cleanup_free_ char *directory = directory_of(path);
	_cleanup_free_ char *package = NULL;

	if (!name)
		name = text_of(skeleton, DW_AT_GNU_dwo_name);
	if (!name || !directory || asprintf(&package, "%s.dwp", path) < 0) {
		package = NULL;
		return false;
	}
	return may_be_mapped(file, package) && may_be_mapped_in(file, directory, "", name) &&
	       (!compiled_in ||
		may_be_mapped_in(file, *compiled_in == '/' ? "" : directory, compiled_in, name));
}
