/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the loading of profiles and the loading of call paths. */
#ifndef PROFILE_LOAD_H
#define PROFILE_LOAD_H

#include <hpcprof/profile/profiles.h>

/* The meaning of an event's samples in one epoch. */
struct load_scale {
	double units;  /* units per sampled unit; more than one if the event took turns */
	double cycles; /* cycles per unit; 0: unknown */
};
struct load_scale load_scale_of(const struct hp_epoch_meta *meta, const struct hp_event_info *info);
/* Index of the event; events.count if it does not exist. */
size_t load_find_event(const struct hp_profiles *profiles, const char *name);
/* Whether the filters select this command and process. */
bool load_passes(const struct hp_profiles_options *options, const char *command, uint32_t pid);

/* The part for an image of an epoch, and the image's index there. A new part has no samples. */
struct hp_error *load_part(struct hp_profiles *profiles, size_t epoch, size_t image_index,
			   const struct hp_image_id *id, struct hp_loaded_part **part);
/* Called after parts or images were added. */
struct hp_error *load_finish(struct hp_profiles *profiles);

#endif
