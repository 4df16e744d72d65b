/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables as bytes (hpcprof/unwind/table.h). */
#ifndef UNWIND_STORED_H
#define UNWIND_STORED_H

#include <stddef.h>
#include <stdint.h>

/* Sets the checksum, so that tests can change bytes. Does nothing if there are too few bytes. */
void stored_seal(uint8_t *bytes, size_t size);

#endif
