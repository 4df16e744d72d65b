/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the reader and the writer of traces share: hpcprof-trace(5). */
#ifndef HPCPROF_SRC_UARCH_TRACE_H
#define HPCPROF_SRC_UARCH_TRACE_H

#define TRACE_MAGIC "hpcprof-trace 1\n"

enum { TRACE_MAGIC_BYTES = 16, TRACE_LONGEST_INSN = 15 };

/* The first number of a record. */
enum trace_record {
	TRACE_BLOCK,
	TRACE_APART,
	TRACE_END,
	TRACE_RUN, /* followed by the number of its block */
};

enum { TRACE_REPEATED = 0x80 }; /* flag in the kind of an access */

#endif
