#include "runtime/alarm.h"

#include <atomic>
#include <future>

#include "check.h"

namespace nereid {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::steady_clock;

TEST(alarm, RingsOnceAndNotBeforeTheDeadline) {
  std::promise<steady_clock::time_point> rung;
  Alarm alarm([&rung] { rung.set_value(steady_clock::now()); });  // a second ring would throw
  const auto start = steady_clock::now();
  alarm.Set(microseconds(500));
  CHECK(rung.get_future().get() - start >= microseconds(500));
  CHECK(!alarm.IsSet());
}

TEST(alarm, AnEarlierDeadlineTakesThePlaceOfALaterOne) {
  std::promise<void> rung;
  Alarm alarm([&rung] { rung.set_value(); });
  alarm.Set(hours(1));
  CHECK(alarm.IsSet());
  alarm.Set(microseconds(100));
  rung.get_future().wait();
  CHECK(!alarm.IsSet());
}

TEST(alarm, ALaterDeadlineTakesThePlaceOfAnEarlierOne) {
  std::promise<void> rung_late;
  const auto start = steady_clock::now();
  // On a machine that stalls, the earlier deadline may have come before it was replaced.
  Alarm alarm([&] {
    if (steady_clock::now() - start >= microseconds(8000)) rung_late.set_value();
  });
  alarm.Set(microseconds(5000));
  alarm.Set(microseconds(8000));
  rung_late.get_future().wait();
  CHECK(!alarm.IsSet());
}

TEST(alarm, MayBeSetFromARing) {
  std::promise<void> done;
  int rings = 0;
  Alarm* self = nullptr;
  Alarm alarm([&] {
    if (++rings == 100) return done.set_value();
    self->Set(microseconds(1));
  });
  self = &alarm;
  alarm.Set(microseconds(0));
  done.get_future().wait();
  CHECK_EQ(rings, 100);
}

TEST(alarm, ClearedItDoesNotRing) {
  std::atomic<int> rings = 0;
  std::promise<void> other_rung;
  {
    Alarm alarm([&rings] { rings++; });
    alarm.Set(hours(1));
    alarm.Clear();
    CHECK(!alarm.IsSet());
    Alarm other([&other_rung] { other_rung.set_value(); });
    other.Set(microseconds(2000));
    other_rung.get_future().wait();
  }
  CHECK_EQ(rings.load(), 0);
}

TEST(alarm, EndsWhileItSleeps) {
  for (int i = 0; i < 50; i++) {
    Alarm unused([] {});
    Alarm set([] {});
    set.Set(hours(1));
    Alarm cleared([] {});
    cleared.Set(hours(1));
    cleared.Clear();
    Alarm due([] {});
    due.Set(microseconds(i));
  }
}

}  // namespace
}  // namespace nereid
