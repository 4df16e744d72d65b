/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The section of windows of an evidence file, as somebody would forge it. */
#ifndef HPCPROF_TESTS_DB_WINDOWS_SECTION_H
#define HPCPROF_TESTS_DB_WINDOWS_SECTION_H

#include <hpcprof/base/bytes.h>
#include <hpcprof/model/evidence.h>

/* Writes one stratum without figures and reasons, whose list claims to have `count` items; the
 * caller may write these behind it. */
static inline void write_windows_section(struct hp_writer *windows, uint64_t count)
{
	for (int i = 0; i < 9; i++)
		hp_write_varint(windows, 0);
	hp_write_varint(windows, 1);
	hp_write_varint(windows, 1);
	hp_write_string(windows, "sh");
	hp_write_varint(windows, 1);
	for (int i = 0; i < 4 * HP_EVIDENCE_GROUPS; i++)
		hp_write_varint(windows, 0);
	hp_write_varint(windows, count);
}

#endif
