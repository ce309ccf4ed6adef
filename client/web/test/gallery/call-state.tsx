/** A call in the gallery: the page with a scripted call. */
import type { Code } from '@parley/protocol/codes';
import type { CallSnapshot } from '@parley/sdk/call';
import type { ComponentChild } from 'preact';
import { CallPage } from '../../src/call/call-page.tsx';
import { CallSession } from '../../src/call/session.ts';
import { LocalMedia } from '../../src/media/local-media.ts';
import { FakeCall } from './fake-call.ts';
import { fakeDevices, type FakeDeviceOptions } from './fake-media.ts';
import { people, snapshot } from './people.ts';

declare global {
  /** For tests: the operations that the page requested of the call. */
  var fakeCall: FakeCall | undefined;
}

export interface CallState {
  readonly change?: Partial<CallSnapshot>;
  readonly devices?: FakeDeviceOptions;
  readonly silent?: boolean;
  /** Has an owner key: the commands are accepted, or refused with a code. */
  readonly owner?: 'obeyed' | Code;
  readonly script?: (session: CallSession, call: FakeCall) => void;
}

export function call({
  change = {},
  devices = {},
  silent = false,
  owner,
  script,
}: CallState): ComponentChild {
  const media = new LocalMedia(fakeDevices(devices));
  const fake = new FakeCall(snapshot(change), owner === undefined ? {} : { owner });
  globalThis.fakeCall = fake;
  const session = new CallSession(fake, media);
  if (!silent) void media.begin();
  script?.(session, fake);
  return <CallPage session={session} />;
}

export const inCall = (count: number): Partial<CallSnapshot> => ({ people: people(count - 1) });

/** As soon as the element exists. */
export function press(selector: string): void {
  const element = document.querySelector<HTMLElement>(selector);
  if (element) element.click();
  else requestAnimationFrame(() => press(selector));
}
