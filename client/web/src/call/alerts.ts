/** Sounds and notifications of the system for what happens in a call. Each kind can be switched off (`memory/alerts.ts`). */
import { playChime, type Chime } from '../media/chime.ts';
import { alertOn, type AlertKind } from '../memory/alerts.ts';

const CHIMES: Record<AlertKind, Chime> = {
  join: [523, 784],
  knock: [659, 659, 880],
  hand: [587, 740],
  chat: [880],
};
/** Several people who join at once make one sound. */
const QUIET_MS = 1500;
/** In a larger room people come and go all the time. */
export const MAX_PEOPLE_FOR_JOIN = 10;

export interface AlertPorts {
  readonly play: (chime: Chime) => void;
  /** Shows a notification of the system. */
  readonly notify: (kind: AlertKind, text: string) => void;
  /** The user looks at another window or tab. */
  readonly hidden: () => boolean;
  readonly now: () => number;
}

export class Alerts {
  readonly #ports: AlertPorts;
  readonly #playedAt = new Map<AlertKind, number>();

  constructor(ports: AlertPorts) {
    this.#ports = ports;
  }

  /** `people`: how many participants the room has. */
  announce(kind: AlertKind, text: string, people: number): void {
    if (kind === 'join' && people > MAX_PEOPLE_FOR_JOIN) return;
    if (alertOn(kind, 'sound')) this.#play(kind);
    if (alertOn(kind, 'notification') && this.#ports.hidden()) this.#ports.notify(kind, text);
  }

  #play(kind: AlertKind): void {
    const now = this.#ports.now();
    if (now - (this.#playedAt.get(kind) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return;
    this.#playedAt.set(kind, now);
    this.#ports.play(CHIMES[kind]);
  }
}

export function browserAlerts(speaker: () => string | null): Alerts {
  return new Alerts({
    play: (chime) => void playChime(chime, speaker()),
    notify: showNotification,
    hidden: () => document.hidden || !document.hasFocus(),
    now: () => performance.now(),
  });
}

/** Browsers of phones have the interface and refuse it to pages. */
export const canNotify = (isPhone: boolean): boolean =>
  'Notification' in globalThis && isSecureContext && !isPhone;

function showNotification(kind: AlertKind, text: string): void {
  if (!('Notification' in globalThis) || Notification.permission !== 'granted') return;
  try {
    // A later one of the same kind takes its place.
    const shown = new Notification('Parley', { body: text, tag: `parley-${kind}`, icon: '/parley.svg' });
    shown.addEventListener('click', () => {
      window.focus();
      shown.close();
    });
  } catch {
    // A browser that has the interface and refuses it.
  }
}
