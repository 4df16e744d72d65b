/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call paths of samples: calling-context trees (Ammons, Ball, Larus, Exploiting Hardware
 * Performance Counters with Flow and Context Sensitive Profiling, 1997), one for each series.
 *
 * A series is a set of samples with equal event, command, process, thread, CPU and period, which
 * therefore have equal weight, like the strata of profiles. A node is a place in the code, reached
 * through the places of its ancestors; a sample counts at the node of its own address. Memory is
 * bounded: when there are too many nodes, leaves are folded: from then on their samples count at
 * the parent, as `folded`.
 *
 * Plain data, not thread safe. The numbers of images, series and nodes are valid only within one
 * tree.
 */
#ifndef HPCPROF_MODEL_PATHS_H
#define HPCPROF_MODEL_PATHS_H

#include <hpcprof/base/cleanup.h>
#include <hpcprof/base/error.h>
#include <hpcprof/base/vector.h>
#include <hpcprof/model/image_id.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hp_path_flag {
	HP_PATH_KERNEL = 1 << 0,
	/* The offset is where the code was interrupted: by the sample, by a signal, by a fault. All
	 * others are return addresses: the call lies before them. */
	HP_PATH_EXACT = 1 << 1,
	/* Found without a rule that says for certain where the return address is. */
	HP_PATH_GUESS = 1 << 2,
	/* Callers towards the root are taken from an earlier path of the thread. On the innermost
	 * frame of user code; in older recordings on the one where the path was joined. */
	HP_PATH_GRAFTED = 1 << 3,
	/* Stands for the callers that are not known. Only as the last frame of a path, towards the
	 * root; HP_PATH_NO_IMAGE, offset 0. */
	HP_PATH_TRUNCATED = 1 << 4,
	/* An address in no known image: HP_PATH_NO_IMAGE, offset 0. */
	HP_PATH_UNKNOWN = 1 << 5,

	HP_PATH_ALL_FLAGS = (1 << 6) - 1,
};

#define HP_PATH_NO_IMAGE UINT32_MAX
#define HP_PATH_NO_NODE	 UINT32_MAX

/* The longest path that is kept; of longer ones the frames near the root become
 * HP_PATH_TRUNCATED. */
enum { HP_PATH_MOST_FRAMES = 1024 };

struct hp_path_frame {
	uint64_t offset; /* in the image, as hp_image_offset */
	uint32_t image;	 /* of hp_paths_image */
	uint32_t flags;	 /* enum hp_path_flag */
};

struct hp_path_series {
	char *event;	 /* never NULL. Owned */
	char *command;	 /* "" unknown, never NULL. Owned */
	char *thread;	 /* its name; NULL unknown, never "". Owned */
	uint32_t pid;	 /* 0 unless told apart */
	uint32_t tid;	 /* 0 unknown */
	uint32_t cpu;	 /* its number plus 1; 0 unknown */
	uint64_t period; /* units between two samples, > 0 */
};
/* By event, then as strata: hp_stratum_compare. */
int hp_path_series_compare(const struct hp_path_series *a, const struct hp_path_series *b);

/* Nodes without a parent are the roots, one for each series: `image` is the number of the series,
 * offset and flags are 0. */
struct hp_path_node {
	uint64_t offset;
	uint64_t samples; /* whose path ends here */
	uint64_t folded;  /* whose path went further, over nodes that were folded */
	uint32_t parent;  /* a smaller number than the node's own */
	uint32_t image;
	uint32_t used;		/* when, by `clock` */
	uint32_t children : 24; /* up to a limit: 0 for leaves */
	uint32_t flags : 8;
};

struct hp_path_cache;

/* Zeroed: empty. Read it as you like, change it with the functions below. */
struct hp_paths {
	HP_VECTOR(struct hp_image_id) images;	 /* distinct */
	HP_VECTOR(struct hp_path_series) series; /* distinct */
	HP_VECTOR(struct hp_path_node) nodes;
	size_t node_limit; /* 0: HP_PATHS_DEFAULT_NODES; set it before the first sample */
	/* Private. */
	HP_VECTOR(uint32_t) image_order;
	HP_VECTOR(uint32_t) series_order;
	HP_VECTOR(uint32_t) roots; /* of series */
	uint32_t *table;	   /* number of node plus 1, by parent and place */
	size_t table_size;
	uint32_t clock;
	struct hp_path_cache *cache;
};

/* Nodes take 40 bytes, and 8 to 16 of the table. */
enum {
	HP_PATHS_DEFAULT_NODES = 100000,
	HP_PATHS_MOST_NODES = 1 << 20, /* that an epoch may have */
};

void hp_paths_clear(struct hp_paths *paths);
/* Sets all counts to 0. Images, series and nodes remain, with their numbers. */
void hp_paths_restart(struct hp_paths *paths);

/* The number of the image or series, which is added if it is new: a copy. */
struct hp_error *hp_paths_image(struct hp_paths *paths, const struct hp_image_id *id,
				uint32_t *image);
struct hp_error *hp_paths_series(struct hp_paths *paths, const struct hp_path_series *series,
				 uint32_t *number);

/*
 * Counts samples of one path. `frames` begins at the sample's own address, which becomes
 * HP_PATH_EXACT, and ends at the root; without frames the samples count at the root. Called for
 * each sample: what the path shares with the last one, counted from the root, costs almost nothing.
 * If there are too many nodes, the leaves that were not used for longest are folded, a quarter of
 * all at once.
 */
struct hp_error *hp_paths_add(struct hp_paths *paths, uint32_t series,
			      const struct hp_path_frame *frames, size_t count, uint64_t samples);

/* Adds all samples. Where this gives more than `node_limit` nodes, the leaves of fewest samples are
 * folded. Otherwise commutative and associative in the result, up to the order of nodes, images and
 * series. Past 64 bits it is DAMAGED. After an error `into` holds part of the sum: clear it. */
struct hp_error *hp_paths_merge(struct hp_paths *into, const struct hp_paths *from);

/* Folds the leaves of fewest samples where there are more than `node_limit` nodes. */
struct hp_error *hp_paths_bound(struct hp_paths *paths);

/* The canonical order of what has samples: images and series sorted, nodes in preorder with
 * siblings sorted by image, offset and flags. */
struct hp_paths_order {
	uint32_t *nodes; /* their numbers */
	size_t count;
	uint32_t *
		images; /* by number: the place in order; HP_PATH_NO_IMAGE for those without samples */
	size_t image_count;
	uint32_t *series; /* likewise */
	size_t series_count;
};
struct hp_error *hp_paths_sort(const struct hp_paths *paths, struct hp_paths_order *order);
void hp_paths_order_clear(struct hp_paths_order *order);

/* Of all series, or of one event unless NULL; those that were folded, too. */
uint64_t hp_paths_samples(const struct hp_paths *paths, const char *event);

/* NULL if all the above holds, else DAMAGED. */
struct hp_error *hp_paths_check(const struct hp_paths *paths);

/* For decoders: adds a node below `parent` (HP_PATH_NO_NODE: the root of series `frame->image`),
 * or finds it. The samples are added to it. */
struct hp_error *hp_paths_node(struct hp_paths *paths, uint32_t parent,
			       const struct hp_path_frame *frame, uint64_t samples, uint64_t folded,
			       uint32_t *node);

static inline bool hp_path_is_root(const struct hp_path_node *node)
{
	return node->parent == HP_PATH_NO_NODE;
}

#endif
