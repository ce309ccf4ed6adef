/** What a page plays itself, what it asks the system to show, and locks of the screen. */
import type { AnyPage } from './any-page.ts';

export interface Recorded {
  /** Tones that were started where sound is played: one for each sound of the page. */
  tones: number;
  readonly notifications: string[];
  /** Those that elements were told to play on. */
  readonly speakers: string[];
  /** Of the screen, those that are held. */
  readonly locks: WakeLockSentinel[];
}

export const recordedBy = (
  page: AnyPage,
): Promise<Omit<Recorded, 'locks'> & { readonly heldLocks: number }> =>
  page.evaluate(() => {
    const { locks, ...recorded } = (globalThis as unknown as { parley: Recorded }).parley;
    return { ...recorded, heldLocks: locks.filter(({ released }) => !released).length };
  });

/** Runs in the page, before its scripts. Notifications are allowed, and recorded instead of shown. */
export function record(): void {
  const parley: Recorded = { tones: 0, notifications: [], speakers: [], locks: [] };
  const start = Object.getOwnPropertyDescriptor(AudioScheduledSourceNode.prototype, 'start')
    ?.value as OscillatorNode['start'];
  OscillatorNode.prototype.start = function startTone(when) {
    if (this.context.state === 'running') parley.tones += 1;
    start.call(this, when);
  };
  const locks = globalThis.navigator.wakeLock as WakeLock | undefined;
  const request = locks?.request.bind(locks);
  if (locks && request)
    locks.request = async (type) => {
      const lock = await request(type);
      parley.locks.push(lock);
      return lock;
    };
  const setSinkId = Object.getOwnPropertyDescriptor(HTMLMediaElement.prototype, 'setSinkId')?.value as
    HTMLMediaElement['setSinkId'] | undefined;
  HTMLMediaElement.prototype.setSinkId = function setSpeaker(id) {
    parley.speakers.push(id);
    return setSinkId?.call(this, id) ?? Promise.reject(new TypeError('no speakers'));
  };
  Object.assign(globalThis, {
    parley,
    Notification: class extends EventTarget {
      static readonly permission = 'granted';
      constructor(_title: string, { body = '' }: NotificationOptions) {
        super();
        parley.notifications.push(body);
      }
    },
  });
}
