/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <hpcprof/model/epoch.h>
