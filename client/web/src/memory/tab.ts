/**
 * The state of a room in a tab, so that a reload is the same participant. A duplicated tab starts with a copy and would take over the call; each
 * tab therefore holds a Web Lock under its own number. A tab whose number is taken is a copy: it drops the state and joins as a new participant.
 * A tab that closes leaves its state to the next one of the same browser that opens the room soon: its participant still has its place in the call.
 */
import type { CallMemory } from '@parley/sdk/call';
import { browserStore, tabStore } from './storage.ts';

const TAB = 'parley.tab';
/**
 * A reloaded page waits this long for the lock of the page it replaces, which a busy machine may release only after seconds; the original of a
 * duplicate never releases it. Only duplicated tabs wait the whole time.
 */
const CLAIM_MS = 3000;
/** The default of `resume.unloadGrace`, after which the participant has left. */
const LEFT_FOR_MS = 10_000;

export interface JoinChoice {
  readonly microphone: boolean;
  /** The microphone is open, and nothing of it is sent. */
  readonly muted?: boolean;
  readonly camera: boolean;
}

const memoryKey = (room: string): string => `parley.room.${room}`;
const choiceKey = (room: string): string => `parley.joined.${room}`;
const leftKey = (room: string): string => `parley.left.${room}`;

/** What a tab leaves when it closes during a call. */
interface Left {
  readonly tab: string;
  readonly memory: string;
  readonly atMs: number;
}

export const callMemory = (room: string): CallMemory => ({
  read: () => tabStore.read(memoryKey(room)),
  write: (value) => tabStore.write(memoryKey(room), value),
});

/** How this tab last was in the call of this room; `undefined` if it was not. */
export function lastChoice(room: string): JoinChoice | undefined {
  const text = tabStore.read(choiceKey(room));
  if (text === null) return undefined;
  return { microphone: text.includes('m'), muted: text.includes('q'), camera: text.includes('c') };
}

export function rememberChoice(room: string, choice: JoinChoice | null): void {
  tabStore.write(
    choiceKey(room),
    choice && `joined:${choice.microphone ? 'm' : ''}${choice.muted ? 'q' : ''}${choice.camera ? 'c' : ''}`,
  );
}

/** Called when the page is unloaded: the tab may be closed, or loaded again. */
export function leaveToNextTab(room: string): void {
  const [tab, memory] = [tabStore.read(TAB), callMemory(room).read()];
  if (tab === null || memory === null) return;
  browserStore.write(leftKey(room), JSON.stringify({ tab, memory, atMs: Date.now() } satisfies Left));
}

/** What the last tab of this room left; removed, as one tab at most may have it. */
function takeLeft(room: string): Left | undefined {
  const text = browserStore.read(leftKey(room));
  browserStore.write(leftKey(room), null);
  if (text === null) return undefined;
  try {
    const left = JSON.parse(text) as Left;
    return Math.abs(Date.now() - left.atMs) < LEFT_FOR_MS ? left : undefined;
  } catch {
    return undefined;
  }
}

let claimed: Promise<void> | undefined;

/** Resolves when the stored state of the room belongs to this tab. */
export function claimTab(room: string): Promise<void> {
  claimed ??= claim(room);
  return claimed;
}

async function claim(room: string): Promise<void> {
  if (!('locks' in navigator)) return;
  const left = takeLeft(room);
  const known = tabStore.read(TAB);
  if (known !== null && (await hold(known))) return;
  if (known !== null) {
    callMemory(room).write(null);
    rememberChoice(room, null);
  }
  const isInherited = known === null && left !== undefined && (await hold(left.tab));
  const own = isInherited ? left.tab : crypto.randomUUID();
  tabStore.write(TAB, own);
  if (isInherited) callMemory(room).write(left.memory);
  else await hold(own);
}

/** Holds the lock until the tab closes; `false` if another tab has it. */
function hold(id: string): Promise<boolean> {
  return new Promise((resolve) => {
    navigator.locks
      .request(`parley.tab.${id}`, { signal: AbortSignal.timeout(CLAIM_MS) }, () => {
        resolve(true);
        return new Promise<never>(() => {});
      })
      .catch(() => resolve(false));
  });
}
