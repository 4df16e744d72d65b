/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the loading of profiles and the loading of call paths. */
#ifndef PROFILE_LOAD_H
#define PROFILE_LOAD_H

#include <hpcprof/profile/profiles.h>

/* What an event's samples of one epoch stand for. */
struct load_scale {
	double units;  /* each unit that was sampled: more than one where the event took turns */
	double cycles; /* that a unit was; 0 unknown */
};
struct load_scale load_scale_of(const struct hp_epoch_meta *meta, const struct hp_event_info *info);
/* Of events; events.count if the event is not there. */
size_t load_find_event(const struct hp_profiles *profiles, const char *name);
/* Whether the filters select them. */
bool load_passes(const struct hp_profiles_options *options, const char *command, uint32_t pid);

/* The part for an image of an epoch, with the image's number there; a new one has no samples. */
struct hp_error *load_part(struct hp_profiles *profiles, size_t epoch, size_t image_index,
			   const struct hp_image_id *id, struct hp_loaded_part **part);
/* Parts and images may be new. */
struct hp_error *load_finish(struct hp_profiles *profiles);

#endif
