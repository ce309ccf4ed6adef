/** Which events of a call a user hears, and which the system shows while another window or tab is in front. */
import { browserStore } from './storage.ts';

export const ALERT_KINDS = ['join', 'knock', 'hand', 'chat'] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];
export type AlertWay = 'sound' | 'notification';

/** Browsers ask the user before they show notifications: those are off until the user wants them. */
const INITIALLY: Record<AlertWay, 'on' | 'off'> = { sound: 'on', notification: 'off' };

const key = (kind: AlertKind, way: AlertWay): string => `parley.alert.${kind}.${way}`;

export const alertOn = (kind: AlertKind, way: AlertWay): boolean =>
  (browserStore.read(key(kind, way)) ?? INITIALLY[way]) === 'on';

export const setAlertOn = (kind: AlertKind, way: AlertWay, on: boolean): void =>
  browserStore.write(key(kind, way), on ? 'on' : 'off');
