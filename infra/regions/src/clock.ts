/**
 * Shifts the clock of a pod that it is imported into, as one that was never set: CLOCK_AHEAD_MS, which may be negative. Timers and `performance.now` are as
 * they were.
 */
const aheadMs = Number(process.env['CLOCK_AHEAD_MS'] ?? 0);
const RealDate = Date;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, given: [], newTarget: typeof RealDate) =>
    given.length === 0
      ? new target(target.now() + aheadMs)
      : (Reflect.construct(target, given, newTarget) as object),
  get: (target, name, receiver) =>
    name === 'now' ? (): number => target.now() + aheadMs : (Reflect.get(target, name, receiver) as unknown),
});
