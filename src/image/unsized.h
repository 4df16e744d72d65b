/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where procedures end of which no table says it: assembly in a stripped library, whose symbols have no
 * sizes, and whose other procedures have no symbols. Codecs and mathematical libraries spend most of
 * their time in such code.
 *
 * A procedure ends behind the first instruction that does not continue, if no jump before it leads
 * farther. A part of a procedure that is reached by computed jumps alone counts as another procedure.
 */
#ifndef HPCPROF_IMAGE_UNSIZED_H
#define HPCPROF_IMAGE_UNSIZED_H

#include "extent.h"

/* Limits the symbols of a file that has only those for linking: the next symbol may be far behind the
 * end of one without a size. */
void unsized_limit(const struct elf_file *file, symbols *found);

/* Adds the procedures that make up the code from `start`, which is in an executable part, to `end`, each
 * with the padding behind it. None if the code cannot be decoded or is very large. False when memory is
 * short. */
bool unsized_divide(const struct elf_file *file, uint64_t start, uint64_t end, extents *found);

#endif
