/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What shadow windows counted in one image, by link-time address: how often each instruction ran,
 * and which way branches, calls and jumps went. In estimates of the whole recording: counts by
 * group, each times what one count stands for.
 */
#ifndef HPCPROF_INFER_COUNTS_H
#define HPCPROF_INFER_COUNTS_H

#include <hpcprof/infer/inference.h>

struct hp_counts_block {
	uint64_t address;
	uint32_t bytes;
	uint32_t instructions;
	struct hp_grouped runs;
};

struct hp_counts_edge {
	uint64_t from;
	uint8_t kind;	   /* enum hp_counted_kind, but for BLOCK */
	bool is_inside;	   /* `to` is in the same image, and a link-time address */
	uint32_t to_image; /* of the windows' images */
	uint64_t to;	   /* else an image offset */
	struct hp_grouped runs;
};

/* Samples of time within windows, at an instruction. */
struct hp_counts_tick {
	uint64_t address;
	double count;
};

struct hp_counts_procedure {
	const struct hp_procedure *owner;
	struct hp_grouped instructions; /* that ran in all its parts */
};

struct counts_clock;

struct hp_image_counts {
	/* False: counts to each other only, and `why` not. */
	bool is_absolute;
	const char *why_relative;
	/* What all of it may be off by, as a logarithm, beside what windows vary by. */
	double deviation;
	uint32_t longest;			  /* block, bytes */
	HP_VECTOR(struct hp_counts_block) blocks; /* by address */
	HP_VECTOR(struct hp_counts_edge) edges;	  /* by `from`, kind, `to`; distinct */
	uint32_t *by_target;			  /* edges that stay inside, by `to` */
	size_t target_count;
	HP_VECTOR(struct hp_counts_procedure) procedures; /* by their owners' addresses */
	bool has_procedures;
	double one;	       /* what one count stands for, at most */
	struct hp_image *file; /* the part's */
	HP_VECTOR(struct counts_clock)
	clocks; /* see src/infer/counts_clock.h; by address, distinct */
	HP_VECTOR(struct hp_counts_tick) ticks; /* by address */
	double ticks_per_sample;		/* of all the samples of time, how many they are */
};

/* Counts of the part's image, made when first asked for; NULL when windows counted nothing there. The
 * inference's. */
struct hp_error *hp_counts_of(struct hp_inference *inference, const struct hp_loaded_part *part,
			      struct hp_image_counts **counted);
/* Those that were made. */
struct hp_image_counts *hp_counts_made(const struct hp_inference *inference,
				       const struct hp_loaded_image *image);

/* How often the instruction at the address ran. */
struct hp_grouped hp_counts_runs(const struct hp_image_counts *counted, uint64_t address);
/* The edges from the branch at the address: the first, and how many. */
const struct hp_counts_edge *hp_counts_edges_from(const struct hp_image_counts *counted,
						  uint64_t from, size_t *count);
/* How often the procedure part [start, end) was entered at its beginning, by calls, its own too,
 * and by jumps out of other code. */
struct hp_grouped hp_counts_calls(const struct hp_image_counts *counted, uint64_t start,
				  uint64_t end);

void hp_grouped_add(struct hp_grouped *into, const struct hp_grouped *from);
/* An absolute estimate, by windows, of what groups counted, each count standing for `scale`. */
struct hp_grouped hp_balanced(const struct hp_windows *windows, double scale,
			      const uint64_t counts[HP_EVIDENCE_GROUPS]);

/* Of a sum of counts of the procedure at the address; NAN where hp_interval_suffices does not. */
struct hp_counted_figure hp_counts_figure(const struct hp_inference *inference,
					  const struct hp_image_counts *counted, uint64_t address,
					  const struct hp_grouped *runs);

/* All procedures of the part's image in which anything was counted. */
struct hp_error *hp_counts_procedures(const struct hp_loaded_part *part,
				      struct hp_image_counts *counted);

#endif
