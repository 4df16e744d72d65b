/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Control-flow graphs of code that somebody else made: of a whole ELF file's procedures, or of any
 * bytes, which are then the only procedure of a file made around them. What a graph claims of
 * itself is checked.
 */
#include "fuzz.h"

#include <hpcprof/cfg/cfg.h>

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PROCEDURES_ASKED = 128, CODE_OFFSET = 0x1000 };

static void check_node(const struct hp_cfg *cfg, uint32_t node)
{
	const struct hp_block *block = &cfg->blocks[node];

	if ((block->dominator == HP_CFG_NONE) != (node == cfg->entry) ||
	    (block->post_dominator == HP_CFG_NONE) != (node == cfg->exit) ||
	    (block->loop != HP_CFG_NONE && block->loop >= cfg->loop_count) ||
	    block->class >= cfg->class_count || cfg->order[block->position] != node)
		abort();
	if (node < cfg->block_count && (block->bytes == 0 || block->instructions == 0))
		abort();
	if (node + 1 < cfg->block_count &&
	    block->address.value >= cfg->blocks[node + 1].address.value)
		abort();
}

static void check(const struct hp_cfg *cfg)
{
	for (uint32_t i = 0; i < cfg->node_count; i++)
		check_node(cfg, i);
	for (uint32_t i = 0; i < cfg->edge_count; i++)
		if (cfg->edges[i].from >= cfg->node_count || cfg->edges[i].to >= cfg->node_count ||
		    cfg->edges[i].class >= cfg->class_count || cfg->edges[i].from == cfg->exit ||
		    cfg->edges[i].to == cfg->entry)
			abort();
	for (uint32_t i = 0; i < cfg->loop_count; i++)
		if (cfg->loops[i].header >= cfg->node_count ||
		    (cfg->loops[i].parent != HP_CFG_NONE && cfg->loops[i].parent >= i))
			abort();
}

static void make(struct hp_cfg_image *shared, const struct hp_procedure *procedure,
		 struct hp_arena *arena)
{
	struct hp_cfg *cfg;
	struct hp_error *error;

	hp_arena_reset(arena);
	error = hp_cfg_create(shared, procedure, arena, &cfg);
	if (!error)
		check(cfg);
	hp_error_destroy(error);
}

static void ask(struct hp_image *image)
{
	const struct hp_procedure *const *procedures;
	struct hp_cfg_image *shared;
	struct hp_arena *arena = hp_arena_create();
	struct hp_error *error = hp_cfg_image_create(image, &shared);
	size_t count;

	if (error || !arena) {
		hp_error_destroy(error);
		hp_arena_destroy(arena);
		return;
	}
	hp_image_procedures(image, &procedures, &count);
	for (size_t i = 0; i < count && i < PROCEDURES_ASKED; i++)
		make(shared, procedures[i], arena);
	make(shared, hp_image_procedure_at(image, (hp_link_address){ CODE_OFFSET }), arena);
	hp_cfg_image_destroy(shared);
	hp_arena_destroy(arena);
}

/* One executable segment, nothing else. */
static bool write_program(int fd, const uint8_t *code, size_t size)
{
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
	};
	Elf64_Phdr program = {
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = CODE_OFFSET,
		.p_vaddr = CODE_OFFSET,
		.p_filesz = size,
		.p_memsz = size,
	};

	return write(fd, &header, sizeof(header)) == (ssize_t)sizeof(header) &&
	       write(fd, &program, sizeof(program)) == (ssize_t)sizeof(program) &&
	       pwrite(fd, code, size, CODE_OFFSET) == (ssize_t)size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hp_image_options options = { .no_debuginfo = true };
	char path[64];
	struct hp_image_id id = { .kind = HP_IMAGE_FILE, .path = path };
	bool is_elf = size > SELFMAG && memcmp(data, ELFMAG, SELFMAG) == 0;
	struct hp_image *image;
	int fd = memfd_create("input", MFD_CLOEXEC);

	if (fd < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (size > 0 &&
	    (is_elf ? write(fd, data, size) == (ssize_t)size : write_program(fd, data, size))) {
		struct hp_error *error = hp_image_open(&id, &options, &image);

		if (error) {
			hp_error_destroy(error);
		} else {
			ask(image);
			hp_image_close(image);
		}
	}
	close(fd);
	return 0;
}
