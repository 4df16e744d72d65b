/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The counts of shadow windows in one image, by link-time address: executions of each instruction,
 * and the directions of branches, calls and jumps. They are estimates for the whole recording: the
 * counts of each group, multiplied by the number of executions that one count stands for.
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
	uint32_t to_image; /* index in the windows' images */
	uint64_t to;	   /* else an image offset */
	struct hp_grouped runs;
};

/* Samples of time within windows, at an instruction. */
struct hp_counts_tick {
	uint64_t address;
	double count;
	double scaled; /* times what they stand for; relative: the same */
};

struct hp_counts_procedure {
	const struct hp_procedure *owner;
	struct hp_grouped instructions; /* executed in all its parts */
};

struct counts_clock;

struct hp_image_counts {
	/* False: relative counts only, with the reason in `why_relative`. */
	bool is_absolute;
	const char *why_relative;
	/* The standard deviation of a common factor of all counts, as a logarithm, in addition to
	 * the variation between windows. */
	double deviation;
	/* How far windows are off the rest of the time, by procedures of all images: a variance of
	 * logarithms (infer/moved.h). */
	double moved;
	struct hp_pace pace;   /* how it varies between windows, by all procedures together */
	struct hp_pace shares; /* the same of blocks' shares in their procedures */
	uint32_t longest;      /* block, bytes */
	HP_VECTOR(struct hp_counts_block) blocks; /* by address */
	HP_VECTOR(struct hp_counts_edge) edges;	  /* by `from`, kind, `to`; distinct */
	uint32_t *by_target;			  /* edges that stay inside, by `to` */
	size_t target_count;
	HP_VECTOR(struct hp_counts_procedure) procedures; /* by their owners' addresses */
	bool has_procedures;
	double one;	       /* the maximum that one count stands for */
	double whole;	       /* by how much runs are more in all of the time; 1 if absolute */
	struct hp_image *file; /* the part's */
	HP_VECTOR(struct counts_clock)
	clocks; /* see src/infer/counts_clock.h; by address, distinct */
	HP_VECTOR(struct hp_counts_tick) ticks; /* by address */
	double ticks_per_sample;		/* of all the samples of time, how many they are */
};

/* The counts of the part's image; NULL if windows counted nothing there. The first request makes those
 * of all images. Owned by the inference. */
struct hp_error *hp_counts_of(struct hp_inference *inference, const struct hp_loaded_part *part,
			      struct hp_image_counts **counted);
/* How far windows are off the rest of the time, as `moved` says it; 0 without windows. After an error
 * nothing may be asked of counts any more. requires: files open. */
struct hp_error *hp_counts_moved(struct hp_inference *inference, double *variance);
/* The counts of the image; NULL before that request. */
struct hp_image_counts *hp_counts_made(const struct hp_inference *inference,
				       const struct hp_loaded_image *image);

/* The executions of the instruction at the address. */
struct hp_grouped hp_counts_runs(const struct hp_image_counts *counted, uint64_t address);
/* The edges from the branch at the address: the first, and how many. */
const struct hp_counts_edge *hp_counts_edges_from(const struct hp_image_counts *counted,
						  uint64_t from, size_t *count);
/* How often the procedure part [start, end) was entered at its start, by calls (including its own)
 * and by jumps from other code. */
struct hp_grouped hp_counts_calls(const struct hp_image_counts *counted, uint64_t start,
				  uint64_t end);

void hp_grouped_add(struct hp_grouped *into, const struct hp_grouped *from);
/* An absolute estimate, by windows, of the counts by groups; each count stands for `scale`. */
struct hp_grouped hp_balanced(const struct hp_windows *windows, double scale,
			      const uint64_t counts[HP_EVIDENCE_GROUPS]);

/* The figure of a sum of counts of the procedure at the address; NAN if hp_interval_suffices is
 * false. */
struct hp_counted_figure hp_counts_figure(const struct hp_inference *inference,
					  const struct hp_image_counts *counted, uint64_t address,
					  const struct hp_grouped *runs);

/* Lists all procedures of the part's image that have counts. */
struct hp_error *hp_counts_procedures(const struct hp_loaded_part *part,
				      struct hp_image_counts *counted);

/* The figures of one of them. */
struct hp_row_counts hp_counts_of_procedure(const struct hp_inference *inference,
					    const struct hp_image_counts *counted,
					    const struct hp_counts_procedure *procedure);

/* A procedure with samples of time that ran in no window. Its instructions are what others execute in that
 * time (infer/throughput.h); its calls are not known. */
struct hp_unseen_procedure {
	const struct hp_procedure *owner;
	double samples;
	struct hp_counted_figure instructions; /* NAN if hp_interval_suffices is false */
};
typedef HP_VECTOR(struct hp_unseen_procedure) hp_unseen_vector; /* free it */
/* All of the part. requires: counts made. */
struct hp_error *hp_unseen_procedures(const struct hp_inference *inference,
				      const struct hp_loaded_part *part, hp_unseen_vector *unseen);

#endif
