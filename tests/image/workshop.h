/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A scratch directory to build programs in, and the binutils to check answers against. Commands
 * run in the scratch directory; $src is tests/image/programs. The directory goes with the process,
 * but stays for a look when its test fails.
 */
#ifndef HPCPROF_TESTS_IMAGE_WORKSHOP_H
#define HPCPROF_TESTS_IMAGE_WORKSHOP_H

#include "../support.h"

#include <hpcprof/image/identity.h>
#include <hpcprof/image/image.h>

#include <stdio.h>

/* Idempotent; fails the test when there is no room to build in. */
const char *workshop_directory(void);
/* The command's success, its output thrown away. */
bool workshop_try(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Fails the test with the command's words when it fails. */
void workshop_run(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Standard output of a command that must succeed; for pclose. */
FILE *workshop_read(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool workshop_has(const char *tool);
/* A note in the test's output that something could not be tried here. */
void workshop_skip(const char *what, const char *why);

/* Full path of a file in the directory; overwritten by the next call but three. */
const char *workshop_path(const char *name);
/* Opens a file of the directory, or an absolute path, under its own identity; until the test
 * ends. */
struct hp_image *workshop_open(const char *name, const struct hp_image_options *options);
struct hp_identity workshop_identity(const char *name);
uint8_t *workshop_bytes(const char *name, size_t *size);

/* It would load each plugin that binutils have, of which LLVM's takes ten times as long as the rest. */
#define NM "nm --plugin=/dev/null"
/* What `nm` says, all of it that is code. */
struct nm_symbol {
	uint64_t address;
	uint64_t size;
	char type;
	char name[512];
};
size_t workshop_nm(const char *arguments, struct nm_symbol **symbols);
/* The symbol of that name; fails the test where there is none. */
const struct nm_symbol *nm_find(const struct nm_symbol *symbols, size_t count, const char *name);
const struct hp_procedure *procedure_at(struct hp_image *image, uint64_t address);
/* The image's procedures are sorted, distinct, not empty, every address answered by the part that
 * holds it. */
void check_cover(struct hp_image *image);

/* Builds "program" of two files, "first.o" and "second.o", with cold parts of one name. */
bool build_cold(const char *flags);

#endif
