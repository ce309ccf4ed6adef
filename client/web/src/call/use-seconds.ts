import { useEffect, useState } from 'preact/hooks';

/** The whole seconds until a Unix time in ms, counting down to 0. Without a time: 0. */
export function useSecondsUntil(atMs: number | null): number {
  const [seconds, setSeconds] = useState(() => secondsUntil(atMs));
  useEffect(() => {
    setSeconds(secondsUntil(atMs));
    if (atMs === null) return undefined;
    const timer = setInterval(() => setSeconds(secondsUntil(atMs)), 250);
    return () => clearInterval(timer);
  }, [atMs]);
  return seconds;
}

const secondsUntil = (atMs: number | null): number =>
  atMs === null ? 0 : Math.max(0, Math.ceil((atMs - Date.now()) / 1000));
