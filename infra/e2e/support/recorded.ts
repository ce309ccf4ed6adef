/** What a page plays itself, what it asks the system to show, and locks of the screen. */
import type { AnyPage } from './any-page.ts';

export interface Recorded {
  /** Contexts, of which each sound has its own. */
  sounds: number;
  readonly notifications: string[];
  /** Those that elements were told to play on. */
  readonly speakers: string[];
  locks: number;
}

export const recordedBy = (page: AnyPage): Promise<Recorded> =>
  page.evaluate(() => (globalThis as unknown as { parley: Recorded }).parley);

/** Runs in the page, before its scripts. Notifications are allowed, and recorded instead of shown. */
export function record(): void {
  const parley: Recorded = { sounds: 0, notifications: [], speakers: [], locks: 0 };
  const Context = globalThis.AudioContext;
  const locks = globalThis.navigator.wakeLock as WakeLock | undefined;
  const request = locks?.request.bind(locks);
  if (locks && request)
    locks.request = (type) => {
      parley.locks += 1;
      return request(type);
    };
  const setSinkId = Object.getOwnPropertyDescriptor(HTMLMediaElement.prototype, 'setSinkId')?.value as
    HTMLMediaElement['setSinkId'] | undefined;
  HTMLMediaElement.prototype.setSinkId = function setSpeaker(id) {
    parley.speakers.push(id);
    return setSinkId?.call(this, id) ?? Promise.reject(new TypeError('no speakers'));
  };
  Object.assign(globalThis, {
    parley,
    AudioContext: class extends Context {
      constructor(options?: AudioContextOptions) {
        super(options);
        parley.sounds += 1;
      }
    },
    Notification: class extends EventTarget {
      static readonly permission = 'granted';
      constructor(_title: string, { body = '' }: NotificationOptions) {
        super();
        parley.notifications.push(body);
      }
    },
  });
}
