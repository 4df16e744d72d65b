/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "elf_file.h"

#include "debug_file.h"
#include "inflation.h"

#include <hpcprof/base/file.h>
#include <hpcprof/base/search.h>
#include <hpcprof/base/vector.h>

#include <limits.h>
#include <elfutils/libdwelf.h>
#include <string.h>
#include <unistd.h>

/* Makes libdwfl search nowhere, because debug_file.c does the search. */
static char no_debug_path[] = ".";
static char *debug_path = no_debug_path;

static int find_no_elf(Dwfl_Module *module, void **user_data, const char *name, Dwarf_Addr base,
		       char **file_name, Elf **elf)
{
	(void)module, (void)user_data, (void)name, (void)base, (void)file_name, (void)elf;
	return -1; /* all files are passed to libdwfl open */
}

HP_ORDER_BY(compare_segments, struct elf_segment, address);

HP_ORDER_BY(compare_texts, struct elf_text, address);

static struct hp_error *read_segments(struct elf_file *file)
{
	HP_VECTOR(struct elf_segment) segments = { 0 };
	size_t count;

	if (elf_getphdrnum(file->elf, &count) != 0)
		count = 0;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;
		struct elf_segment segment;

		if (i > INT_MAX || !gelf_getphdr(file->elf, (int)i, &header))
			break;
		if (header.p_type != PT_LOAD || header.p_filesz == 0 ||
		    header.p_offset >= file->size)
			continue;
		segment = (struct elf_segment){
			.address = header.p_vaddr,
			.offset = header.p_offset,
			.file_bytes = header.p_filesz,
			.executable = header.p_flags & PF_X,
			.writable = header.p_flags & PF_W,
		};
		if (segment.file_bytes > file->size - segment.offset)
			segment.file_bytes = file->size - segment.offset;
		if (segment.file_bytes > UINT64_MAX - segment.address)
			continue;
		if (!hp_vector_push(&segments, segment)) {
			hp_vector_free(&segments);
			return hp_error_create_no_memory();
		}
	}
	if (segments.count > 1)
		qsort(segments.at, segments.count, sizeof(*segments.at), compare_segments);
	file->segments = segments.at;
	file->segment_count = segments.count;
	return NULL;
}

typedef HP_VECTOR(struct elf_text) texts;

static bool push_text(texts *found, uint64_t address, uint64_t size, const char *name,
		      uint64_t entry_bytes)
{
	if (size == 0 || size > UINT64_MAX - address)
		return true;
	return hp_vector_push(found, (struct elf_text){ .address = address,
							.end = address + size,
							.name = name ? name : "",
							.entry_bytes = entry_bytes });
}

static bool collect_texts(struct elf_file *file, texts *found)
{
	size_t names;
	Elf_Scn *section = NULL;

	if (elf_getshdrstrndx(file->elf, &names) == 0) {
		while ((section = elf_nextscn(file->elf, section))) {
			GElf_Shdr header;

			if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
			    (header.sh_flags & (SHF_ALLOC | SHF_EXECINSTR)) !=
				    (SHF_ALLOC | SHF_EXECINSTR))
				continue;
			if (!push_text(found, header.sh_addr, header.sh_size,
				       elf_strptr(file->elf, names, header.sh_name),
				       header.sh_entsize))
				return false;
		}
	}
	if (found->count > 0)
		return true;
	for (size_t i = 0; i < file->segment_count; i++) {
		const struct elf_segment *segment = &file->segments[i];

		if (segment->executable &&
		    !push_text(found, segment->address, segment->file_bytes, "", 0))
			return false;
	}
	return true;
}

static struct hp_error *read_texts(struct elf_file *file)
{
	texts found = { 0 };
	size_t kept = 0;

	if (!collect_texts(file, &found)) {
		hp_vector_free(&found);
		return hp_error_create_no_memory();
	}
	if (found.count > 1)
		qsort(found.at, found.count, sizeof(*found.at), compare_texts);
	for (size_t i = 0; i < found.count; i++) {
		struct elf_text text = found.at[i];

		if (kept > 0 && text.address < found.at[kept - 1].end)
			text.address = found.at[kept - 1].end;
		if (text.address < text.end)
			found.at[kept++] = text;
	}
	file->texts = found.at;
	file->text_count = kept;
	return NULL;
}

static bool is_linked_elf(int fd)
{
	unsigned char header[EI_NIDENT + 2];
	unsigned type;

	if (pread(fd, header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
	    memcmp(header, ELFMAG, SELFMAG) != 0)
		return false;
	type = header[EI_DATA] == ELFDATA2MSB
		       ? (unsigned)header[EI_NIDENT] << 8 | header[EI_NIDENT + 1]
		       : (unsigned)header[EI_NIDENT + 1] << 8 | header[EI_NIDENT];
	return type == ET_EXEC || type == ET_DYN;
}

static bool report_to_dwfl(struct elf_file *file, const char *path, int *fd)
{
	GElf_Addr bias;
	void **user_data;

	file->dwfl = dwfl_begin(&file->callbacks);
	if (!file->dwfl)
		return false;
	dwfl_report_begin(file->dwfl);
	/* With base 0 and p_vaddr added, every address stays as linked. */
	file->module = dwfl_report_elf(file->dwfl, path, path, *fd, 0, true);
	if (file->module)
		*fd = -1;
	if (dwfl_report_end(file->dwfl, NULL, NULL) != 0 || !file->module)
		return false;
	dwfl_module_info(file->module, &user_data, NULL, NULL, NULL, NULL, NULL, NULL);
	*user_data = file;
	file->elf = dwfl_module_getelf(file->module, &bias);
	return file->elf && elf_kind(file->elf) == ELF_K_ELF && bias == 0 &&
	       gelf_getehdr(file->elf, &file->header);
}

struct hp_error *elf_file_open(const char *path, int fd, const char *symfs,
			       enum debug_files debug_files, struct elf_file **opened)
{
	_cleanup_(elf_file_close_scope) struct elf_file *file = NULL;
	_cleanup_close_ int owned = fd;
	struct hp_error *error;

	*opened = NULL;
	if (!is_linked_elf(fd))
		return NULL;
	file = calloc(1, sizeof(*file));
	if (!file)
		return hp_error_create_no_memory();
	file->alternate_fd = -1;
	file->symfs = symfs;
	file->debug_files = debug_files;
	elf_version(EV_CURRENT);
	file->callbacks = (Dwfl_Callbacks){
		.find_elf = find_no_elf,
		.find_debuginfo = debug_files == DEBUG_FILES_NONE ? debug_file_find_none
								  : debug_file_find,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &debug_path,
	};
	if (!report_to_dwfl(file, path, &owned))
		return hp_error_create(HP_ERROR_DAMAGED, "%s: damaged ELF file: %s", path,
				       dwfl_errmsg(-1));
	file->unpacks_too_far = !inflation_of_sections_is_bounded(file->elf);
	file->bytes = (const uint8_t *)elf_rawfile(file->elf, &file->size);
	if (!file->bytes)
		file->size = 0;
	error = read_segments(file);
	if (!error)
		error = read_texts(file);
	if (!error)
		*opened = hp_steal(file);
	return error;
}

void elf_file_close(struct elf_file *file)
{
	if (!file)
		return;
	if (file->dwfl)
		dwfl_end(file->dwfl);
	if (file->alternate)
		dwarf_end(file->alternate);
	if (file->alternate_fd >= 0)
		close(file->alternate_fd);
	free(file->segments);
	free(file->texts);
	free(file);
}

const struct elf_text *elf_file_text_at(const struct elf_file *file, uint64_t address)
{
	size_t first = hp_bisect(i, file->text_count, file->texts[i].end <= address);

	if (first == file->text_count || file->texts[first].address > address)
		return NULL;
	return &file->texts[first];
}

const struct elf_segment *elf_file_segment_at(const struct elf_file *file, uint64_t address)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const struct elf_segment *segment = &file->segments[i];

		if (address >= segment->address && address - segment->address < segment->file_bytes)
			return segment;
	}
	return NULL;
}

void elf_file_forget_pages(const struct elf_file *file)
{
	if (file->in_little_memory)
		hp_file_forget_pages(file->bytes, file->size);
}

Dwarf *elf_file_dwarf(struct elf_file *file, uint64_t *bias)
{
	Dwarf_Addr found_bias = 0;
	Dwarf *dwarf = file->unpacks_too_far ? NULL
					     : dwfl_module_getdwarf(file->module, &found_bias);

	*bias = found_bias;
	return dwarf && debug_file_open_alternate(file, dwarf) ? dwarf : NULL;
}

bool elf_file_has_relocations(const struct elf_file *file)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(file->elf, section))) {
		Elf_Scn *code;

		if (!gelf_getshdr(section, &header) ||
		    (header.sh_type != SHT_RELA && header.sh_type != SHT_REL) ||
		    header.sh_flags & SHF_ALLOC)
			continue;
		code = elf_getscn(file->elf, header.sh_info);
		if (code && gelf_getshdr(code, &header) && header.sh_flags & SHF_EXECINSTR)
			return true;
	}
	return false;
}
