/* Limits of the method. */
#include "report/section.h"

void
demur_section_limits(DemurPages *p) {
  static const char *const limits[] = {
      "For research use. Demur is not a cleared device, and this report is no clearance of one.",
      "The report speaks about the scans it was made from. Another population, scanner or time may "
      "give another answer; the "
      "comparison with its interval says how far this one carries.",
      "Binned calibration errors are never negative and grow as scans become few: read each beside "
      "its noise floor and its "
      "debiased value. Spread over resamples is no confidence interval of them.",
      "Good calibration of what is shown can be bought by refusing the sick: read rejection by "
      "label beside it.",
      "A calibrated risk is right on average over those who share it, not for each patient.",
  };
  demur_layout_page_break(p->layout, DEMUR_SECTION_ROOM);
  demur_layout_text(p->layout, DEMUR_TEXT_SECTION, "Limits");
  for (size_t i = 0; i < G_N_ELEMENTS(limits); i++)
    demur_layout_text(p->layout, DEMUR_TEXT_BODY, limits[i]);
}
