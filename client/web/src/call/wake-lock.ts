/** Keeps the screen of the device on. */

/** The returned function lets the screen turn off again. Nothing happens where the browser refuses a wake lock, or has none, which the settings say. */
export function keepAwake(): () => void {
  // Absent without https and in old browsers, whatever the types say.
  const locks = navigator.wakeLock as WakeLock | undefined;
  if (!locks) return () => {};
  let lock: Promise<WakeLockSentinel | null> = Promise.resolve(null);

  // Browsers end the lock of a page that is hidden.
  const request = (): void => {
    if (document.visibilityState !== 'visible') return;
    lock = lock.then((held) =>
      held?.released === false
        ? held
        : // Refused where the battery is low.
          locks.request('screen').catch(() => null),
    );
  };
  request();
  document.addEventListener('visibilitychange', request);
  return () => {
    document.removeEventListener('visibilitychange', request);
    void lock.then((held) => held?.release());
  };
}
