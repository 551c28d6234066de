/* Where pixels lie in the patient. Right values: PS3.3 C.7.6.2.1.1 worked by hand, and a round trip
 * on planes that stand askew. */
#include <math.h>

#include "support/support.h"
#include "ui/plane-frame.h"

static void
test_pixels_by_hand(void) {
  /* 0.5 mm between columns, 2 mm between rows; the first centre at (-10, 20, 5). */
  const DemurPlaneFrame frame = {{-10, 20, 5}, {1, 0, 0, 0, 0, -1}, {2, 0.5}};
  double point[3];
  demur_plane_frame_point(&frame, (DemurPlace){0.5, 0.5}, point);
  for (int i = 0; i < 3; i++)
    g_assert_cmpfloat_with_epsilon(point[i], frame.origin_mm[i], 1e-12);
  demur_plane_frame_point(&frame, (DemurPlace){4.5, 3.5}, point); /* column 4, row 3 */
  g_assert_cmpfloat_with_epsilon(point[0], -8, 1e-12);
  g_assert_cmpfloat_with_epsilon(point[1], 20, 1e-12);
  g_assert_cmpfloat_with_epsilon(point[2], -1, 1e-12);
  /* What lies off the plane has its foot there. */
  const DemurPlace place = demur_plane_frame_place(&frame, (double[3]){-8, 99, -1});
  g_assert_cmpfloat_with_epsilon(place.x, 4.5, 1e-12);
  g_assert_cmpfloat_with_epsilon(place.y, 3.5, 1e-12);
}

static void
test_there_and_back_askew(void) {
  const double tilt = 20 * G_PI / 180, turn = 35 * G_PI / 180;
  const DemurPlaneFrame frames[] = {
      {{3, -4, 7}, {1, 0, 0, 0, cos(tilt), -sin(tilt)}, {0.7, 0.7}},
      {{-100, 50, 0}, {cos(turn), sin(turn), 0, -sin(turn), cos(turn), 0}, {0.4, 0.9}},
      {{0, 0, 0}, {1, 0, 0, sin(tilt), cos(tilt), 0}, {1, 3}}}; /* not at right angles */
  for (size_t f = 0; f < G_N_ELEMENTS(frames); f++)
    for (double x = -3; x < 300; x += 61.7)
      for (double y = 0; y < 200; y += 43.1) {
        double point[3];
        demur_plane_frame_point(&frames[f], (DemurPlace){x, y}, point);
        const DemurPlace back = demur_plane_frame_place(&frames[f], point);
        g_assert_cmpfloat_with_epsilon(back.x, x, 1e-9);
        g_assert_cmpfloat_with_epsilon(back.y, y, 1e-9);
      }
}

static void
test_three_planes_meet(void) {
  const double tilt = 20 * G_PI / 180;
  const double wanted[3] = {12.5, -30, 81};
  const double askew[3][3] = {{0, sin(tilt), cos(tilt)}, {0, 1, 0}, {1, 0, 0}};
  double distances[3], point[3];
  for (int i = 0; i < 3; i++)
    distances[i] = askew[i][0] * wanted[0] + askew[i][1] * wanted[1] + askew[i][2] * wanted[2];
  g_assert_true(demur_plane_frame_meet(askew, distances, point));
  for (int i = 0; i < 3; i++)
    g_assert_cmpfloat_with_epsilon(point[i], wanted[i], 1e-9);
  const double flat[3][3] = {{1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
  g_assert_false(demur_plane_frame_meet(flat, distances, point));
}

int
main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/ui/plane-frame/pixels-by-hand", test_pixels_by_hand);
  g_test_add_func("/ui/plane-frame/there-and-back-askew", test_there_and_back_askew);
  g_test_add_func("/ui/plane-frame/three-planes-meet", test_three_planes_meet);
  return g_test_run();
}
