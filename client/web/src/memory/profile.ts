/** Preferences of the user: name, devices and how to join. */
import { CHAT_LIMITS } from '@parley/protocol/chat-limits';
import { checkName } from '@parley/protocol/people';
import { isCorner, type Corner } from '../call/corner.ts';
import { browserStore } from './storage.ts';

export const NAME_CHARS = CHAT_LIMITS['name.chars'].value;

const NAME = 'parley.name';
const RELAY_ONLY = 'parley.relay-only';
const SHORTCUTS = 'parley.shortcuts';
const VIEW = 'parley.view';
const SELF = 'parley.self';
const CORNER = 'parley.self-corner';

export const rememberedName = (): string => browserStore.read(NAME) ?? '';

/** Stores the name as others will see it; `undefined` if it is not valid. */
export function rememberName(name: string): string | undefined {
  const shown = checkName(name, NAME_CHARS);
  if (shown) browserStore.write(NAME, shown);
  return shown;
}

/** Media only through TURN: slower, but addresses stay hidden and strict firewalls are passed. */
export const relayOnly = (): boolean => browserStore.read(RELAY_ONLY) === 'yes';
export const setRelayOnly = (on: boolean): void => browserStore.write(RELAY_ONLY, on ? 'yes' : null);

/** Single-key shortcuts interfere with speech input, so they can be switched off (WCAG 2.1.4). */
export const shortcutsOn = (): boolean => browserStore.read(SHORTCUTS) !== 'off';
export const setShortcutsOn = (on: boolean): void => browserStore.write(SHORTCUTS, on ? null : 'off');

/** The view of a call. */
export const viewChosen = (): 'grid' | 'speaker' =>
  browserStore.read(VIEW) === 'speaker' ? 'speaker' : 'grid';
export const rememberView = (view: 'grid' | 'speaker'): void =>
  browserStore.write(VIEW, view === 'grid' ? null : view);

/** Whether the user sees their own picture in a call. */
export const selfShown = (): boolean => browserStore.read(SELF) !== 'hidden';
export const setSelfShown = (shown: boolean): void => browserStore.write(SELF, shown ? null : 'hidden');

/** The corner of the user's own picture in a call of two. */
export function cornerChosen(): Corner {
  const corner = browserStore.read(CORNER);
  return isCorner(corner) ? corner : 'bottom-right';
}
export const rememberCorner = (corner: Corner): void => browserStore.write(CORNER, corner);
