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
	bool is_inside;	   /* `to` is in the same image */
	uint32_t to_image; /* index in the windows' images */
	uint64_t to;	   /* link-time address if is_inside, else image offset */
	struct hp_grouped runs;
};

/* Samples of time within windows, at an instruction. */
struct hp_counts_tick {
	uint64_t address;
	double count;
	double scaled; /* `count` multiplied by what each stands for; `count` if relative */
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
	/* `moved` of struct hp_windows; a constant if counts are relative. */
	double moved;
	struct hp_pace pace;   /* how instructions per time vary between windows */
	struct hp_pace shares; /* how the shares of blocks in procedures vary between windows */
	uint32_t longest;      /* bytes of the longest block */
	HP_VECTOR(struct hp_counts_block) blocks; /* by address */
	HP_VECTOR(struct hp_counts_edge) edges;	  /* by `from`, kind, `to`; distinct */
	uint32_t *by_target;			  /* edges that stay inside, by `to` */
	size_t target_count;
	HP_VECTOR(struct hp_counts_procedure) procedures; /* by their owners' addresses */
	bool has_procedures;
	double one;   /* the maximum that one count stands for */
	double whole; /* whole time over counted time if counts are relative; 1 if absolute */
	struct hp_image *file; /* of the part that the counts were made for */
	HP_VECTOR(struct counts_clock)
	clocks; /* see src/infer/counts_clock.h; by address, distinct */
	HP_VECTOR(struct hp_counts_tick) ticks; /* by address */
	double ticks_per_sample;		/* ticks of all images per sample of time */
};

/* The counts of the part's image; NULL if windows counted nothing there. The first request makes
 * the counts of all images. Owned by the inference. */
struct hp_error *hp_counts_of(struct hp_inference *inference, const struct hp_loaded_part *part,
			      struct hp_image_counts **counted);
/* Out: `moved` of struct hp_windows; 0 without windows. After an error, the functions of this
 * header must not be called any more. requires: files open. */
struct hp_error *hp_counts_moved(struct hp_inference *inference, double *variance);
/* The counts of the image; NULL if they have not been made by one of these two functions. */
struct hp_image_counts *hp_counts_made(const struct hp_inference *inference,
				       const struct hp_loaded_image *image);

/* The executions of the instruction at the address. */
struct hp_grouped hp_counts_runs(const struct hp_image_counts *counted, uint64_t address);
/* The edges from the branch at the address: returns the first; out: how many. */
const struct hp_counts_edge *hp_counts_edges_from(const struct hp_image_counts *counted,
						  uint64_t from, size_t *count);

void hp_grouped_add(struct hp_grouped *into, const struct hp_grouped *from);
/* The absolute estimate, by windows, that follows from counts by groups. One count stands for
 * `scale` executions before groups are weighted. */
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

/* The figures of one of these procedures. */
struct hp_row_counts hp_counts_of_procedure(const struct hp_inference *inference,
					    const struct hp_image_counts *counted,
					    const struct hp_counts_procedure *procedure);

/* A procedure with samples of time that ran in no window. Its instructions are estimated from what
 * other procedures execute in the same time (infer/throughput.h); its calls are not known. */
struct hp_unseen_procedure {
	const struct hp_procedure *owner;
	double samples;
	struct hp_counted_figure instructions; /* NAN if hp_interval_suffices is false */
};
typedef HP_VECTOR(struct hp_unseen_procedure) hp_unseen_vector; /* free it */
/* Lists all such procedures of the part. requires: counts made. */
struct hp_error *hp_unseen_procedures(const struct hp_inference *inference,
				      const struct hp_loaded_part *part, hp_unseen_vector *unseen);

#endif
