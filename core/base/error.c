#include "base/error.h"

G_DEFINE_QUARK(demur - error - quark, demur_error)
