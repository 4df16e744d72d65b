/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call paths of the loaded epochs, with names: trees of places in the code, and for each place
 * its procedure and the functions inlined there.
 *
 *	hp_profiles_load
 *	hp_paths_load		reads the trees; images that only call get parts
 *	hp_profiles_attribute	with keeps_files
 *	hp_paths_name		names the places
 *
 * Memory without another owner is in the profiles' arena.
 */
#ifndef HPCPROF_PROFILE_PATHS_H
#define HPCPROF_PROFILE_PATHS_H

#include <hpcprof/model/paths.h>
#include <hpcprof/profile/profiles.h>

/* A procedure, or a function at all places where it was inlined. */
struct hp_called {
	const char *name;    /* demangled; "[truncated]" and the like without an image */
	const char *linkage; /* as in the symbol table; NULL unknown */
	const char *shown;   /* for people: short, unless full names were asked for */
	const struct hp_loaded_image *image; /* NULL: no image */
	uint64_t address;		     /* link-time; with has_address */
	uint64_t size;
	bool has_address;
	bool inlined;
	size_t index; /* in the paths' procedures */
};

/* One position of a place: innermost first, the last is the procedure itself. */
struct hp_called_at {
	const struct hp_called *procedure;
	const char *file; /* NULL unknown */
	uint32_t line;	  /* 0 unknown */
};

/* A place in the code: of a sample, or of a call. */
struct hp_path_place {
	struct hp_loaded_part *part; /* NULL: made up, or in no image */
	const struct hp_loaded_image *image;
	uint64_t offset;  /* in the image; of calls the return address */
	uint64_t address; /* link-time, with has_address */
	bool has_address;
	bool is_exact; /* rather than a return address */
	const struct hp_called_at *at;
	size_t count; /* > 0 once named */
};

/* A series of the recording; each has a tree. */
struct hp_path_root {
	size_t event; /* in the profiles' events */
	const char *command;
	const char *thread; /* NULL unknown */
	uint32_t pid;
	uint32_t tid;
	uint32_t cpu;
	uint32_t group; /* in the profiles' groups, with the option `by` */
};

/* A node: reached over its parent, which has a smaller number. */
struct hp_path_step {
	uint32_t parent; /* HP_PATH_NO_NODE of roots */
	uint32_t place;	 /* of roots: the root's number */
	uint32_t root;
	uint32_t flags;	     /* enum hp_path_flag, of it and all towards the root */
	struct hp_tally own; /* samples whose path ends here */
};

struct path_place_entry;
struct called_entry;

struct hp_call_paths {
	struct hp_profiles *profiles; /* borrowed */
	HP_VECTOR(struct hp_path_root) roots;
	HP_VECTOR(struct hp_path_place) places;
	HP_VECTOR(struct hp_path_step) steps;
	HP_VECTOR(struct hp_called *) procedures;
	/* With the option `by`: the procedure that represents each of the profiles' groups in
	 * trees; no real procedures. Named by hp_paths_name. */
	HP_VECTOR(const struct hp_called *) groups;
	/* By event: all samples, and those whose path does not reach the root, has a frame that is
	 * a guess or is unknown, was joined to an earlier path, or was folded. */
	struct hp_tally *all;
	struct hp_tally *truncated;
	struct hp_tally *guessed;
	struct hp_tally *unknown;
	struct hp_tally *grafted;
	struct hp_tally *folded;
	size_t epochs_without; /* epochs without paths, or with damaged ones */
	bool are_flat;	       /* made of samples without paths */
	/* Private. */
	struct path_place_entry *place_index;
	struct called_entry *called_index;
};

struct hp_error *hp_paths_create(struct hp_profiles *profiles, struct hp_call_paths **paths);
void hp_paths_destroy(struct hp_call_paths *paths);
HP_DEFINE_CLEANUP(struct hp_call_paths, hp_paths_destroy);

/* requires: hp_profiles_load. Damaged paths are told to the notices. */
struct hp_error *hp_paths_load(struct hp_call_paths *paths);
/* requires: hp_profiles_load, and no paths. Each sample becomes a path of one place. */
struct hp_error *hp_paths_flatten(struct hp_call_paths *paths);
/* requires: hp_profiles_attribute, with profiles->keeps_files. */
struct hp_error *hp_paths_name(struct hp_call_paths *paths);

#endif
