/* The window's work (ui/work.h) made of the command line's own functions. */
#pragma once

#include "ui/work.h"

G_BEGIN_DECLS

extern const DemurWork demur_workstation_work;

G_END_DECLS
