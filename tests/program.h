/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as an image: an ELF file as it is, any other bytes as the only code of one. */
#ifndef HPCPROF_TESTS_PROGRAM_H
#define HPCPROF_TESTS_PROGRAM_H

#include <hpcprof/image/image.h>

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FUZZ_CODE_ADDRESS = 0x1000 };

/* One executable segment, nothing else. */
static inline bool fuzz_write_program(int fd, const uint8_t *code, size_t size)
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
		.p_offset = FUZZ_CODE_ADDRESS,
		.p_vaddr = FUZZ_CODE_ADDRESS,
		.p_filesz = size,
		.p_memsz = size,
	};

	return write(fd, &header, sizeof(header)) == (ssize_t)sizeof(header) &&
	       write(fd, &program, sizeof(program)) == (ssize_t)sizeof(program) &&
	       pwrite(fd, code, size, FUZZ_CODE_ADDRESS) == (ssize_t)size;
}

/* Calls `ask` when the bytes can be opened as an image. */
static inline void fuzz_with_image(const uint8_t *data, size_t size,
				   void (*ask)(struct hp_image *image))
{
	struct hp_image_options options = { .no_debuginfo = true };
	char path[64];
	struct hp_image_id id = { .kind = HP_IMAGE_FILE, .path = path };
	bool is_elf = size > SELFMAG && memcmp(data, ELFMAG, SELFMAG) == 0;
	struct hp_image *image;
	int fd = memfd_create("input", MFD_CLOEXEC);

	if (fd < 0)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (size > 0 && (is_elf ? write(fd, data, size) == (ssize_t)size
				: fuzz_write_program(fd, data, size))) {
		struct hp_error *error = hp_image_open(&id, &options, &image);

		if (error) {
			hp_error_destroy(error);
		} else {
			ask(image);
			hp_image_close(image);
		}
	}
	close(fd);
}

#endif
