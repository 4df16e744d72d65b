/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source lines and inlined functions of one image, from DWARF 2 to 5 through libdw, including
 * separate, split (.dwo) and shared (dwz) debugging information.
 *
 * The ranges of the compilation units serve as the index, because .debug_aranges is often missing
 * or wrong. Each unit is read once, for all its addresses together.
 */
#ifndef HPCPROF_IMAGE_LINES_H
#define HPCPROF_IMAGE_LINES_H

#include "elf_file.h"
#include "procedures.h"

#include <hpcprof/base/arena.h>
#include <hpcprof/image/image.h>

struct lines;

/* Opens the debugging information; without any, the result has no answers. Results live in `arena`,
 * `file` and `procedures`. The outermost frames get their names from `procedures`, because DWARF
 * knows neither clones nor the parameters of C++ functions that are local to a file. */
struct hp_error *lines_create(struct elf_file *file, struct procedures *procedures,
			      struct hp_arena *arena, struct lines **lines);
void lines_destroy(struct lines *lines);
HP_DEFINE_CLEANUP(struct lines, lines_destroy);

bool lines_any(const struct lines *lines);

/* Finds the frames of addresses, which are sorted ascending. */
struct hp_error *lines_frames(struct lines *lines, const hp_link_address *addresses, size_t count,
			      bool inlines, struct hp_frames *frames);

#endif
