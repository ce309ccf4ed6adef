/** What a person does not want to say twice: their name and how they like to join. */
import { LIMITS } from '@parley/protocol/limits';
import { checkName } from '@parley/protocol/people';
import { browserStore } from './storage.ts';

export const NAME_CHARS = LIMITS['name.chars'].value;

const NAME = 'parley.name';
const RELAY_ONLY = 'parley.relay-only';
const SHORTCUTS = 'parley.shortcuts';
const VIEW = 'parley.view';

export const rememberedName = (): string => browserStore.read(NAME) ?? '';

/** The name as others will see it, remembered; `undefined` where it may not be used. */
export function rememberName(name: string): string | undefined {
  const shown = checkName(name, NAME_CHARS);
  if (shown) browserStore.write(NAME, shown);
  return shown;
}

/** Media through the TURN relay only: slower, but addresses stay hidden and strict firewalls are passed. */
export const relayOnly = (): boolean => browserStore.read(RELAY_ONLY) === 'yes';
export const setRelayOnly = (on: boolean): void => browserStore.write(RELAY_ONLY, on ? 'yes' : null);

/** Single-key shortcuts get in the way of speech input, so they can be switched off (WCAG 2.1.4). */
export const shortcutsOn = (): boolean => browserStore.read(SHORTCUTS) !== 'off';
export const setShortcutsOn = (on: boolean): void => browserStore.write(SHORTCUTS, on ? null : 'off');

/** How a call is shown. */
export const viewChosen = (): 'grid' | 'speaker' =>
  browserStore.read(VIEW) === 'speaker' ? 'speaker' : 'grid';
export const rememberView = (view: 'grid' | 'speaker'): void =>
  browserStore.write(VIEW, view === 'grid' ? null : view);
